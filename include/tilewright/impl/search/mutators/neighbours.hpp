// Decisions that lie beside those of a trace.
#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/trace/divisors.hpp>
#include <tilewright/impl/search/mutators/choice.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::search {
namespace detail::tile_size {

inline bool is_tile(const trace::step& s) {
  return is_kind(s, "sample_perfect_tile") || is_kind(s, "sample_partitioned_tile") ||
         is_kind(s, "sample_tile");
}

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

/// Of an ascending list, the value nearest to `v`; the smaller one of two.
inline std::int64_t nearest(const std::vector<std::int64_t>& values, std::int64_t v) {
  const auto above = std::lower_bound(values.begin(), values.end(), v);
  if (above == values.begin()) return *above;
  const std::int64_t below = *(above - 1);
  return above == values.end() || v - below <= *above - v ? below : *above;
}

/// What sample_tile may draw beside `tile` for a loop of this extent.
class covering {
 public:
  covering(const decision& tile, std::int64_t extent, const std::vector<std::int64_t>& innermost)
      : tile_(tile), extent_(extent), innermost_(innermost) {
    std::int64_t rest = extent;
    for (std::size_t i = tile.size(); i-- > 1;) {
      vary(i, values(i, rest));
      rest = primitive::detail::ceil_divide(rest, tile[i]);
    }
  }
  std::vector<decision> found;

 private:
  std::vector<std::int64_t> values(std::size_t at, std::int64_t rest) const {
    return at + 1 == tile_.size() ? primitive::detail::tile_candidates(rest, innermost_)
                                  : primitive::detail::part_candidates(rest);
  }

  void vary(std::size_t at, const std::vector<std::int64_t>& all) {
    if (at + 1 == tile_.size()) {
      for (const std::int64_t v : all) add(at, v);
      return;
    }
    const auto here = std::equal_range(all.begin(), all.end(), tile_[at]);
    if (here.first != all.begin()) add(at, *(here.first - 1));
    if (here.second != all.end()) add(at, *here.second);
  }

  void add(std::size_t at, std::int64_t value) {
    decision next = tile_;
    next[at] = value;
    std::int64_t rest = extent_;
    for (std::size_t i = next.size(); i-- > 1;) {
      if (i < at) next[i] = nearest(values(i, rest), next[i]);
      rest = primitive::detail::ceil_divide(rest, next[i]);
    }
    next.front() = rest;
    if (next != tile_ && !support::contains(found, next)) found.push_back(std::move(next));
  }

  const decision& tile_;
  std::int64_t extent_;
  const std::vector<std::int64_t>& innermost_;
};

inline std::vector<decision> covering_neighbours(const trace& t, std::size_t i,
                                                 const ir::function& f) {
  const std::optional<schedule> s = replayed_through(t, i, f);
  if (!s) return {};
  const trace::step& here = s->trace().steps().back();
  const ir::expr extent = s->get(loop_rv{std::get<rv>(here.what->args[0]).number}).extent;
  if (!ir::is_int(extent) || ir::as_int(extent) < 1) return {};
  const auto& innermost = std::get<std::vector<std::int64_t>>(here.what->args[2]);
  return covering(here.choice, ir::as_int(extent), innermost).found;
}

inline std::vector<decision> neighbours(const trace& t, std::size_t i, const ir::function& f) {
  const trace::step& s = t[i];
  if (s.choice.size() < 2 || s.choice[0] < 0) return {};  // symbolic extents stay inferred
  if (is_kind(s, "sample_perfect_tile"))
    return divided(s.choice, integer_argument(*s.what, "max_innermost_factor", -1));
  if (is_kind(s, "sample_partitioned_tile")) {
    std::vector<decision> out = divided(s.choice, -1);
    const auto first = static_cast<std::size_t>(integer_argument(*s.what, "partition_pos", 0));
    const std::int64_t part = integer_argument(*s.what, "innerpart_factor", 1);
    std::erase_if(out, [&](const decision& d) {
      std::int64_t inner = 1;
      for (std::size_t k = first; k < d.size(); ++k) inner *= d[k];
      return part > 0 && inner % part != 0;
    });
    return out;
  }
  if (is_kind(s, "sample_tile")) return covering_neighbours(t, i, f);
  return {};
}

}  // namespace detail::tile_size

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

}  // namespace tilewright::search
