#pragma once

#include <tilewright/impl/search/mutators/neighbours.hpp>
#include <tilewright/search/mutators/tile_size.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::optional<trace> mutate_tile_size(const trace& t, const ir::function& f,
                                                        support::random& random) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (detail::tile_size::is_tile(t[i])) at.push_back(i);
  while (!at.empty()) {
    const std::size_t chosen = random.below(at.size()), i = at[chosen];
    std::vector<decision> all = detail::tile_size::neighbours(t, i, f);
    if (!all.empty()) return t.with_decision(i, std::move(all[random.below(all.size())]));
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return std::nullopt;
}

}  // namespace tilewright::search
