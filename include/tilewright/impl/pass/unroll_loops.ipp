#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/accumulators/common_elements.hpp>
#include <tilewright/impl/pass/accumulators/split_accumulators.hpp>
#include <tilewright/impl/pass/unrolled_size.hpp>
#include <tilewright/ir/scan_notes.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/unroll_loops.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::unroll {

using namespace tilewright::ir;

/// Vector statements that `s` writes out.
inline std::int64_t vector_statements(const stmt& s, const target::cpu& target) {
  return unrolled_size(s, [&](const loop_node& loop) {
    if (loop.loop != loop_kind::vectorized) return unrolled_times(loop);
    const std::int64_t lanes = lanes_of(loop.body, target), extent = constant_extent(loop);
    return std::clamp<std::int64_t>((extent + lanes - 1) / lanes, 1, unrolled_vectors);
  });
}

/// Only loops that disappear are inside.
inline bool writes_out(const stmt& s) {
  bool all = true;
  for_each_stmt(s, [&](const stmt& x) {
    const loop_node* l = as_loop(x);
    if (l)
      all = all && (l->loop == loop_kind::unrolled || l->loop == loop_kind::vectorized) &&
            constant_extent(*l) > 0;
    all = all && x->kind != stmt_kind::allocate;
  });
  return all;
}

class unroller : public mutator {
 public:
  unroller(const target::cpu& target, const unroll_limits& limits)
      : target_(target), limits_(limits) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    if (loop->loop == loop_kind::thread_binding)
      throw build_error("loop " + loop->var->name + " is bound to " + loop->thread_tag +
                        "; a CPU has no such threads: use parallel instead of bind");
    const std::int64_t outer_step = step_;
    const bool outer_parallel = in_parallel_;
    step_ = std::max(step_, std::min(unroll_step_of(*loop), limits_.max_auto_step));
    in_parallel_ = in_parallel_ || loop->loop == loop_kind::parallel;
    const stmt body = mutate(loop->body);
    const loop_kind kind = decide(*loop, body, outer_step, outer_parallel);
    step_ = outer_step;
    in_parallel_ = outer_parallel;
    if (kind == loop->loop) return body == loop->body ? s : with_body(*loop, body);
    return with_kind(*loop, kind, body);
  }

 private:
  loop_kind decide(const loop_node& loop, const stmt& body, std::int64_t step,
                   bool in_parallel) const {
    const std::int64_t extent = constant_extent(loop),
                       size = extent * vector_statements(body, target_);
    const bool literal = extent > 0 && is_int(loop.min);
    switch (loop.loop) {
      case loop_kind::parallel: return in_parallel ? loop_kind::serial : loop_kind::parallel;
      case loop_kind::unrolled:
        return literal && size <= limits_.max_statements ? loop_kind::unrolled : loop_kind::serial;
      case loop_kind::serial: {
        if (loop.annotations.count(running_note) != 0) return loop.loop;  // it becomes vectors
        const bool small = size <= limits_.always && writes_out(body);
        return literal && (size <= step || small) ? loop_kind::unrolled : loop_kind::serial;
      }
      default: return loop.loop;
    }
  }

  const target::cpu& target_;
  const unroll_limits& limits_;
  std::int64_t step_ = 0;
  bool in_parallel_ = false;
};

class reduction_unroller : public mutator {
 public:
  reduction_unroller(const target::cpu& target, const unroll_limits& limits, var_set sizes)
      : target_(target), limits_(limits), sizes_(std::move(sizes)) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* around = as_loop(s);
    const bool repeats = around && around->loop == loop_kind::unrolled;
    const bool outermost = repeats && is_reduction(*around) && !in_written_out_;
    if (repeats) repeated_.insert(around->var);
    in_written_out_ = in_written_out_ || outermost;
    stmt out = mutator::mutate(s);
    if (repeats) repeated_.erase(around->var);
    if (outermost) {
      in_written_out_ = false;
      return apart(out);
    }
    const loop_node* loop = as_loop(out);
    if (!loop || loop->loop != loop_kind::serial || !is_reduction(*loop) || stays_short(*loop))
      return out;
    if (!writes_out(loop->body)) return out;
    const std::int64_t size = vector_statements(loop->body, target_),
                       extent = constant_extent(*loop);
    std::int64_t factor = limits_.reduction_factor;
    while (factor > 1 && factor * size > limits_.reduction_statements) factor /= 2;
    const bool whole = is_short(*loop, extent) && extent * size <= limits_.reduction_statements;
    if ((!whole && factor == 1) || !registers_hold(*loop, size, whole)) return out;
    if (whole) return with_kind(*loop, loop_kind::unrolled, loop->body);
    if (extent > 0 && extent < 2 * factor) return out;
    const bool asked = loop->annotations.count(sums_apart_note) != 0;
    std::int64_t accumulators =
        std::min(asked ? asked_accumulators(*loop) : accumulators_alone(*loop, size), factor);
    while (accumulators > 1 && accumulators * size > target_.vector_registers / 2)
      accumulators /= 2;
    return split(*loop, extent, factor, accumulators);
  }

 private:
  /// Code of an edge, or a walk of rows that a schedule takes for short ones; with 0 it says they are
  /// not.
  static bool stays_short(const loop_node& loop) {
    const auto note = loop.annotations.find(edge_note);
    return note != loop.annotations.end() && !(note->second == attr(0));
  }

  /// Too few iterations for steps of several.
  bool is_short(const loop_node& loop, std::int64_t extent) const {
    return extent > 1 && extent < 2 * limits_.reduction_factor && is_int(loop.min);
  }

  /// Whether the registers hold what several iterations keep: the sums of each, and what the next one reads again, as
  /// windows do, since the code of both loads it once. 109 columns of windows dilated by 2, in tiles of 6 x 64 with
  /// AVX-512, take 1.6 ms where 24 sums, 4 vectors and 5 common elements spill, and 0.95 ms an iteration at a time.
  /// Several results of function values are never held: what functions need between is not counted, and one iteration
  /// fills the pipeline.
  /// Of loops behind each other that add to different parts of a tile, as taps at a border do, LLVM keeps no sum in its
  /// register where two iterations leave no register free: 14 x 14 pixels of 24 channels to 104, in tiles of 14 x 32 with
  /// AVX-512, take 46 us so, and 33 us an iteration at a time.
  bool registers_hold(const loop_node& loop, std::int64_t sums, bool whole) const {
    if (calls_functions(loop.body) && stored_buffers(loop.body).size() > 1) return false;
    const detail::iteration_loads loads = detail::load_counter(loop, target_).count();
    constexpr std::int64_t next = 1;  // the element in use
    if (!whole && adds_to_parts(loop) &&
        sums + 2 * (loads.vectors + next) >= target_.vector_registers)
      return false;
    return loads.common == 0 ||
           sums + loads.vectors + loads.common + next <= target_.vector_registers;
  }

  /// Whether each copy of the loop, in unrolled ones around it, adds to a part of its results.
  bool adds_to_parts(const loop_node& loop) const {
    return any_stmt(loop.body, [&](const stmt& s) {
      const if_node* n = as_if(s);
      return n && support::any(repeated_, [&](const var& v) { return uses_var(n->condition, v); });
    });
  }

  /// Accumulators of each of `sums` to which written-out loops add so many terms one after the other. Additions to one wait
  /// for each other; those to others fill the time, and those of what runs next as far as a processor looks ahead. A
  /// result of 147 terms at a time takes 6.0 ms for 112 x 112 x 64 of them so.
  std::int64_t accumulators_of(std::int64_t sums, std::int64_t terms) const {
    constexpr std::int64_t looked_ahead = 224, at_once = 8, most = 4;  // multiply-adds
    const std::int64_t busy = std::max(sums, looked_ahead / terms);
    std::int64_t out = 1;
    while (out < most && out * busy < at_once && 2 * out * sums <= target_.vector_registers / 2)
      out *= 2;
    return out;
  }

  /// The same of a loop of many iterations, for which nobody has asked: those of few would be added up longer than they run.
  /// Sums of 65,536 products with one vector of six results take 64 us with one accumulator, and 16 us with four.
  std::int64_t accumulators_alone(const loop_node& loop, std::int64_t sums) const {
    constexpr std::int64_t many = 64;
    const std::int64_t extent = constant_extent(loop);
    return extent < many || calls_functions(loop.body) ? 1 : accumulators_of(sums, extent);
  }

  /// What functions need between is not counted, and fills the pipeline.
  static bool calls_functions(const stmt& s) {
    bool calls = false;
    for_each_expr(
        s, [&](const expr& e) { calls = calls || (e->op == op::call && is_float(e.type())); });
    return calls;
  }

  /// Reductions that are written out with accumulators of their own for iterations in turn, where one of each sum would
  /// be waited for.
  stmt apart(const stmt& s) const {
    std::vector<const loop_node*> chain;
    std::int64_t terms = 1;
    for (const loop_node* l = as_loop(s);
         l && l->loop == loop_kind::unrolled && is_reduction(*l) && constant_extent(*l) > 0;
         l = as_loop(l->body)) {
      chain.push_back(l);
      terms *= constant_extent(*l);
    }
    if (chain.empty() || calls_functions(s) || !writes_out(chain.back()->body)) return s;
    const std::int64_t accumulators =
        accumulators_of(vector_statements(chain.back()->body, target_), terms);
    if (accumulators == 1) return s;
    std::vector<split_sum> sums;
    for (const buffer& b : local_sums(*chain.front()))
      if (support::all(chain,
                       [&](const loop_node* l) { return support::contains(local_sums(*l), b); }))
        sums.emplace_back(b, accumulators);
    expr turn = integer(chain.front()->var.type(), 0);
    for (const loop_node* l : chain)
      turn = turn * integer(turn.type(), constant_extent(*l)) + cast(turn.type(), l->var - l->min);
    stmt out = chain.back()->body;
    for (const split_sum& sum : sums) out = sum.rerouted(out, turn);
    for (std::size_t d = chain.size(); d-- > 0;) out = with_body(*chain[d], std::move(out));
    for (const split_sum& sum : sums) out = sum.around(std::move(out));
    return out;
  }

  stmt split(const loop_node& loop, std::int64_t extent, std::int64_t factor,
             std::int64_t accumulators) const {
    const dtype type = loop.var.type();
    const expr by = integer(type, factor);
    const expr whole =
        extent > 0 ? integer(type, extent / factor) : whole_steps(loop.extent, by, sizes_);
    const var k = make_var(loop.var->name, type), u = make_var(loop.var->name + "_u", type);
    std::vector<split_sum> sums;
    if (accumulators > 1)
      for (const buffer& b : local_sums(loop)) sums.emplace_back(b, accumulators);
    stmt body = rename_loops(substitute(loop.body, {{loop.var, loop.min + k * by + u}}));
    for (const split_sum& sum : sums) body = sum.rerouted(body, u);
    stmt main = make_loop(k, integer(type, 0), whole,
                          make_loop(u, integer(type, 0), by, std::move(body), loop_kind::unrolled),
                          loop_kind::serial, loop.annotations);
    for (const split_sum& sum : sums) main = sum.around(std::move(main));
    if (extent > 0 && extent % factor == 0) return main;
    return make_seq({std::move(main), with_domain(loop, loop.min + whole * by,
                                                  loop.extent - whole * by, loop.body)});
  }

  const target::cpu& target_;
  const unroll_limits& limits_;
  var_set sizes_;
  var_set repeated_;             // variables of unrolled loops around what is mutated
  bool in_written_out_ = false;  // inside of an unrolled reduction
};

}  // namespace tilewright::pass::detail::unroll

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function unroll_loops(const ir::function& f, const target::cpu& target,
                                            const unroll_limits& limits) {
  ir::function out = f;
  out.body = detail::unroll::unroller(target, limits).mutate(f.body);
  return out;
}

TILEWRIGHT_INLINE ir::function unroll_reductions(const ir::function& f, const target::cpu& target,
                                                 const unroll_limits& limits) {
  ir::function out = f;
  out.body = detail::unroll::reduction_unroller(target, limits, shape_variables(f)).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
