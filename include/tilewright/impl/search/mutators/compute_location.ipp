#pragma once

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/search/mutators/compute_location.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::optional<trace> mutate_compute_location(const trace& t,
                                                               support::random& random) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (detail::is_kind(t[i], "sample_compute_location")) at.push_back(i);
  if (at.empty()) return std::nullopt;
  return t.with_decision(at[random.below(at.size())], {});
}

}  // namespace tilewright::search
