#pragma once

#include <mutex>
#include <string>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::cost {
namespace detail {

struct model_table {
  std::mutex guard;
  std::vector<model_kind> kinds{
      {"random", "no preference",
       [](std::uint64_t seed) -> std::unique_ptr<model> {
         return std::make_unique<random_model>(seed);
       }},
      {"trees", "boosted trees on per-store features, which know nothing at first",
       [](std::uint64_t seed) -> std::unique_ptr<model> {
         tree_model_options options;
         options.seed = seed;
         return std::make_unique<tree_model>(options);
       }},
      {"prior", "boosted trees that start from the shipped ones",
       [](std::uint64_t seed) -> std::unique_ptr<model> {
         tree_model_options options;
         options.seed = seed;
         return std::make_unique<tree_model>(options, shipped_prior().trees);
       }}};

  static model_table& shared() {
    static model_table out;
    return out;
  }
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<model_kind> model_kinds() {
  detail::model_table& table = detail::model_table::shared();
  const std::lock_guard lock(table.guard);
  return table.kinds;
}

TILEWRIGHT_INLINE void add_model_kind(const model_kind& kind) {
  detail::model_table& table = detail::model_table::shared();
  const std::lock_guard lock(table.guard);
  for (model_kind& k : table.kinds)
    if (k.name == kind.name) {
      k = kind;
      return;
    }
  table.kinds.push_back(kind);
}

TILEWRIGHT_INLINE std::unique_ptr<model> make_model(std::string_view name, std::uint64_t seed) {
  std::string names;
  for (const model_kind& k : model_kinds()) {
    if (k.name == name) return k.make(seed);
    names += (names.empty() ? "" : ", ") + std::string(k.name);
  }
  throw argument_error("no cost model \"" + std::string(name) + "\"; there are " + names);
}

}  // namespace tilewright::cost
