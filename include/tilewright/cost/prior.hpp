// The experience that the library is shipped with.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/cost/gbt.hpp>

namespace tilewright::cost {

/// Trees that only advise: where their text is no model, a search goes on without them.
struct prior {
  gbt trees;            // empty where they cannot be read
  std::string problem;  // why they cannot; else empty
};
prior read_prior(std::string_view text);

/// Trees over per-store features, trained by tools/train_prior.sh on single-threaded CPU programs
/// of ten workloads; what ranks schedules where nothing may be measured, and where a search begins.
const prior& shipped_prior();

}  // namespace tilewright::cost
