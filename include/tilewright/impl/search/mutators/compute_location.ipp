#pragma once

#include <tilewright/impl/search/mutators/neighbours.hpp>
#include <tilewright/search/mutators/compute_location.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::optional<trace> mutate_compute_location(const trace& t,
                                                               const ir::function& f,
                                                               support::random& random) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (detail::is_kind(t[i], "sample_compute_location")) at.push_back(i);
  while (!at.empty()) {
    const std::size_t chosen = random.below(at.size());
    const std::vector<std::int64_t> others = detail::other_locations(t, at[chosen], f);
    if (!others.empty()) return t.with_decision(at[chosen], {others[random.below(others.size())]});
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return std::nullopt;
}

}  // namespace tilewright::search
