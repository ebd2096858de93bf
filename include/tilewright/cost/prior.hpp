// The experience that the library is shipped with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

/// Trees that only advise: where their text is no model, a search goes on without them.
struct prior {
  gbt trees;            // empty where they cannot be read
  std::string problem;  // why they cannot; else empty
};
prior read_prior(std::string_view text);

/// Trees that rank measured programs of many workloads, chosen by what such trees make of operators
/// that were left out. Failed programs are the slowest.
/// @param seed of the training
gbt prior_of(std::span<const sample> measured, std::uint64_t seed = 43);

/// Trees over per-store features, trained by tools/train_prior.sh on single-threaded CPU programs
/// of the 48 training workloads of benchmarks/search/search_tasks.cpp; what ranks schedules where nothing may be measured, and where a search begins.
const prior& shipped_prior();

}  // namespace tilewright::cost
