// Cost models that are compared, with what each of them learns of other workloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/cost/model.hpp>

#include "search_data.hpp"

namespace bench {

/// The drawn programs of a workload as a model sees them.
struct ranked_workload {
  std::string name;
  bool held_out = false;
  std::vector<tilewright::ir::function> programs;
  std::vector<tilewright::cost::sample> samples;
  std::vector<double> errors;  // of the samples' speeds: standard errors in 1/s
};

/// The first `most` drawn programs that ran.
ranked_workload ranked(const recorded_workload& w, std::size_t most);

/// A model with what it is to know of other workloads.
struct contestant {
  const char* name;
  /// One that has learned nothing, into which what `make` saved can be loaded.
  std::shared_ptr<tilewright::cost::model> (*blank)(std::uint64_t seed);
  /// Null: nothing is learned of other workloads.
  std::shared_ptr<tilewright::cost::model> (*make)(std::span<const tilewright::cost::sample> others,
                                                   std::uint64_t seed);
};

/// All of them, the reference of the ablations before what is compared with it.
std::span<const contestant> contestants();
/// The one of that name, which is in the table.
const contestant& contestant_of(std::string_view name);

}  // namespace bench
