// Sums over the loops around a block, for what finds footprints.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/digit_sum.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence::footprints {

using arith::bounds;
using arith::linear;

inline linear constant(std::int64_t value, dtype type) {
  linear out;
  out.constant = value;
  out.type = type;
  return out;
}

/// Divides the coefficients; false, and the sum is of no use, where one does not divide.
inline bool divide_terms(linear& sum, std::int64_t by) {
  for (auto& [term, factor] : sum.terms) {
    if (factor % by != 0) return false;
    factor /= by;
  }
  return true;
}

/// Terms that are no plain variables, as the digits of a fused loop are.
inline std::ptrdiff_t compound_terms(const linear& sum) {
  return std::count_if(sum.terms.begin(), sum.terms.end(),
                       [](const auto& term) { return !ir::is_var(term.first); });
}

inline void mark_used(const ir::expr& e, loop_places& places, loop_marks& used) {
  if (const int l = places.of(e); l >= 0) used[static_cast<std::size_t>(l)] = 1;
  for (const ir::expr& arg : e->args) mark_used(arg, places, used);
}

/// The loops that an analyzer has to know for a question about the sum: those that occur in it where all
/// bounds are constants, else all.
inline loop_nest asked_loops(const linear& sum, const loop_nest& loops) {
  if (!are_constant(loops)) return loops;
  loop_marks used(loops.size(), 0);
  loop_places places(loops);
  for (const auto& [term, factor] : sum.terms) mark_used(term, places, used);
  loop_nest out;
  out.reserve(loops.size());
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (used[l]) out.push_back(loops[l]);
  return out;
}

/// The sum as the analyzer writes it.
inline linear simplified(const linear& sum, const loop_nest& loops) {
  if (const auto digits = digit_terms(sum, loops)) {
    linear out = constant(sum.constant, sum.type);
    out.terms.reserve(digits->size());
    for (const digit_term& d : *digits) out.terms.push_back(sum.terms[d.term]);
    return out;
  }
  return arith::to_linear(knowing(asked_loops(sum, loops)).simplify(arith::from_linear(sum)));
}

/// Whether a term keeps its value while the moving loops run; loads and calls are not looked into.
inline bool stands_still(const ir::expr& term, const child_block& child, standing_loops standing) {
  if (ir::is_var(term)) {
    const int index = loop_index(child.loops, term);
    return index < 0 || !standing.moves(child, static_cast<std::size_t>(index));
  }
  return !ir::reads_memory(term) && support::all(term->args, [&](const ir::expr& arg) {
    return stands_still(arg, child, standing);
  });
}

/// Whether a quotient or remainder of x lies in [0, limit) where x runs over `run`: x % n in n
/// values, x // n in m where x takes m * n of them from 0 on. Extents are positive.
inline bool digit_within(const ir::expr& digit, const ir::expr& limit, const ir::range& run) {
  if (digit->op == ir::op::floormod) return arith::same_value(digit->args[1], limit);
  return digit->op == ir::op::floordiv && run.min && ir::is_int(run.min, 0) &&
         arith::same_value(run.extent, limit * digit->args[1]);
}

/// a + b * factor where the terms cancel out.
inline std::optional<std::int64_t> constant_sum(const linear& a, const linear& b,
                                                std::int64_t factor) {
  if (a.terms.size() != b.terms.size()) return std::nullopt;
  for (const auto& [term, coefficient] : a.terms) {
    bool cancels = false;
    for (const auto& [other, c] : b.terms)
      if (coefficient + c * factor == 0 &&
          (other.same(term) || (!ir::is_var(term) && arith::same_value(other, term)))) {
        cancels = true;
        break;
      }
    if (!cancels) return std::nullopt;
  }
  return a.constant + b.constant * factor;
}

/// The sum that a comparison says is not negative: b - a - 1 of a < b.
inline std::optional<linear> not_negative(const ir::expr& comparison) {
  if (comparison->args.size() != 2) return std::nullopt;
  if (!arith::is_index(comparison->args[0].type())) return std::nullopt;
  linear a = arith::to_linear(comparison->args[0]), b = arith::to_linear(comparison->args[1]);
  switch (comparison->op) {
    case ir::op::ge: break;
    case ir::op::gt: b.constant += 1; break;
    case ir::op::le: std::swap(a, b); break;
    case ir::op::lt:
      std::swap(a, b);
      b.constant += 1;
      break;
    default: return std::nullopt;
  }
  return difference(a, b);
}

/// Constant bounds of terms over loops.
class term_ranges {
 public:
  explicit term_ranges(const loop_nest& loops) : loops_(loops), places_(loops) {}

  bounds of(const ir::expr& term) {
    if (const int place = places_.of(term); place >= 0) {
      const ir::loop_node& l = *loops_[static_cast<std::size_t>(place)];
      if (const bounds b = constant_range(l.min, l.extent); b.bounded()) return b;
    }
    if (!constant_) constant_ = are_constant(loops_);
    if (*constant_)
      if (const auto digit = digit_of_loop(term, loops_, places_)) return digit->range;
    if (!known_) known_ = knowing(loops_);
    return known_->const_bounds(term);
  }

 private:
  const loop_nest& loops_;
  loop_places places_;
  std::optional<bool> constant_;          // all bounds of the loops
  std::optional<arith::analyzer> known_;  // where it is needed
};

/// The term of `a` that `accumulate` would add the term of `b` to.
inline bool meets(const ir::expr& of_a, const ir::expr& of_b) {
  return of_a.same(of_b) || (!ir::is_var(of_b) && arith::same_value(of_a, of_b));
}

/// Bounds of x // d - y // d where x - y is a constant; nothing for other terms.
inline std::optional<bounds> quotients_apart(const ir::expr& a, const ir::expr& b) {
  if (a->op != ir::op::floordiv || b->op != ir::op::floordiv || !ir::is_int(a->args[1]) ||
      !ir::is_int(b->args[1], ir::as_int(a->args[1])) || ir::as_int(a->args[1]) < 1)
    return std::nullopt;
  const auto apart = constant_sum(arith::to_linear(a->args[0]), arith::to_linear(b->args[0]), -1);
  if (!apart) return std::nullopt;
  const std::int64_t by = ir::as_int(a->args[1]);
  return bounds{ir::floor_divide(*apart, by), -ir::floor_divide(-*apart, by)};
}

/// Constant bounds of a - b over loops, without building the difference.
inline bounds range_of_difference(const linear& a, const linear& b, const loop_nest& loops) {
  bounds out{a.constant - b.constant, a.constant - b.constant};
  term_ranges ranges(loops);
  const auto add = [&](const ir::expr& term, std::int64_t factor) {
    if (factor != 0) out = arith::add(out, arith::scale(ranges.of(term), factor));
  };
  const auto met = [&](const ir::expr& of_b) {
    return support::any(a.terms, [&](const auto& t) { return meets(t.first, of_b); });
  };
  std::vector<const ir::expr*> paired;  // terms of b
  const auto pair = [&](const ir::expr& of_a, std::int64_t factor) {
    if (of_a->op != ir::op::floordiv) return false;
    for (const auto& [other, by] : b.terms) {
      if (by != factor || met(other) || support::contains(paired, &other)) continue;
      const std::optional<bounds> apart = quotients_apart(of_a, other);
      if (!apart) continue;
      paired.push_back(&other);
      out = arith::add(out, arith::scale(*apart, factor));
      return true;
    }
    return false;
  };
  for (const auto& [term, factor] : a.terms) {
    std::int64_t rest = factor;
    for (const auto& [other, by] : b.terms)
      if (meets(term, other)) rest -= by;
    if (rest != factor || !pair(term, factor)) add(term, rest);
  }
  for (const auto& [term, factor] : b.terms)
    if (!met(term) && !support::contains(paired, &term)) add(term, -factor);
  return out;
}

/// a <= b in every iteration.
inline bool never_above(const linear& a, const linear& b, const loop_nest& loops) {
  return range_of_difference(b, a, loops).lo >= 0;
}

/// Whether the last value gets to the end, as that of a split loop whose extent is rounded up.
inline bool reaches(const linear& last, const linear& end, const loop_nest& loops) {
  return range_of_difference(last, end, loops).lo >= -1 ||
         knowing(loops).prove_le(arith::from_linear(end), arith::from_linear(last) + 1);
}

}  // namespace tilewright::dependence::footprints
