#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/gpu/block_additions.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/impl/pass/gpu/tensor/roles.hpp>
#include <tilewright/impl/pass/gpu/thread_access.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::barriers {

/// A statement with its barriers, what it touches before the first and after the last of them, and
/// whether it comes by one whatever happens.
struct part {
  stmt s;
  access_list first, last;
  bool has_barrier = false;
};

class placer {
 public:
  placer(const kernel_nest& nest, const stmt& kernel) : written_(stored_buffers(kernel)) {
    for (const loop_node* l : nest.threads) axes_.push_back({l->var, as_int(l->extent)});
    for (const auto* loops : {&nest.blocks, &nest.threads})
      for (const loop_node* l : *loops) known_.bind(l->var, range{l->min, l->extent});
    for (const loop_node* l : nest.blocks) blocks_.insert(l->var);
    for (const thread_axis& a : axes_) differing_.insert(a.place);
    fixed_.resize(axes_.size());
    find_versioned(kernel);
  }

  stmt run(const stmt& body) { return place(body).s; }

 private:
  part place(const stmt& s) {
    switch (s->kind) {
      case stmt_kind::seq: return sequence(*as_seq(s));
      case stmt_kind::loop: return loop(s, *as_loop(s));
      case stmt_kind::if_else: return branch(s, *as_if(s));
      case stmt_kind::let: return let(s, *as_let(s));
      case stmt_kind::allocate: {
        part out = place(as_allocate(s)->body);
        out.s = make_allocate(as_allocate(s)->buffer, std::move(out.s));
        return out;
      }
      case stmt_kind::attribute: {
        const attribute_node& n = *as_attribute(s);
        if (n.key == atomic_note) return addition(s);
        if (const attribute_node* two = roles::as_roles(s)) return ordered(s, *two);
        part out = place(n.body);
        out.s = make_attribute(n.node, n.key, n.value, std::move(out.s));
        return out;
      }
      case stmt_kind::while_loop:
        if (any_stmt(s, is_barrier))
          throw build_error(
              "a barrier stands in a while loop, whose length threads may not agree on");
        return leaf(s);
      case stmt_kind::evaluate:
        if (is_barrier(s)) return {s, {}, {}, true};
        return leaf(s);
      default: return leaf(s);
    }
  }

  part leaf(const stmt& s) {
    part out;
    out.s = s;
    for_each_stmt(s, [&](const stmt& x) {
      if (const store_node* n = as_store(x)) touch(n->buffer, n->indices, true, out.first);
    });
    const evaluate_node* does = as_evaluate(s);
    if (does && is_call_on_pieces(does->value)) {
      bool writes = true;
      each_piece(does->value, [&](const piece& p) {
        touch((*p.first)->buffer, (*p.first)->args, std::exchange(writes, false), out.first,
              static_cast<std::int64_t>(p.count));
      });
    } else {
      for_each_expr(s, [&](const expr& e) {
        if (e->op == op::load) touch(e->buffer, e->args, false, out.first);
      });
    }
    out.last = out.first;
    return out;
  }

  /// Threads of different roles wait for each other by arrivals. Their memory is others' before and behind, or theirs alone.
  part ordered(const stmt& s, const attribute_node& two) {
    part out;
    if (!roles::owns_memory(two)) out = leaf(two.body);
    out.s = s;
    return out;
  }

  /// What is added to is touched in one step; the rest is read as it is anywhere.
  part addition(const stmt& s) {
    const store_node* to = only_addition(s);
    part out = leaf(s);
    for (access_list* list : {&out.first, &out.last})
      for (thread_access& a : *list) a.adds = to && a.buffer == to->buffer;
    return out;
  }

  part read(const expr& e) {
    part out;
    for_each_expr(e, [&](const expr& x) {
      if (x->op == op::load) touch(x->buffer, x->args, false, out.first);
    });
    out.last = out.first;
    return out;
  }

  static void append(access_list& to, const access_list& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  /// `next` behind `so_far`; true when a barrier has to stand between.
  bool follow(part& so_far, const part& next) const {
    const bool needs = any_meet(so_far.last, next.first, axes_, {});
    if (!so_far.has_barrier && !needs) append(so_far.first, next.first);
    if (needs || next.has_barrier)
      so_far.last = next.last;
    else
      append(so_far.last, next.last);
    so_far.has_barrier = so_far.has_barrier || needs || next.has_barrier;
    return needs;
  }

  part sequence(const seq_node& seq) {
    part out;
    std::vector<stmt> all;
    for (const stmt& child : seq.stmts) {
      part next = place(child);
      if (follow(out, next)) all.push_back(barrier());
      all.push_back(std::move(next.s));
    }
    out.s = make_seq(std::move(all));
    return out;
  }

  part let(const stmt&, const let_node& n) {
    const bool differs = !uniform(n.value);
    if (differs) differing_.insert(n.var);
    part out = read(n.value), body = place(n.body);
    stmt inside = std::move(body.s);
    if (follow(out, body)) inside = make_seq({barrier(), std::move(inside)});
    out.s = make_let(n.var, n.value, std::move(inside));
    return out;
  }

  part loop(const stmt&, const loop_node& n) {
    const bool agreed = uniform(n.min) && uniform(n.extent);
    if (!agreed) differing_.insert(n.var);
    const arith::analyzer before = known_;
    known_.bind(n.var, range{n.min, n.extent});
    part body = place(n.body);
    known_ = before;
    // a vector is one access
    const bool repeats =
        n.loop != loop_kind::vectorized && (!is_int(n.extent) || as_int(n.extent) > 1);
    if (repeats && any_meet(body.last, body.first, axes_, {n.var, body.has_barrier})) {
      body.s = make_seq({std::move(body.s), barrier()});
      body.last.clear();
      body.has_barrier = true;
    }
    if (any_stmt(body.s, is_barrier) && (!agreed || n.loop == loop_kind::vectorized))
      throw build_error("threads meet at shared memory in loop " + n.var->name +
                        ", whose iterations they do not agree on; a barrier in it would not be "
                        "reached by all of them");
    part out = std::move(body);
    out.s = with_body(n, std::move(out.s));
    if (out.has_barrier && !(is_int(n.extent) && as_int(n.extent) > 0)) out.has_barrier = false;
    // where each round has a barrier, what stands before the first one is of the first round
    const bool counted = out.has_barrier && is_int(n.min) && is_int(n.extent);
    const std::int64_t begin = counted ? as_int(n.min) : 0,
                       end = counted ? begin + as_int(n.extent) : 0;
    for (thread_access& a : out.first) leave_loop(a, n.var, counted, begin);
    for (thread_access& a : out.last) leave_loop(a, n.var, counted, end - 1);
    return out;
  }

  part branch(const stmt& s, const if_node& n) {
    const bool agreed = uniform(n.condition);
    part out = read(n.condition);
    part yes = under(n.condition, n.then_body), no;
    if (n.else_body) no = under(logical_not(n.condition), n.else_body);
    const bool inside = any_stmt(yes.s, is_barrier) || (no.s && any_stmt(no.s, is_barrier));
    if (inside && !agreed) return place(moved_inwards(s, n));
    part both;
    both.has_barrier = yes.has_barrier && no.has_barrier;
    for (const part* p : {&yes, &no}) {
      append(both.first, p->first);
      append(both.last, p->last);
    }
    if (follow(out, both))
      throw build_error("a condition reads shared memory that its branches store to");
    out.s = make_if(n.condition, std::move(yes.s), std::move(no.s));
    return out;
  }

  part under(const expr& condition, const stmt& s) {
    const arith::analyzer before = known_;
    const auto fixed = fixed_;
    const std::size_t guards = guards_.size();
    known_.assume(condition);
    for (const expr& term : conjuncts(condition)) guards_.push_back(term);
    for (const expr& term : conjuncts(condition))
      for (std::size_t i = 0; i < axes_.size(); ++i)
        if (term->op == op::eq && term->args[0].same(axes_[i].place) && is_int(term->args[1]))
          fixed_[i] = as_int(term->args[1]);
    part out = place(s);
    known_ = before;
    fixed_ = fixed;
    guards_.resize(guards);
    return out;
  }

  // ---- conditions that differ between threads ---------------------------------------------------

  static stmt moved_inwards(const stmt&, const if_node& n) {
    if (reads_memory(n.condition))
      throw build_error(
          "threads meet at shared memory under a condition that reads memory; a barrier there "
          "would "
          "not be reached by all of them");
    const stmt yes = inside(n.condition, n.then_body);
    return n.else_body ? make_seq({yes, inside(logical_not(n.condition), n.else_body)}) : yes;
  }

  static stmt inside(const expr& condition, const stmt& s) {
    switch (s->kind) {
      case stmt_kind::seq: {
        std::vector<stmt> out;
        for (const stmt& child : as_seq(s)->stmts) out.push_back(inside(condition, child));
        return make_seq(std::move(out));
      }
      case stmt_kind::loop: return with_body(*as_loop(s), inside(condition, as_loop(s)->body));
      case stmt_kind::allocate:
        return make_allocate(as_allocate(s)->buffer, inside(condition, as_allocate(s)->body));
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        if (n.else_body || reads_memory(n.condition)) break;
        return make_if(n.condition, inside(condition, n.then_body));
      }
      case stmt_kind::let:
        if (reads_memory(as_let(s)->value)) break;
        return make_let(as_let(s)->var, as_let(s)->value, inside(condition, as_let(s)->body));
      case stmt_kind::evaluate:
        // a fence of the copy engine's is for all who have stored before the barrier
        if (is_barrier(s) || tensor_copies::is_call(s, tensor_copies::fence_name)) return s;
        break;
      default: break;
    }
    if (any_stmt(s, is_barrier))
      throw build_error("a barrier stands under a condition that differs between threads");
    return make_if(condition, s);
  }

  // ---- questions ----------------------------------------------------------------------------------

  /// Whether all threads of a block compute the same.
  bool uniform(const expr& e) const {
    bool out = true;
    for_each_expr(e, [&](const expr& x) {
      if (x->op == op::var && differing_.count(x)) out = false;
      if (x->op == op::call && x->name != "likely") out = false;
      if (x->op == op::load && (storage_rank(x->buffer->scope) != 0 || written_.count(x->buffer)))
        out = false;
    });
    return out;
  }

  bool is_shared(const buffer& b) const {
    const int rank = storage_rank(b->scope);
    return rank == 1 || (rank == 0 && written_.count(b));
  }

  /// @param width elements side by side, of which the indices name the first
  void touch(const buffer& b, const std::vector<expr>& indices, bool writes, access_list& out,
             std::int64_t width = 1) const {
    if (!is_shared(b)) return;
    thread_access a;
    a.width = width;
    a.buffer = b;
    a.writes = writes;
    a.fixed = fixed_;
    a.steps.resize(axes_.size());
    expr at = integer(dtype::i64, 0);
    const bool numbered = versioned_.count(b) && is_int(indices[0]);
    for (std::size_t d = numbered ? 1 : 0; d < indices.size(); ++d) {
      if (b->strides.empty())
        at = at * cast(dtype::i64, b->shape[d]) + cast(dtype::i64, indices[d]);
      else
        at = at + cast(dtype::i64, indices[d]) * cast(dtype::i64, b->strides[d]);
    }
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (fixed_[i])
        at = substitute(at, {{axes_[i].place, integer(axes_[i].place.type(), *fixed_[i])}});
    arith::linear sum = arith::to_linear(known_.simplify(at));
    if (numbered)
      a.version = buffer_version{{}, as_int(indices[0]), as_int(b->shape[0])};
    else
      a.version = take_version(sum);
    a.base = sum.constant;
    for (const auto& [term, factor] : sum.terms) split(term, factor, a);
    describe_points(sum, a);
    if (!out.empty() && goes_on(out.back(), a))
      out.back().width += a.width;
    else
      out.push_back(std::move(a));
  }

  /// What is needed to go through all that the access touches; nothing where a variable has no
  /// constant range.
  void describe_points(const arith::linear& sum, thread_access& a) const {
    a.at = sum;
    erase_if(a.at.terms, [&](const auto& t) { return a.blocks.coefficient(t.first) != 0; });
    for (const auto& [term, factor] : a.at.terms) {
      if (reads_memory(term)) return;
      for (const var& v : free_vars(term)) {
        if (is_place(v) ||
            support::any(a.domain, [&](const index_domain& d) { return d.v.same(v); }))
          continue;
        const arith::bounds range = known_.const_bounds(v);
        if (!range.bounded()) return;
        a.domain.push_back({v, range.lo, range.hi - range.lo + 1});
      }
    }
    a.known = true;
    for (const expr& g : guards_) {
      const bool inside_domain = support::all(free_vars(g), [&](const var& v) {
        return is_place(v) ||
               support::any(a.domain, [&](const index_domain& d) { return d.v.same(v); });
      });
      if (inside_domain && !reads_memory(g)) a.guards.push_back(g);
    }
    if (a.opaque) a.apart = distance_apart(a);
  }
  /// Each term as a digit: where no sum comes twice, and digits tell the thread, no two threads meet.
  std::int64_t distance_apart(const thread_access& a) const {
    support::radix digits;
    std::vector<axis_part> parts;
    for (const auto& [term, factor] : a.at.terms) {
      const arith::bounds range = known_.const_bounds(term);
      if (!range.bounded()) return 0;
      if (!range.is_point()) digits.add(std::abs(factor), range.hi - range.lo + 1);
      if (const auto part = part_of_axis(term, axes_)) parts.push_back(*part);
    }
    return tell_threads_apart(std::move(parts), a, axes_) ? digits.distance() : 0;
  }
  bool is_place(const expr& v) const {
    return support::any(axes_, [&](const thread_axis& x) { return x.place.same(v); });
  }

  /// Buffers of which a loop takes one version after the other.
  void find_versioned(const stmt& kernel) {
    const auto look = [&](const buffer& b, const std::vector<expr>& at) {
      if (!at.empty() && at[0]->op == op::floormod && is_int(at[0]->args[1]) &&
          is_int(b->shape[0]) && as_int(at[0]->args[1]) == as_int(b->shape[0]))
        versioned_.insert(b);
    };
    for_each_stmt(kernel, [&](const stmt& s) {
      if (const store_node* to = as_store(s)) look(to->buffer, to->indices);
    });
    for_each_expr(kernel, [&](const expr& e) {
      if (e->op == op::load) look(e->buffer, e->args);
    });
  }

  /// The version of a pipelined buffer, which is no part of the sum then: what is left of the index
  /// stays within one.
  std::optional<buffer_version> take_version(arith::linear& sum) const {
    for (const auto& [term, factor] : sum.terms) {
      const expr inner = term->op == op::cast ? term->args[0] : term;
      if (inner->op != op::floormod || !is_int(inner->args[1]) || !uniform(inner)) continue;
      const arith::linear round = arith::to_linear(inner->args[0]);
      if (round.terms.size() != 1 || round.terms[0].second != 1 || !is_var(round.terms[0].first))
        continue;
      arith::linear rest = sum;
      const expr mine = term;
      erase_if(rest.terms, [&](const auto& t) { return t.first.same(mine); });
      const arith::bounds range = known_.const_bounds(arith::from_linear(rest));
      if (!range.bounded() || range.lo < 0 || range.hi >= factor) continue;
      const buffer_version out{round.terms[0].first, round.constant, as_int(inner->args[1])};
      sum = rest;
      return out;
    }
    return std::nullopt;
  }

  /// Outside of the loop that numbers the rounds, an access is one of the round's version where that is known,
  /// else of any.
  static void leave_loop(thread_access& a, const var& round, bool known, std::int64_t value) {
    if (!a.version || !a.version->round || !a.version->round.same(round)) return;
    if (known) {
      a.version = buffer_version{
          {}, floor_modulo(a.version->offset + value, a.version->count), a.version->count};
      return;
    }
    a.version.reset();
    a.any_version = true;
  }

  void split(const expr& term, std::int64_t factor, thread_access& a) const {
    const expr inner = term->op == op::cast ? term->args[0] : term;
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (inner.same(axes_[i].place)) {
        a.steps[i] += factor;
        return;
      }
    const std::vector<var> vars = free_vars(inner);
    if (!reads_memory(inner) &&
        support::all(vars, [&](const var& v) { return blocks_.count(v) != 0; })) {
      a.blocks.terms.push_back({inner, factor});
      return;
    }
    const arith::bounds range = known_.const_bounds(term);
    a.opaque = a.opaque || uses_any(term, differing_) || reads_memory(term) || !range.bounded();
    if (a.opaque) return;
    a.base += factor * (factor > 0 ? range.lo : range.hi);
    a.terms.push_back({std::abs(factor), range.hi - range.lo});
  }

  thread_axes axes_;
  var_set blocks_, differing_;
  buffer_set written_, versioned_;
  arith::analyzer known_;
  std::vector<std::optional<std::int64_t>> fixed_;  // [axes] by the guards around
  std::vector<expr> guards_;
};

}  // namespace tilewright::pass::detail::barriers

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function place_barriers(const ir::function& f) {
  ir::function out = f;
  out.body = rewrite_kernels(f.body, [](const ir::stmt& kernel) {
    const kernel_nest nest = nest_of(kernel);
    detail::barriers::check_block_additions(nest, kernel);
    return with_kernel_body(nest, nest.shared,
                            detail::barriers::placer(nest, kernel).run(nest.body));
  });
  return out;
}

}  // namespace tilewright::pass
