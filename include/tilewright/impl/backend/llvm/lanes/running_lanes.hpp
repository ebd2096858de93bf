// Some steps of a scan as one vector: lanes are combined with those 1, 2, 4 and more lanes before them, and with
// what stands before the first.
//
//   for k in range(4): Y[k + 1] = Y[k] + X[k + 1]
//     ->   x = X[1..4];  x += (0, x0, x1, x2);  x += (0, 0, x0, x1);  Y[1..4] = Y[0] + x
//
// Each step of a sum of floats waits for the one before, some cycles; these few instructions take the place of 4 to 16.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/arith/one_before.hpp>
#include <tilewright/ir/scan_notes.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::backend::llvm {
namespace detail::running {

/// A store of what is combined of the element that the iteration before stored, and a term.
struct scan_step {
  const ir::store_node* store = nullptr;
  std::size_t before = 0;  // the operand that is the element
};

/// How many steps the loop wants in a vector; 0: none.
inline std::int64_t lanes_of(const ir::loop_node& l) {
  constexpr std::int64_t most = 64;
  const ir::attr* note = ir::find_note(l.annotations, ir::running_note);
  const std::int64_t* lanes = note ? std::get_if<std::int64_t>(&note->value) : nullptr;
  const bool fits = lanes && *lanes >= 4 && *lanes <= most &&
                    std::has_single_bit(static_cast<std::uint64_t>(*lanes));
  return fits ? *lanes : 0;
}

inline bool is_combination(const ir::expr& e) {
  switch (e->op) {
    case ir::op::add:
    case ir::op::mul:
    case ir::op::min:
    case ir::op::max:
    case ir::op::logical_and:
    case ir::op::logical_or: return true;
    case ir::op::call:
      return e->args.size() == 2 && (e->name == "maximum" || e->name == "minimum" ||
                                     e->name == "bitwise_and" || e->name == "bitwise_or");
    default: return false;
  }
}

inline std::optional<scan_step> scan_step_of(const ir::loop_node& l) {
  const ir::store_node* store = ir::as_store(l.body);
  if (!store || !is_combination(store->value)) return std::nullopt;
  int loads = 0;
  ir::for_each_expr(store->value, [&](const ir::expr& e) {
    loads += e->op == ir::op::load && e->buffer == store->buffer;
  });
  for (std::size_t n = 0; n < 2; ++n) {
    const ir::expr& own = store->value->args[n];
    if (loads == 1 && own->op == ir::op::load && own->buffer == store->buffer &&
        arith::is_one_before(l.var, own->args, store->indices))
      return scan_step{store, n};
  }
  return std::nullopt;
}

}  // namespace detail::running

/// Emits the loop in vectors where it says how many lanes these have, and its steps are those of a scan; what whole vectors leave
/// follows one after the other. @returns whether it did
inline bool emitter::emit_running(const ir::loop_node& l, std::int64_t first, std::int64_t extent) {
  namespace r = detail::running;
  const std::int64_t lanes = r::lanes_of(l);
  if (lanes == 0 || extent < lanes) return false;
  const std::optional<r::scan_step> step = r::scan_step_of(l);
  if (!step || (is_float(step->store->buffer->type) && ir::keeps_term_order(f))) return false;
  const ir::store_node& store = *step->store;
  const auto bind_steps = [&](const affine& from, std::int64_t by) {
    binding steps{binding::kind::form, 0, {}, {first, first + extent - 1}, from};
    steps.form.lane_step = by;
    bound[l.var.get()] = std::move(steps);
  };
  lane = {static_cast<int>(lanes), nullptr, false};
  affine start;
  start.constant = first;
  bind_steps(start, 1);
  const affine stored = offset(place_of(store.buffer), store.buffer, store.indices);
  bound.erase(l.var.get());
  lane = {};
  const bool even = stored.lane_steps.empty() && stored.vectors.empty();
  if (!even || (stored.lane_step != 1 && stored.lane_step != -1)) return false;
  const bool falls = stored.lane_step < 0;
  const std::int64_t vectors = extent / lanes, done = first + vectors * lanes;
  const auto inside = static_cast<double>(lanes) * work(l.body);
  const value_ref carried = running_start(l, store.value->args[step->before], first, lanes);
  const type_ref whole = b.held(store.buffer->type, static_cast<int>(lanes));
  emit_counted(l.var->name, b.index(0), b.index(vectors), true, inside, [&](value_ref v) {
    affine from;
    from.scalars.emplace_back(v, lanes);
    from.constant = first;
    affine last = from;
    last.constant += lanes - 1;
    lane = {static_cast<int>(lanes), nullptr, false};
    bind_steps(falls ? last : from, falls ? -1 : 1);
    const ir::var result = ir::make_var("result", store.buffer->type);
    const value_ref terms = running_terms(store, step->before, falls);
    const value_ref before = b.load(whole, carried, 64);
    const value_ref all = combine_steps(store, step->before, before, terms);
    // of all terms, since the next vector waits for this alone
    const std::vector<std::int64_t> last_step(static_cast<std::size_t>(lanes),
                                              falls ? 0 : lanes - 1);
    const value_ref sums = moved(terms, terms, last_step);
    b.store(combine_steps(store, step->before, before, sums), carried, 64);
    bound[result.get()] = binding{binding::kind::value, 0, {all, true}, {0, 0}, {}};
    made_.push_back(ir::make_store(store.buffer, store.indices, result));
    emit_store(*ir::as_store(made_.back()));
    bound.erase(result.get());
    bound.erase(l.var.get());
    lane = {};
  });
  if (done < first + extent)
    emit_serial(l, b.index(done), b.index(first + extent), {done, first + extent - 1}, true);
  return true;
}

/// What the store combines, of `before` in the place of the element before and `term` in that of the term.
inline value_ref emitter::combine_steps(const ir::store_node& store, std::size_t position,
                                        value_ref before, value_ref term) {
  const dtype type = store.buffer->type;
  const ir::var left = ir::make_var("before", type), right = ir::make_var("term", type);
  bound[left.get()] = binding{binding::kind::value, 0, {before, true}, {0, 0}, {}};
  bound[right.get()] = binding{binding::kind::value, 0, {term, true}, {0, 0}, {}};
  const ir::expr both = position == 0 ? ir::with_args(store.value, {left, right})
                                      : ir::with_args(store.value, {right, left});
  const value_ref out = widen(emit(both), true);
  bound.erase(left.get());
  bound.erase(right.get());
  return out;
}

/// A place in the stack, which becomes a register, for what stands before a vector, in all lanes; it holds what stands before the
/// first step.
inline value_ref emitter::running_start(const ir::loop_node& l, const ir::expr& before,
                                        std::int64_t first, std::int64_t lanes) {
  bound[l.var.get()] = binding{binding::kind::constant, first, {}, {first, first}, {}};
  const value_ref all = b.splat(emit(before).v, static_cast<int>(lanes));
  bound.erase(l.var.get());
  const block_ref here = b.here();
  b.at(at.entry);
  const value_ref out = b.c.BuildAlloca(b.b, b.c.TypeOf(all), "before");
  b.c.SetAlignment(out, 64);
  b.at(here);
  b.store(all, out, 64);
  return out;
}

inline value_ref emitter::moved(value_ref vector, value_ref other,
                                const std::vector<std::int64_t>& from) {
  return b.c.BuildShuffleVector(b.b, vector, other, b.integers(b.i32, from), "");
}

/// The terms of all lanes, each combined with those before it in the vector. Into lanes without any before goes what changes nothing:
/// 0 or 1 of sums and products, the lane itself of other combinations. Of sums of floats they stay under a mask, since LLVM makes slow
/// expansions of shuffles that bring zeros in: 256 rows of 1024 f64 sums take 212 us so, 96 us under a mask.
/// @param falls whether the last lane comes first
inline value_ref emitter::running_terms(const ir::store_node& store, std::size_t position,
                                        bool falls) {
  const std::int64_t lanes = lane.lanes;
  const dtype type = store.buffer->type;
  const bool adds = store.value->op == ir::op::add, multiplies = store.value->op == ir::op::mul,
             masked = adds && is_float(type);
  const type_ref element = b.held(type);
  const value_ref neutral = is_float(type) ? b.real(element, multiplies ? 1 : 0, lane.lanes)
                                           : b.integer(element, multiplies ? 1 : 0, lane.lanes);
  value_ref all = widen(emit(store.value->args[1 - position]), true);
  for (std::int64_t by = 1; by < lanes; by *= 2) {
    std::vector<std::int64_t> from, has;
    for (std::int64_t i = 0; i < lanes; ++i) {
      const std::int64_t other = falls ? i + by : i - by;
      has.push_back(other >= 0 && other < lanes);
      from.push_back(has.back() != 0 ? other : multiplies || (adds && !masked) ? lanes : i);
    }
    const value_ref next = combine_steps(store, position, moved(all, neutral, from), all);
    all = masked ? b.select(b.integers(b.i1, has), next, all) : next;
  }
  return all;
}

}  // namespace tilewright::backend::llvm
