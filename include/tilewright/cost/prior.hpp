// The experience that the library is shipped with.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/cost/gbt.hpp>

namespace tilewright::cost {

/// Trees over per-store features, trained by tools/train_prior.sh on single-threaded CPU programs
/// of ten workloads; what ranks schedules where nothing may be measured, and where a search begins.
const gbt& shipped_prior();

}  // namespace tilewright::cost
