#pragma once

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/search/mutators/compute_location.hpp>

namespace tilewright::search {
namespace detail {

/// Legal places at instruction `i` but the one where the block is.
inline std::vector<std::int64_t> other_locations(const trace& t, std::size_t i,
                                                 const ir::function& f) {
  std::vector<std::int64_t> out;
  const std::optional<schedule> s = replayed_through(t, i, f);
  if (!s) return out;
  const trace::step& here = s->trace().steps().back();
  for (const primitive::compute_location& where : primitive::compute_locations(
           s->function(), s->state().block(std::get<rv>(here.what->args[0]))))
    if (where.index != here.choice[0]) out.push_back(where.index);
  return out;
}

}  // namespace detail

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
