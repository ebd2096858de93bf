// One access to memory that threads share, and whether two of them can be made by different threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
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

/// A variable of an index and its values.
struct index_domain {
  var v;
  std::int64_t first = 0, extent = 1;
};

/// Who touches each element: the number of the one thread, or `several`.
struct toucher_table {
  static constexpr std::int64_t several = -1;
  std::unordered_map<std::int64_t, std::int64_t> of;
};

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
  // for indices that are no such sums: the index without `blocks`, its variables, and what holds of them
  expr at;
  std::vector<index_domain> domain;
  std::vector<expr> guards;
  mutable std::shared_ptr<const toucher_table> touchers;
};

/// An operator on integers; nothing for what is more than arithmetic.
inline std::optional<std::int64_t> combined(op what, std::int64_t a, std::int64_t b) {
  switch (what) {
    case op::add: return a + b;
    case op::sub: return a - b;
    case op::mul: return a * b;
    case op::min: return std::min(a, b);
    case op::max: return std::max(a, b);
    case op::floordiv: return b == 0 ? std::nullopt : std::optional(floor_divide(a, b));
    case op::floormod: return b == 0 ? std::nullopt : std::optional(floor_modulo(a, b));
    case op::lt: return a < b;
    case op::le: return a <= b;
    case op::gt: return a > b;
    case op::ge: return a >= b;
    case op::eq: return a == b;
    case op::ne: return a != b;
    default: return std::nullopt;
  }
}

/// An index of integers in postfix, whose value is asked at many points.
class point_index {
 public:
  point_index(const expr& e, const std::vector<index_domain>& domain) : known_(add(e, domain)) {}

  /// `point`: a value for each variable of the domain. Nothing for what is more than arithmetic.
  std::optional<std::int64_t> value(const std::vector<std::int64_t>& point) const {
    if (!known_) return std::nullopt;
    std::array<std::int64_t, most_steps> stack;
    std::size_t depth = 0;
    for (const step& s : steps_) {
      if (s.what == op::integer) {
        stack[depth++] = s.number;
      } else if (s.what == op::var) {
        stack[depth++] = point[static_cast<std::size_t>(s.number)];
      } else {
        --depth;
        const auto both = combined(s.what, stack[depth - 1], stack[depth]);
        if (!both) return std::nullopt;
        stack[depth - 1] = *both;
      }
    }
    return stack[0];
  }

 private:
  static constexpr std::size_t most_steps = 128;
  struct step {
    op what;
    std::int64_t number = 0;  // of a variable: its place in the domain
  };

  bool push(step s) {
    steps_.push_back(s);
    return steps_.size() <= most_steps;
  }
  bool add(const expr& e, const std::vector<index_domain>& domain) {
    if (is_int(e)) return push({op::integer, as_int(e)});
    if (is_var(e)) {
      for (std::size_t i = 0; i < domain.size(); ++i)
        if (domain[i].v.get() == e.get()) return push({op::var, static_cast<std::int64_t>(i)});
      return false;
    }
    if (e->op == op::cast) return add(e->args[0], domain);
    return e->args.size() == 2 && combined(e->op, 1, 1) && add(e->args[0], domain) &&
           add(e->args[1], domain) && push({e->op});
  }

  std::vector<step> steps_;
  bool known_;
};

/// All that an access touches, point by point; null when there are too many points or an index that
/// is more than arithmetic.
inline std::shared_ptr<const toucher_table> enumerate(const thread_access& a,
                                                      const thread_axes& axes) {
  constexpr std::int64_t most_points = 1 << 18;
  if (!a.at) return nullptr;
  std::vector<index_domain> domain = a.domain;
  for (std::size_t i = 0; i < axes.size(); ++i)
    domain.push_back({axes[i].place, a.fixed[i].value_or(0), a.fixed[i] ? 1 : axes[i].extent});
  std::int64_t points = 1;
  for (const index_domain& d : domain)
    if ((points *= d.extent) > most_points) return nullptr;
  const point_index index(a.at, domain);
  std::vector<point_index> guards;
  for (const expr& g : a.guards) guards.emplace_back(g, domain);
  auto out = std::make_shared<toucher_table>();
  out->of.reserve(static_cast<std::size_t>(points));
  std::vector<std::int64_t> values(domain.size());
  const std::size_t first_axis = a.domain.size();
  for (std::int64_t point = 0; point < points; ++point) {
    std::int64_t rest = point, thread = 0;
    for (std::size_t i = domain.size(); i-- > 0; rest /= domain[i].extent)
      values[i] = domain[i].first + rest % domain[i].extent;
    for (std::size_t i = 0; i < axes.size(); ++i)
      thread = thread * axes[i].extent + values[first_axis + i];
    bool happens = true;
    for (const point_index& g : guards) happens = happens && g.value(values).value_or(1) != 0;
    if (!happens) continue;
    const auto at = index.value(values);
    if (!at) return nullptr;
    const auto [found, fresh] = out->of.emplace(*at, thread);
    if (!fresh && found->second != thread) found->second = toucher_table::several;
  }
  return out;
}

/// Whether two different threads touch one element, as the tables of all points say.
inline bool tables_meet(const thread_access& a, const thread_access& b, const thread_axes& axes) {
  for (const thread_access* x : {&a, &b})
    if (!x->touchers) x->touchers = enumerate(*x, axes);
  if (!a.touchers || !b.touchers) return true;
  for (const auto& [element, thread] : a.touchers->of) {
    const auto other = b.touchers->of.find(element);
    if (other == b.touchers->of.end()) continue;
    if (thread == toucher_table::several || other->second != thread) return true;
  }
  return false;
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
  if (unit > 0) {
    const std::int64_t whole = floor_divide(lo + unit / 2, unit) * unit;
    lo -= whole;
    hi -= whole;
  }
  const std::int64_t width = std::max(std::abs(lo), std::abs(hi));
  return width < threads.least && (unit == 0 || unit - width > threads.most);
}

inline bool same_blocks(const arith::linear& a, const arith::linear& b) {
  if (a.terms.size() != b.terms.size()) return false;
  for (const auto& [term, factor] : a.terms)
    if (b.coefficient(term) != factor) return false;
  return true;
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
  if ((!a.writes && !b.writes) || !overlap(a.buffer, b.buffer)) return false;
  if (different_versions(a, b, carried)) return false;
  bool one_thread = true;
  for (std::size_t i = 0; i < axes.size(); ++i)
    one_thread = one_thread &&
                 (axes[i].extent == 1 || (a.fixed[i] && b.fixed[i] && *a.fixed[i] == *b.fixed[i]));
  if (one_thread) return false;
  if (a.buffer != b.buffer || !same_blocks(a.blocks, b.blocks)) return true;
  // places are counted within a version where one is known, else within all of them
  if ((a.version || a.any_version) != (b.version || b.any_version)) return true;
  bool sums = !a.opaque && !b.opaque;
  // an axis that both fix at one place is the same thread's on it; else both must run over it alike
  for (std::size_t i = 0; i < axes.size(); ++i)
    sums = sums && (axes[i].extent == 1 ||
                    (a.fixed[i] == b.fixed[i] && (a.fixed[i] || a.steps[i] == b.steps[i])));
  if (sums && rests_keep_apart(a, b, distance_of_threads(a, axes))) return false;
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
