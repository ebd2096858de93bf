#pragma once

#include <algorithm>

#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/search/mutators/tile_size.hpp>

namespace tilewright::search {
namespace detail::tile_size {

/// An integer argument by the name of its parameter; `fallback` where there is none.
inline std::int64_t integer_argument(const instruction& what, std::string_view name,
                                     std::int64_t fallback) {
  for (std::size_t i = 0; i < what.args.size(); ++i)
    if (what.kind->parameters[i].name == name)
      if (const auto* n = std::get_if<std::int64_t>(&what.args[i])) return *n;
  return fallback;
}

/// Factors whose product stays: a divisor of one moves to another.
inline std::vector<decision> divided(const decision& tile, std::int64_t limit) {
  std::vector<decision> out;
  for (std::size_t from = 0; from < tile.size(); ++from)
    for (std::int64_t d = 2; d <= tile[from]; ++d) {
      if (tile[from] % d != 0) continue;
      for (std::size_t to = 0; to < tile.size(); ++to) {
        if (to == from || (to + 1 == tile.size() && limit > 0 && tile[to] * d > limit)) continue;
        decision next = tile;
        next[from] /= d;
        next[to] *= d;
        out.push_back(std::move(next));
      }
    }
  return out;
}

/// Factors that need not divide; the outermost follows from the others.
inline std::vector<decision> covering(const decision& tile,
                                      const std::vector<std::int64_t>& innermost) {
  std::vector<decision> out;
  const auto with = [&](std::size_t at, std::int64_t value) {
    if (value < 1 || value == tile[at]) return;
    decision next = tile;
    next[at] = value;
    if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(std::move(next));
  };
  for (const std::int64_t c : innermost) with(tile.size() - 1, c);
  for (std::size_t i = 1; i + 1 < tile.size(); ++i)
    for (const std::int64_t v : {tile[i] * 2, tile[i] / 2, tile[i] + 1, tile[i] - 1}) with(i, v);
  return out;
}

inline std::vector<decision> neighbours(const trace::step& s) {
  if (s.choice.size() < 2 || s.choice[0] < 0) return {};  // symbolic extents stay inferred
  if (is_kind(s, "sample_perfect_tile"))
    return divided(s.choice, integer_argument(*s.what, "max_innermost_factor", -1));
  if (is_kind(s, "sample_partitioned_tile")) {
    std::vector<decision> out = divided(s.choice, -1);
    const auto first = static_cast<std::size_t>(integer_argument(*s.what, "partition_pos", 0));
    const std::int64_t part = integer_argument(*s.what, "innerpart_factor", 1);
    std::erase_if(out, [&](const decision& d) {
      std::int64_t inner = 1;
      for (std::size_t i = first; i < d.size(); ++i) inner *= d[i];
      return part > 0 && inner % part != 0;
    });
    return out;
  }
  if (is_kind(s, "sample_tile"))
    for (const argument& a : s.what->args)
      if (const auto* c = std::get_if<std::vector<std::int64_t>>(&a)) return covering(s.choice, *c);
  return {};
}

}  // namespace detail::tile_size

TILEWRIGHT_INLINE std::optional<trace> mutate_tile_size(const trace& t, support::random& random) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (!detail::tile_size::neighbours(t[i]).empty()) at.push_back(i);
  if (at.empty()) return std::nullopt;
  const std::size_t i = at[random.below(at.size())];
  std::vector<decision> all = detail::tile_size::neighbours(t[i]);
  return t.with_decision(i, std::move(all[random.below(all.size())]));
}

}  // namespace tilewright::search
