#pragma once

#include <array>

#include <tilewright/search/mutator.hpp>
#include <tilewright/search/mutators/categorical.hpp>
#include <tilewright/search/mutators/compute_location.hpp>
#include <tilewright/search/mutators/parallel.hpp>
#include <tilewright/search/mutators/thread_binding.hpp>
#include <tilewright/search/mutators/tile_size.hpp>
#include <tilewright/search/mutators/unroll.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::span<const mutator> mutators() {
  static constexpr std::array<mutator, 6> table{{
      {"tile_size", 0.50, &mutate_tile_size},
      {"categorical", 0.40, &mutate_categorical},
      {"compute_location", 0.04, &mutate_compute_location},
      {"unroll", 0.03, &mutate_unroll},
      {"parallel", 0.02, &mutate_parallel},
      {"thread_binding", 0.02, &mutate_thread_binding},
  }};
  return table;
}

TILEWRIGHT_INLINE std::optional<trace> mutate_by(std::span<const mutator> table, const trace& t,
                                                 const ir::function& f, support::random& random) {
  std::vector<const mutator*> left;
  for (const mutator& m : table) left.push_back(&m);
  while (!left.empty()) {
    double total = 0;
    for (const mutator* m : left) total += m->weight;
    double ticket = random.unit() * total;
    std::size_t chosen = left.size() - 1;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (ticket < left[i]->weight) {
        chosen = i;
        break;
      }
      ticket -= left[i]->weight;
    }
    if (std::optional<trace> out = left[chosen]->apply(t, f, random)) return out;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return std::nullopt;
}

}  // namespace tilewright::search
