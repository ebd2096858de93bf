// Tilewright as one of the engines that bench_workloads compares.
#pragma once

#include "peers/peer.hpp"

namespace bench {

peer tilewright_engine();
/// The same with the second operand, a weight, bound beforehand: it is packed outside of calls, as
/// oneDNN's best layout is.
peer bound_tilewright_engine();

}  // namespace bench
