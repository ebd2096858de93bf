// Whether iterations of a loop write different elements; declared in scope.hpp.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/binding/digit.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/binding/fused_binding.hpp>
#include <tilewright/impl/dependence/binding/injective_binding.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/output_dependence.hpp>
#include <tilewright/impl/dependence/rising_numbers.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/short_vector.hpp>

namespace tilewright::dependence {
namespace independence {

using arith::bounds;

/// Whether the expression is made of x by quotients and remainders alone.
inline bool is_cut(const ir::expr& e, const ir::var& x) {
  return e.same(x) || ((e->op == ir::op::floordiv || e->op == ir::op::floormod) &&
                       ir::is_int(e->args[1]) && is_cut(e->args[0], x));
}

/// How far the digits of two values of the loop may be apart; nothing where that is not known. A
/// quotient never falls while its dividend rises, so that those of the first and the last value are
/// furthest apart. Where the first one is not known: among the multiples of the divisor, between which
/// its quotient stands still, no more than apart / divisor, rounded up, lie in the `apart` numbers
/// behind any first one.
inline std::optional<std::int64_t> steps_of(const digit& d, const ir::loop_node& loop) {
  if (d.count > 0) return d.count - 1;
  if (!ir::is_int(loop.extent)) return std::nullopt;
  const std::int64_t apart = std::max<std::int64_t>(ir::as_int(loop.extent) - 1, 0);
  if (!ir::is_int(loop.min)) return apart / d.divisor + (apart % d.divisor != 0);
  const std::int64_t first = ir::as_int(loop.min);
  return ir::floor_divide(support::saturated_sum(first, apart), d.divisor) -
         ir::floor_divide(first, d.divisor);
}

/// The digit of loop `at` that a place of that `width` steps by, where the loops inside cannot bring
/// the place back: what they move it by in smaller steps is less than one step, and larger ones
/// reach over all steps.
inline std::optional<digit> stepped_digit(const child_block& child, std::size_t at,
                                          const arith::linear& place, std::int64_t width = 1) {
  const ir::loop_node& loop = *child.loops[at];
  std::optional<digit> out;
  std::int64_t step = 0;
  for (const auto& [term, factor] : place.terms) {
    if (!ir::uses_var(term, loop.var)) continue;
    if (out) return std::nullopt;
    out = digit_of(term);
    if (!out || !out->v.same(loop.var)) return std::nullopt;
    step = std::abs(factor);
  }
  if (!out) return std::nullopt;
  arith::linear smaller;
  std::int64_t larger = 0;
  for (const auto& [term, factor] : place.terms) {
    if (ir::uses_var(term, loop.var)) continue;
    if (!uses_loops_from(term, child, at + 1) && !ir::reads_memory(term)) continue;
    if (std::abs(factor) > step)
      larger = std::gcd(larger, factor);
    else
      smaller.terms.emplace_back(term, factor);
  }
  const bounds moves = range_of(smaller, child.loops);
  if (!moves.bounded() || moves.hi - moves.lo + width > step) return std::nullopt;
  if (larger == 0) return out;
  const std::optional<std::int64_t> steps = steps_of(*out, loop);
  if (!steps || *steps > larger / step) return std::nullopt;
  return step * *steps + moves.hi - moves.lo + width <= larger ? out : std::nullopt;
}

/// Digits of one number, whichever that is.
struct number_digit {
  std::int64_t divisor, count;  // as those of a digit
};
using number_digits = support::short_vector<number_digit, 8>;

/// Whether no two numbers of an interval that long have all digits in common.
inline bool tell_apart(number_digits digits, const ir::expr& extent) {
  std::sort(digits.begin(), digits.end(),
            [](const number_digit& a, const number_digit& b) { return a.divisor < b.divisor; });
  std::int64_t reach = 1;
  for (const number_digit& d : digits) {
    if (d.divisor != reach) continue;
    if (d.count == 0) return true;
    reach *= d.count;
  }
  return ir::is_int(extent) && reach >= ir::as_int(extent);
}

/// Iterations of loop `at` run apart: in no two of them all of its digits are the same that
/// variables step by.
inline bool steps_over(const child_block& child, std::size_t at) {
  const bound_iters& iters = bind_iters(child);
  const ir::expr& extent = child.loops[at]->extent;
  number_digits digits;
  for (std::size_t i = 0; i < iters.values.size(); ++i)
    if (child.block().iters[i].kind == ir::iter_kind::spatial)
      if (const auto d = stepped_digit(child, at, iters.values[i]))
        digits.push_back({d->divisor, d->count});
  if (tell_apart(std::move(digits), extent)) return true;
  if (!bindings::has_remainder(child)) return false;
  const bindings::binding_list whole = bindings::joined_digits(child);
  if (whole.values.size() == child.realize->values.size()) return false;
  for (std::size_t i = 0; i < whole.values.size(); ++i)
    if (whole.iters[i].kind == ir::iter_kind::spatial)
      if (const auto d = stepped_digit(child, at, arith::to_linear(whole.values[i])))
        if (tell_apart({1, {d->divisor, d->count}}, extent)) return true;
  return false;
}

/// A digit of a sum over loops.
struct sum_digit {
  arith::linear sum;
  std::int64_t divisor, count;  // as those of a digit
};

/// (2 i + j // 8) // 3 is a digit of 16 i + j.
inline sum_digit of_plain_sum(const digit& d) {
  sum_digit out{arith::to_linear(d.v), d.divisor, d.count};
  for (auto& [term, factor] : out.sum.terms) {
    if (term->op != ir::op::floordiv || !ir::is_int(term->args[1]) || factor != 1) continue;
    const std::int64_t by = ir::as_int(term->args[1]);
    if (by < 1 || !ir::is_var(term->args[0])) continue;
    term = term->args[0];
    for (auto& [other, of_other] : out.sum.terms)
      if (&of_other != &factor) of_other *= by;
    out.sum.constant *= by;
    out.divisor *= by;
    break;
  }
  return out;
}

/// The digit that a place steps by while loop `at` and those inside of it run, where all else that moves it then does so by
/// less than a step.
inline std::optional<sum_digit> moving_digit(const child_block& child, std::size_t at,
                                             const arith::linear& place) {
  const auto is_whole = [](const ir::expr& e) {
    return ir::is_var(e) || e->op == ir::op::add || e->op == ir::op::mul;
  };
  arith::linear moving;
  std::size_t widest = 0;
  for (const auto& term : place.terms) {
    if (ir::reads_memory(term.first)) return std::nullopt;
    if (!uses_loops_from(term.first, child, at)) continue;
    moving.terms.push_back(term);
    if (std::abs(term.second) > std::abs(moving.terms[widest].second))
      widest = moving.terms.size() - 1;
  }
  if (moving.terms.empty()) return std::nullopt;
  const auto [term, step] = moving.terms[widest];
  const std::optional<digit> d = digit_of(term, is_whole);
  if (!d) return std::nullopt;
  moving.terms.erase(moving.terms.begin() + static_cast<std::ptrdiff_t>(widest));
  const bounds rest = range_of(moving, child.loops);
  if (!rest.bounded() || rest.hi - rest.lo >= std::abs(step)) return std::nullopt;
  return of_plain_sum(*d);
}

/// Whether the digit is one of that sum as well: of the same, or of a loop to which the sum adds multiples of all that
/// the digit may be.
inline bool is_digit_of(const sum_digit& d, const arith::linear& sum) {
  const arith::linear rest = difference(sum, d.sum);
  if (rest.terms.empty()) return rest.constant == 0;
  const std::int64_t whole = d.divisor * d.count;
  return whole > 0 && rest.constant % whole == 0 &&
         support::all(rest.terms, [&](const auto& term) { return term.second % whole == 0; });
}

/// Iterations of loop `at` run apart: each has values of a sum of its own, of which digits tell all, as places in a copy
/// that threads make together are digits of the number of an element. A guard of several conditions is for iteration maps.
inline bool sums_tell(const child_block& child, std::size_t at) {
  if (child.realize->predicate->op == ir::op::logical_and) return false;
  const bound_iters& iters = bind_iters(child);
  std::vector<sum_digit> all;
  const sum_digit* longest = nullptr;
  all.reserve(iters.values.size());
  for (std::size_t i = 0; i < iters.values.size(); ++i) {
    if (child.block().iters[i].kind != ir::iter_kind::spatial) continue;
    std::optional<sum_digit> d = moving_digit(child, at, iters.values[i]);
    if (!d) continue;
    all.push_back(std::move(*d));
    if (!longest || all.back().sum.terms.size() > longest->sum.terms.size()) longest = &all.back();
  }
  if (!longest) return false;
  number_digits digits;
  for (const sum_digit& d : all)
    if (is_digit_of(d, longest->sum)) digits.push_back({d.divisor, d.count});
  const std::int64_t step = std::abs(longest->sum.coefficient(child.loops[at]->var));
  arith::linear moving, inside;
  for (const auto& term : longest->sum.terms) {
    if (!uses_loops_from(term.first, child, at)) continue;
    moving.terms.push_back(term);
    if (!term.first.same(child.loops[at]->var)) inside.terms.push_back(term);
  }
  const bounds own = range_of(inside, child.loops), run = range_of(moving, child.loops);
  if (step == 0 || !own.bounded() || !run.bounded() || own.hi - own.lo >= step) return false;
  return tell_apart(std::move(digits), ir::integer(dtype::i64, run.hi - run.lo + 1));
}

/// Whether the boxes of a region have nothing in common in different iterations of loop `at`.
inline bool boxes_apart(const child_block& child, std::size_t at, const ir::buffer_region& region) {
  number_digits digits;
  const bound_iters& iters = bind_iters(child);
  const auto note = [&](const arith::linear& place, const ir::range& dim) {
    if (const auto d = stepped_digit(child, at, place, ir::as_int(dim.extent)))
      digits.push_back({d->divisor, d->count});
  };
  const rising_numbers rising(child.block());
  for (const ir::range& dim : region.box) {
    if (!ir::is_int(dim.extent)) continue;
    const ir::expr& place = ir::is_int(dim.extent, 1) ? rising.place(dim.min) : dim.min;
    if (const int alone = iter_index(child.block(), place); alone >= 0)
      note(iters.values[static_cast<std::size_t>(alone)], dim);
    else
      note(in_loops(place, child), dim);
  }
  return tell_apart(std::move(digits), child.loops[at]->extent);
}

/// Whether the variable may say where the block stores to the buffer: an index follows it, through
/// lets, loops and blocks inside; or no store is to be seen, as that of a call is not.
inline bool may_place(const ir::block_node& block, const ir::buffer& x, const ir::var& v) {
  ir::var_set following{v};
  const auto follows = [&](const ir::expr& e) { return ir::uses_any(e, following); };
  bool stores = false, places = false;
  ir::for_each_stmt(block.body, [&](const ir::stmt& s) {
    if (const ir::let_node* let = ir::as_let(s); let && follows(let->value))
      following.insert(let->var);
    if (const ir::loop_node* loop = ir::as_loop(s);
        loop && (follows(loop->min) || follows(loop->extent)))
      following.insert(loop->var);
    if (const ir::block_realize_node* r = ir::as_realize(s))
      for (std::size_t i = 0; i < r->values.size(); ++i)
        if (follows(r->values[i])) following.insert(r->block->iters[i].var);
    const ir::store_node* store = ir::as_store(s);
    if (!store || store->buffer != x) return;
    stores = true;
    places = places || support::any(store->indices, follows);
  });
  return places || !stores;
}

/// Whether nothing can be concluded from how the region moves with a variable, because it is no sum
/// of its digits, or because a side that stands still may hide it, as that of a scatter does.
inline bool is_hidden(const ir::buffer_region& region, const ir::block_node& block,
                      const ir::var& v) {
  const auto moves = [&](const ir::range& dim) { return ir::uses_var(dim.min, v); };
  const auto is_unclear = [&](const ir::range& dim) {
    const arith::linear sum = arith::to_linear(dim.min);
    const auto cuts = std::count_if(sum.terms.begin(), sum.terms.end(),
                                    [&](const auto& t) { return is_cut(t.first, v); });
    const auto terms = std::count_if(sum.terms.begin(), sum.terms.end(),
                                     [&](const auto& t) { return ir::uses_var(t.first, v); });
    return cuts != 1 || terms != 1 || !ir::is_int(dim.extent) || ir::reads_memory(dim.min);
  };
  const auto stands = [&](const ir::range& dim) {
    return !ir::is_int(dim.extent, 1) && support::none(block.iters, [&](const ir::iter_var& i) {
      return ir::uses_var(dim.min, i.var);
    });
  };
  const bool occurs = support::any(region.box, moves);
  return support::any(region.box,
                      [&](const ir::range& dim) { return moves(dim) && is_unclear(dim); }) ||
         (!occurs && support::any(region.box, stands) && may_place(block, region.buffer, v));
}

/// Every variable that does not reduce is an index of its own.
inline bool indices_tell(const ir::block_node& block, const ir::buffer_region& region) {
  const rising_numbers rising(block);
  return support::all(block.iters, [&](const ir::iter_var& v) {
    return v.kind == ir::iter_kind::reduce || is_index(v, region, rising);
  });
}

/// The same by any digits, in the order of the variables.
inline apartness digits_tell(const child_block& child, const ir::buffer_region& region) {
  const ir::block_node& block = child.block();
  std::vector<ir::stmt> nest;  // the block below a loop for each of its variables
  std::vector<ir::expr> values;
  for (const ir::iter_var& v : block.iters) {
    nest.push_back(ir::make_loop(v.var, v.dom.min, v.dom.extent, ir::stmt{}));
    values.push_back(v.var);
  }
  const ir::stmt realize =
      ir::make_realize(std::move(values), ir::boolean(true), child.realize->block);
  child_block alone{ir::as_realize(realize), {}};
  for (const ir::stmt& l : nest) alone.loops.push_back(ir::as_loop(l));
  bool unclear = false;
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const ir::iter_var& v = block.iters[i];
    if (v.kind == ir::iter_kind::reduce || ir::is_int(v.dom.extent, 1) ||
        boxes_apart(alone, i, region))
      continue;
    if (!is_hidden(region, block, v.var)) return apartness::none;
    unclear = true;
  }
  return unclear ? repeated_elements(block, region).apart() : apartness::proved;
}

inline apartness writes_once(const child_block& child, const ir::buffer_region& region) {
  return indices_tell(child.block(), region) ? apartness::proved : digits_tell(child, region);
}

/// Iterations of loop `at`, whose boxes tell nothing, write different elements because they run
/// different instances.
inline apartness by_instances(const child_block& child, std::size_t at,
                              const ir::buffer_region& region) {
  if (driven_loops(child).other[at]) return apartness::none;
  const apartness once = writes_once(child, region);
  return once != apartness::none && instances_apart(child, at) ? once : apartness::none;
}

inline apartness iterations_apart(const child_block& child, std::size_t at,
                                  const ir::buffer_region& region) {
  return ir::is_int(child.loops[at]->extent, 1) || boxes_apart(child, at, region)
             ? apartness::proved
             : by_instances(child, at, region);
}

}  // namespace independence

TILEWRIGHT_INLINE bool writes_once(const child_block& child) {
  const std::vector<ir::buffer_region>& writes = child.block().writes;
  return support::all(writes, [&](const ir::buffer_region& w) {
    return independence::writes_once(child, w) != apartness::none;
  });
}

TILEWRIGHT_INLINE bool instances_apart(const child_block& child, std::size_t loop) {
  if (ir::is_int(child.loops[loop]->extent, 1) || independence::steps_over(child, loop) ||
      independence::sums_tell(child, loop))
    return true;
  // where no instance runs twice in more loops, none does while the outer ones stand still;
  // quotients of a fused loop are no sums of the inner ones alone
  for (std::size_t first = loop + 1; first-- > 0;)
    if (bindings::injective(child, first)) return true;
  return false;
}

TILEWRIGHT_INLINE bool iterations_apart(const child_block& child, std::size_t loop,
                                        const ir::buffer_region& region) {
  return independence::iterations_apart(child, loop, region) != apartness::none;
}

TILEWRIGHT_INLINE bool iterations_apart(const child_block& child, std::size_t loop) {
  const std::vector<ir::buffer_region>& writes = child.block().writes;
  return support::all(writes,
                      [&](const ir::buffer_region& w) { return iterations_apart(child, loop, w); });
}

TILEWRIGHT_INLINE bool rewrites(const block_scope& scope, std::size_t child, const ir::var& loop) {
  const child_block& c = scope[child];
  const int at = loop_index(c.loops, loop);
  if (at < 0) return false;
  const std::vector<ir::buffer_region>&writes = c.block().writes, &reads = c.block().reads;
  if (support::all(writes, [&](const ir::buffer_region& w) {
        return independence::iterations_apart(c, static_cast<std::size_t>(at), w) ==
               apartness::proved;
      }))
    return false;
  if (!is_complete(scope, child) && !is_reduction(scope, child)) return true;
  if (!elements_tell(c, loop)) return true;
  for (std::size_t w = 0; w < scope.size(); ++w)
    if (w != child && loop_index(scope[w].loops, loop) >= 0 &&
        meet_anywhere(scope[w].block(), scope[w].block().writes, c.block(), reads) &&
        (w > child || rewrites(scope, w, loop)))
      return true;
  return false;
}

TILEWRIGHT_INLINE apartness writes_apart(const child_block& child, std::size_t loop,
                                         const ir::buffer_region& region,
                                         ir::private_buffers& own) {
  // what is soonest found first: hardly ever do iterations share what has a scope of its own
  const auto alone = [&] { return own.within(*child.loops[loop], region.buffer); };
  const bool likely = ir::storage_rank(region.buffer->scope) > 0;
  if (ir::is_int(child.loops[loop]->extent, 1) || (likely && alone()) ||
      independence::boxes_apart(child, loop, region) || (!likely && alone()))
    return apartness::proved;
  const bool adds = child.block().init && driven_loops(child).other[loop];
  return adds && instances_apart(child, loop) ? apartness::proved
                                              : independence::by_instances(child, loop, region);
}

}  // namespace tilewright::dependence
