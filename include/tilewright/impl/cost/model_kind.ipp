#pragma once

#include <tilewright/cost/adapted_trees.hpp>
#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/support/kind_table.hpp>

namespace tilewright::cost {
namespace detail {

/// Lives until the process ends: an op that a static destructor calls may still tune.
inline support::kind_table<model_kind>& model_table() {
  static auto* const out = new support::kind_table<model_kind>(
      "cost model",
      {{"random", "no preference",
        [](std::uint64_t seed) -> std::unique_ptr<model> {
          return std::make_unique<random_model>(seed);
        }},
       {"trees", "boosted trees on per-store features, which know nothing at first",
        [](std::uint64_t seed) -> std::unique_ptr<model> {
          tree_model_options options;
          options.seed = seed;
          return std::make_unique<tree_model>(options);
        }},
       {"prior", "boosted trees that start from the shipped ones, and a process over their leaves",
        [](std::uint64_t seed) -> std::unique_ptr<model> {
          tree_model_options options;
          options.seed = seed;
          return std::make_unique<adapted_trees>(shipped_prior().trees, options);
        }}});
  return *out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<model_kind> model_kinds() { return detail::model_table().all(); }

TILEWRIGHT_INLINE void add_model_kind(const model_kind& kind) { detail::model_table().add(kind); }

TILEWRIGHT_INLINE std::unique_ptr<model> make_model(std::string_view name, std::uint64_t seed) {
  return detail::model_table().find(name).make(seed);
}

}  // namespace tilewright::cost
