// Tilewright as one of the engines that bench_workloads compares.
#pragma once

#include "peers/peer.hpp"

namespace bench {

peer tilewright_engine();

}  // namespace bench
