// Sums of loops and of what quotients and remainders leave of loops: what the analyzer says of them is
// found here without it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/node_memory.hpp>

namespace tilewright::dependence::footprints {

/// Whether all bounds of the loops are constants: then none says anything of another loop.
inline bool are_constant(const loop_nest& loops) {
  return support::all(loops, [](const ir::loop_node* l) {
    return ir::is_int(l->min) && ir::is_int(l->extent) && ir::as_int(l->extent) > 0;
  });
}

/// A loop of a nest with constant bounds that an expression follows, and the values that it takes.
struct loop_digit {
  std::size_t loop;
  arith::bounds range;
};

/// Of a variable, or of quotients and remainders by constants of one whose loop begins at 0: the very
/// bounds that the analyzer finds. Nothing for other expressions.
inline std::optional<loop_digit> digit_of_loop(const ir::expr& e, const loop_nest& loops,
                                               loop_places& places) {
  if (ir::is_var(e)) {
    const int place = places.of(e);
    if (place < 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(place);
    return loop_digit{at, constant_range(loops[at]->min, loops[at]->extent)};
  }
  const bool quotient = e->op == ir::op::floordiv;
  if ((!quotient && e->op != ir::op::floormod) || !ir::is_int(e->args[1]) ||
      ir::as_int(e->args[1]) < 1)
    return std::nullopt;
  const std::optional<loop_digit> of = digit_of_loop(e->args[0], loops, places);
  if (!of || !ir::is_int(loops[of->loop]->min, 0)) return std::nullopt;
  const std::int64_t by = ir::as_int(e->args[1]);
  return loop_digit{
      of->loop, quotient ? arith::floor_divide(of->range, by) : arith::floor_modulo(of->range, by)};
}

/// Whether the analyzer leaves a quotient, a remainder, or a remainder of a quotient as it is: it cuts
/// something off, and not all.
inline bool is_proper_digit(const ir::expr& e, const loop_nest& loops, loop_places& places) {
  const ir::expr& from = e->args[0];
  if (ir::as_int(e->args[1]) < 2) return false;
  if (e->op == ir::op::floormod && from->op == ir::op::floordiv &&
      (!ir::is_var(from->args[0]) || ir::as_int(from->args[1]) < 2))
    return false;
  if (!ir::is_var(from) && !(e->op == ir::op::floormod && from->op == ir::op::floordiv))
    return false;
  const std::optional<loop_digit> whole = digit_of_loop(from, loops, places);
  return whole && whole->range.hi >= ir::as_int(e->args[1]);
}

/// A term of a sum of digits: its loop, and what it takes of it; none for variables of blocks around.
struct digit_term {
  std::optional<loop_digit> digit;
  std::size_t term;  // position in the sum
};
using digit_term_list = std::vector<digit_term, support::node_allocator<digit_term>>;

/// The terms in the order in which the analyzer writes them, those that are added first, where it
/// changes none: each is a variable or a proper digit, and no loop occurs twice. Nothing for other sums.
inline std::optional<digit_term_list> digit_terms(const arith::linear& sum,
                                                  const loop_nest& loops) {
  constexpr std::size_t most_terms = 16;
  if (sum.terms.size() > most_terms || !are_constant(loops)) return std::nullopt;
  digit_term_list out;
  loop_marks used(loops.size(), 0);
  loop_places places(loops);
  out.reserve(sum.terms.size());
  for (const bool added : {true, false})
    for (std::size_t i = 0; i < sum.terms.size(); ++i) {
      const auto& [term, factor] = sum.terms[i];
      if ((factor > 0) != added) continue;
      if (term.type() != sum.type) return std::nullopt;
      out.push_back({digit_of_loop(term, loops, places), i});
      const std::optional<loop_digit>& digit = out.back().digit;
      if (!digit && !ir::is_var(term)) return std::nullopt;
      if (!digit) continue;
      if (digit->range.is_point() || used[digit->loop]++) return std::nullopt;
      if (!ir::is_var(term) && !is_proper_digit(term, loops, places)) return std::nullopt;
    }
  return out;
}

}  // namespace tilewright::dependence::footprints
