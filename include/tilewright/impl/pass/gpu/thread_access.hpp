// One access to memory that threads share, and whether two of them can be made by different threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/toucher_table.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/numbers/radix.hpp>

namespace tilewright::pass::detail::barriers {

using namespace tilewright::ir;

/// A thread axis of the kernel.
struct thread_axis {
  var place;
  std::int64_t extent = 1;
};
using thread_axes = std::vector<thread_axis>;

/// Which version of a pipelined buffer an access is about: (round + offset) modulo count, or, where there
/// is no round, the one with the number `offset`.
struct buffer_version {
  var round;
  std::int64_t offset = 0, count = 1;
};

/// Of two accesses, the second comes in the next round of a loop that numbers versions, or, where
/// `next_round` is false, in any later one; in the same round where there is no loop.
struct carried_round {
  var loop;
  bool next_round = false;
};

struct thread_access {
  ir::buffer buffer;
  std::optional<buffer_version> version;
  bool any_version = false;  // places are counted within a version, and it is not known which
  bool writes = false;
  bool adds = false;  // in one step, so that others may add at the same time
  // elements = sum of step * axis + blocks + base + sum of terms; not known where `opaque`
  std::vector<std::int64_t> steps;  // [axes]
  arith::linear blocks;             // terms that are the same for all threads of a block
  std::int64_t base = 0;
  struct term {
    std::int64_t factor, last;  // factor * [0, last], factor > 0
  };
  std::vector<term> terms;
  bool opaque = false;
  std::vector<std::optional<std::int64_t>> fixed;  // [axes] the one place that makes it
  std::int64_t width = 1;                          // elements side by side, from there on
  /// How far apart the elements of two different threads are at least, at any points of the domain; 0:
  /// nobody knows.
  std::int64_t apart = 0;
  // for indices that are no such sums: the index without `blocks`, its variables, and what holds of them;
  // where it is known, every variable has a constant range
  bool known = false;
  arith::linear at;
  std::vector<index_domain> domain;
  std::vector<expr> guards;
  /// Of this access and its copies; made when it is asked for.
  struct lazy_table {
    bool asked = false;
    std::optional<toucher_table> table;  // nothing: there are too many points, or nobody knows
  };
  std::shared_ptr<lazy_table> touchers = std::make_shared<lazy_table>();
};

inline bool same_terms(const arith::linear& a, const arith::linear& b) {
  if (a.terms.size() != b.terms.size()) return false;
  for (const auto& [term, factor] : a.terms)
    if (b.coefficient(term) != factor) return false;
  return true;
}

/// All that an access touches, point by point; nothing when there are too many points or an index that
/// is more than arithmetic.
inline std::optional<toucher_table> enumerate(const thread_access& a, const thread_axes& axes) {
  constexpr std::int64_t most_points = 1 << 18;
  if (!a.known) return std::nullopt;
  std::vector<index_domain> domain = a.domain;
  for (std::size_t i = 0; i < axes.size(); ++i)
    domain.push_back({axes[i].place, a.fixed[i].value_or(0), a.fixed[i] ? 1 : axes[i].extent});
  std::int64_t points = 1;
  for (const index_domain& d : domain)
    if ((points *= d.extent) > most_points) return std::nullopt;
  const point_index index(arith::from_linear(a.at), domain);
  std::vector<point_index> guards;
  for (const expr& g : a.guards) guards.emplace_back(g, domain);
  std::vector<toucher_table::touch> all;
  all.reserve(static_cast<std::size_t>(points));
  std::vector<std::int64_t> values(domain.size());
  for (std::size_t i = 0; i < domain.size(); ++i) values[i] = domain[i].first;
  const std::size_t first_axis = a.domain.size();
  for (std::int64_t point = 0; point < points; ++point) {
    bool happens = true;
    for (const point_index& g : guards) happens = happens && g.value(values).value_or(1) != 0;
    if (happens) {
      std::int64_t thread = 0;
      for (std::size_t i = 0; i < axes.size(); ++i)
        thread = thread * axes[i].extent + values[first_axis + i];
      const auto at = index.value(values);
      if (!at) return std::nullopt;
      all.push_back({*at, static_cast<std::int32_t>(thread)});
    }
    for (std::size_t i = domain.size(); i-- > 0;) {  // the last one is the fastest
      if (++values[i] < domain[i].first + domain[i].extent) break;
      values[i] = domain[i].first;
    }
  }
  return toucher_table(all, a.width);
}

/// Whether two different threads touch one element, as the tables of all points say.
inline bool tables_meet(const thread_access& a, const thread_access& b, const thread_axes& axes) {
  for (const thread_access* x : {&a, &b})
    if (!std::exchange(x->touchers->asked, true)) x->touchers->table = enumerate(*x, axes);
  const auto &one = a.touchers->table, &other = b.touchers->table;
  return !one || !other || one->meets(*other);
}

/// A number that is axis modulo `to`, divided by `from`; `whole`: without the modulo.
struct axis_part {
  std::size_t axis;
  std::int64_t from, to;
  bool whole;
};
inline std::optional<axis_part> part_of_axis(const expr& e, const thread_axes& axes) {
  if (e->op == op::cast) return part_of_axis(e->args[0], axes);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].place.same(e)) return axis_part{i, 1, axes[i].extent, true};
  if ((e->op != op::floordiv && e->op != op::floormod) || !is_int(e->args[1])) return std::nullopt;
  auto p = part_of_axis(e->args[0], axes);
  const std::int64_t by = as_int(e->args[1]);
  if (!p || by <= 0 || by > p->to) return std::nullopt;
  if (e->op == op::floordiv) {
    p->from *= by;
  } else {
    if (!p->whole && p->to % (p->from * by) != 0) return std::nullopt;
    if (p->from * by < p->to) p->to = p->from * by, p->whole = false;
  }
  return p;
}

/// Whether the parts tell the place on every axis that the access does not fix.
inline bool tell_threads_apart(std::vector<axis_part> parts, const thread_access& a,
                               const thread_axes& axes) {
  std::sort(parts.begin(), parts.end(), [](const axis_part& x, const axis_part& y) {
    return std::pair(x.axis, x.from) < std::pair(y.axis, y.from);
  });
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].extent == 1 || a.fixed[i]) continue;
    std::int64_t known = 1;  // the place modulo that
    bool whole = false;
    for (const axis_part& p : parts) {
      if (p.axis != i || known % p.from != 0) continue;
      known = std::max(known, p.to);
      whole = whole || p.whole;
    }
    if (!whole) return false;
  }
  return true;
}

/// Whether `next` is what `first` is, on the element behind it.
inline bool goes_on(const thread_access& first, const thread_access& next) {
  const auto same_rest = [](const thread_access::term& x, const thread_access::term& y) {
    return x.factor == y.factor && x.last == y.last;
  };
  return first.buffer == next.buffer && first.writes == next.writes && first.adds == next.adds &&
         next.base == first.base + first.width && first.opaque == next.opaque && first.known &&
         next.known && first.steps == next.steps && first.fixed == next.fixed &&
         first.any_version == next.any_version &&
         first.version.has_value() == next.version.has_value() &&
         (!first.version || (first.version->round.same(next.version->round) &&
                             first.version->offset == next.version->offset)) &&
         next.at.constant == first.at.constant + first.width &&
         std::equal(first.terms.begin(), first.terms.end(), next.terms.begin(), next.terms.end(),
                    same_rest) &&
         same_terms(first.at, next.at) && same_terms(first.blocks, next.blocks);
}

/// Bytes of shared memory that a buffer takes; all of a buffer of global memory is its own.
inline bool overlap(const buffer& a, const buffer& b) {
  if (a == b) return true;
  if (storage_rank(a->scope) != 1 || storage_rank(b->scope) != 1) return false;
  const auto first = [](const buffer& x) {
    return x->elem_offset ? as_int(x->elem_offset) * bytes(x->type) : 0;
  };
  const auto end = [&](const buffer& x) { return first(x) + constant_size(x) * bytes(x->type); };
  return first(a) < end(b) && first(b) < end(a);
}

/// How far apart two different threads are, in elements, with equal rests.
struct thread_distance {
  std::int64_t least = std::int64_t{1} << 62;  // 0 when two may touch the same element
  std::int64_t most = 0;
};
inline thread_distance distance_of_threads(const thread_access& a, const thread_axes& axes) {
  support::radix steps;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].extent > 1 && !a.fixed[i]) steps.add(std::abs(a.steps[i]), axes[i].extent);
  const std::int64_t least = steps.distance();
  if (least == 0) return {0, 0};
  const thread_distance none;
  return {std::min(least, none.least), steps.reach()};
}

/// Whether the rests of two accesses never differ as far as two threads are apart: what they add up
/// to is a multiple of a number beyond all threads, and less than the distance of two.
inline bool rests_keep_apart(const thread_access& a, const thread_access& b,
                             const thread_distance& threads) {
  std::int64_t unit = 0, lo = a.base - b.base, hi = lo;
  for (const auto* access : {&a, &b})
    for (const thread_access::term& t : access->terms) {
      if (t.factor > threads.most)
        unit = std::gcd(unit, t.factor);
      else
        (access == &a ? hi : lo) += (access == &a ? 1 : -1) * t.factor * t.last;
    }
  hi += a.width - 1;
  lo -= b.width - 1;
  if (unit > 0) {
    const std::int64_t whole = floor_divide(lo + unit / 2, unit) * unit;
    lo -= whole;
    hi -= whole;
  }
  const std::int64_t width = std::max(std::abs(lo), std::abs(hi));
  return width < threads.least && (unit == 0 || unit - width > threads.most);
}

inline bool different_versions(const thread_access& a, const thread_access& b,
                               const carried_round& carried) {
  if (a.buffer != b.buffer || !a.version || !b.version ||
      !a.version->round.same(b.version->round) || a.version->count != b.version->count)
    return false;
  if (!a.version->round) return a.version->offset != b.version->offset;
  std::int64_t apart = b.version->offset - a.version->offset;
  if (carried.loop && carried.loop.same(a.version->round)) {
    if (!carried.next_round) return false;
    ++apart;
  }
  return floor_modulo(apart, a.version->count) != 0;
}

/// Whether two different threads of a block may meet at a byte, one of them storing.
inline bool may_meet(const thread_access& a, const thread_access& b, const thread_axes& axes,
                     const carried_round& carried) {
  if ((!a.writes && !b.writes) || (a.adds && b.adds) || !overlap(a.buffer, b.buffer)) return false;
  if (different_versions(a, b, carried)) return false;
  bool one_thread = true;
  for (std::size_t i = 0; i < axes.size(); ++i)
    one_thread = one_thread &&
                 (axes[i].extent == 1 || (a.fixed[i] && b.fixed[i] && *a.fixed[i] == *b.fixed[i]));
  if (one_thread) return false;
  if (a.buffer != b.buffer || !same_terms(a.blocks, b.blocks)) return true;
  // places are counted within a version where one is known, else within all of them
  if ((a.version || a.any_version) != (b.version || b.any_version)) return true;
  bool sums = !a.opaque && !b.opaque;
  // an axis that both fix at one place is the same thread's on it; else both must run over it alike
  for (std::size_t i = 0; i < axes.size(); ++i)
    sums = sums && (axes[i].extent == 1 ||
                    (a.fixed[i] == b.fixed[i] && (a.fixed[i] || a.steps[i] == b.steps[i])));
  if (sums && rests_keep_apart(a, b, distance_of_threads(a, axes))) return false;
  if (a.touchers == b.touchers && a.apart >= a.width) return false;  // an access and itself
  // going through all points takes long; of a store and a load that are both sums it rarely helps
  if (!a.opaque && !b.opaque && !(a.writes && b.writes)) return true;
  return tables_meet(a, b, axes);
}

using access_list = std::vector<thread_access>;

inline bool any_meet(const access_list& a, const access_list& b, const thread_axes& axes,
                     const carried_round& carried) {
  for (const thread_access& x : a)
    for (const thread_access& y : b)
      if (may_meet(x, y, axes, carried)) return true;
  return false;
}

}  // namespace tilewright::pass::detail::barriers
