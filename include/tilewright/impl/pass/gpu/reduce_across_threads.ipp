#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/accumulation.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/gpu/reduce_across_threads.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::thread_reductions {

using namespace tilewright::ir;
using reductions::accumulation;

inline constexpr std::int64_t warp_size = 32;

inline bool is_bound(const loop_node& loop) { return loop.loop == loop_kind::thread_binding; }

/// A nest of reduction loops, some of them threads, with guards between, around one accumulation.
struct nest {
  stmt whole;                             // keeps what the pointers below point to
  std::vector<stmt> serial;               // loops and ifs to put around the accumulation again
  std::vector<const loop_node*> threads;  // outermost first
  accumulation step;
};

/// The longest loop on each axis in a statement.
inline std::int64_t longest_on(const stmt& s, const std::string& tag) {
  std::int64_t out = 1;
  for_each_stmt(s, [&](const stmt& x) {
    if (const loop_node* l = as_loop(x); l && is_bound(*l) && l->thread_tag == tag)
      out = std::max(out, constant_extent(*l));
  });
  return out;
}

class reducer : public mutator {
 public:
  explicit reducer(const thread_reduction_options& options) : options_(options) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    if (is_reduction(*loop) && has_threads(*loop)) return across_threads(*loop);
    const bool outermost = depth_++ == 0;
    if (outermost) row_ = longest_on(s, "threadIdx.x");
    if (is_bound(*loop)) around_.push_back(loop);
    stmt out = mutator::mutate(s);
    if (is_bound(*loop)) around_.pop_back();
    --depth_;
    return out;
  }

 private:
  /// Whether one of the reduction loops that begin here is bound to threads.
  static bool has_threads(const loop_node& loop) {
    return any_stmt(with_body(loop, loop.body), [](const stmt& s) {
      const loop_node* l = as_loop(s);
      return l && is_reduction(*l) && is_bound(*l);
    });
  }

  static std::optional<nest> match(const loop_node& outermost) {
    nest out;
    stmt s = out.whole = with_body(outermost, outermost.body);
    annotations notes;
    for (;;) {
      if (const loop_node* loop = as_loop(s)) {
        if (!is_reduction(*loop)) return std::nullopt;
        notes.insert(loop->annotations.begin(), loop->annotations.end());
        if (is_bound(*loop))
          out.threads.push_back(loop);
        else
          out.serial.push_back(s);
        s = loop->body;
      } else if (const if_node* guard = as_if(s); guard && !guard->else_body) {
        out.serial.push_back(s);
        s = guard->then_body;
      } else {
        break;
      }
    }
    const stmt last = make_loop(make_var("k"), 0, 1, s, loop_kind::serial, notes);
    std::optional<accumulation> step = reductions::match_accumulation(*as_loop(last));
    if (!step) return std::nullopt;
    out.step = std::move(*step);
    for (const std::vector<expr>& at : out.step.at)
      for (const expr& e : at)
        for (const loop_node* l : out.threads)
          if (uses_var(e, l->var)) return std::nullopt;
    return out;
  }

  stmt across_threads(const loop_node& outermost) {
    const std::optional<nest> n = match(outermost);
    if (!n)
      throw build_error("the reduction over loop " + outermost.var->name +
                        " is spread over threads and is none of the reducers that lowering knows; "
                        "give its block a reducer, or reduce in each thread (rfactor)");
    const accumulation& step = n->step;
    std::vector<buffer> parts;
    for (const buffer& to : step.to)
      parts.push_back(make_buffer(to->name + "_part", to->type, {expr(1)}, "local"));
    std::vector<stmt> body;
    store_all(parts, step.identity(), body);
    body.push_back(accumulate(*n, parts));
    exchange(*n, parts, body);
    const expr reduces = conjunction(conditions_of_element(*n));
    stmt last = deliver(*n, parts);
    body.push_back(is_true(reduces) ? std::move(last) : make_if(reduces, std::move(last)));
    stmt out = make_seq(std::move(body));
    for (auto p = parts.rbegin(); p != parts.rend(); ++p) out = make_allocate(*p, std::move(out));
    for (auto l = n->threads.rbegin(); l != n->threads.rend(); ++l) {
      auto* node = new loop_node(**l);
      node->annotations.clear();
      node->body = std::move(out);
      out = stmt(node);
    }
    return out;
  }

  /// What decides whether the element is reduced at all, whichever iteration.
  static std::vector<expr> conditions_of_element(const nest& n) {
    var_set loops;
    for (const loop_node* l : n.threads) loops.insert(l->var);
    for (const stmt& s : n.serial)
      if (as_loop(s)) loops.insert(as_loop(s)->var);
    std::vector<expr> out;
    for (const stmt& s : n.serial)
      if (const if_node* guard = as_if(s))
        for (const expr& term : conjuncts(guard->condition))
          if (!uses_any(term, loops)) out.push_back(term);
    return out;
  }

  static std::vector<expr> zero() { return {expr(0)}; }
  static std::vector<expr> loads(const std::vector<buffer>& parts) {
    std::vector<expr> out;
    for (const buffer& p : parts) out.push_back(load(p, zero()));
    return out;
  }
  static void store_all(const std::vector<buffer>& to, const std::vector<expr>& values,
                        std::vector<stmt>& out) {
    for (std::size_t t = 0; t < to.size(); ++t) out.push_back(make_store(to[t], zero(), values[t]));
  }

  /// parts = values, all of them computed before one is stored.
  static stmt assign(const std::vector<buffer>& parts, const std::vector<expr>& values) {
    if (parts.size() == 1) return make_store(parts[0], zero(), values[0]);
    std::vector<var> vars;
    std::vector<stmt> stores;
    for (std::size_t t = 0; t < parts.size(); ++t) {
      vars.push_back(make_var(parts[t]->name + "_next", values[t].type()));
      stores.push_back(make_store(parts[t], zero(), vars[t]));
    }
    stmt out = make_seq(std::move(stores));
    for (std::size_t t = parts.size(); t-- > 0;) out = make_let(vars[t], values[t], std::move(out));
    return out;
  }

  /// The nest without its threads, on the parts.
  static stmt accumulate(const nest& n, const std::vector<buffer>& parts) {
    stmt out = assign(parts, n.step.next(loads(parts)));
    for (auto s = n.serial.rbegin(); s != n.serial.rend(); ++s)
      out = as_loop(*s) ? with_body(*as_loop(*s), std::move(out))
                        : make_if(as_if(*s)->condition, std::move(out));
    return out;
  }

  /// Lanes that exchange within a warp; 1 when all goes through shared memory.
  std::int64_t lanes_of(const nest& n) const {
    if (!options_.shuffles || n.threads.size() != 1 || n.threads[0]->thread_tag != "threadIdx.x")
      return 1;
    const std::int64_t extent = constant_extent(*n.threads[0]);
    const std::int64_t lanes = std::min(extent, warp_size);
    const bool fits = extent > 1 && (extent & (extent - 1)) == 0 && is_int(n.threads[0]->min, 0);
    return fits && row_ % lanes == 0 ? lanes : 1;
  }

  void exchange(const nest& n, const std::vector<buffer>& parts, std::vector<stmt>& out) const {
    const std::int64_t lanes = lanes_of(n);
    for (std::int64_t apart = lanes / 2; apart > 0; apart /= 2) {
      std::vector<expr> others, vars;
      for (const expr& mine : loads(parts)) {
        others.push_back(call(mine.type(), "tw_shuffle_xor",
                              {mine, integer(dtype::i32, apart), integer(dtype::i32, lanes)}));
        vars.push_back(make_var("other", mine.type()));
      }
      stmt s = assign(parts, n.step.combined(loads(parts), vars));
      for (std::size_t t = parts.size(); t-- > 0;) s = make_let(vars[t], others[t], std::move(s));
      out.push_back(std::move(s));
    }
    std::int64_t rest = 1;
    for (const loop_node* l : n.threads) rest *= constant_extent(*l);
    rest /= lanes;
    if (rest > 1) through_shared(n, parts, lanes, rest, out);
  }

  /// Position of the thread among those of the reduction.
  static expr number_of(const nest& n) {
    expr out = integer(dtype::i32, 0);
    for (const loop_node* l : n.threads)
      out = out * integer(dtype::i32, constant_extent(*l)) +
            (l->var.type() == dtype::i32 ? l->var : cast(dtype::i32, l->var)) -
            (l->min.type() == dtype::i32 ? l->min : cast(dtype::i32, l->min));
    return out;
  }

  void through_shared(const nest& n, const std::vector<buffer>& parts, std::int64_t lanes,
                      std::int64_t slots, std::vector<stmt>& out) const {
    // threads on other axes have a row each
    std::vector<expr> shape, row;
    for (const loop_node* l : around_) {
      if (l->thread_tag.rfind("threadIdx", 0) != 0) continue;
      const bool own = support::any(
          n.threads, [&](const loop_node* t) { return t->thread_tag == l->thread_tag; });
      if (own) continue;
      shape.push_back(integer(dtype::i32, constant_extent(*l)));
      const expr at = l->var - l->min;
      row.push_back(at.type() == dtype::i32 ? at : cast(dtype::i32, at));
    }
    shape.push_back(integer(dtype::i32, slots));
    const auto place = [&](const expr& slot) {
      std::vector<expr> at = row;
      at.push_back(slot);
      return at;
    };
    std::vector<buffer> stages;
    for (const buffer& p : parts)
      stages.push_back(make_buffer(p->name + "_of_threads", p->type, shape, "shared"));
    const expr number = number_of(n), lane_count = integer(dtype::i32, lanes);
    std::vector<stmt> fill, all;
    for (std::size_t t = 0; t < parts.size(); ++t)
      fill.push_back(
          make_store(stages[t], place(floordiv(number, lane_count)), load(parts[t], zero())));
    stmt filled = make_seq(std::move(fill));
    if (lanes > 1)
      filled = make_if(eq(floormod(number, lane_count), integer(dtype::i32, 0)), std::move(filled));
    all.push_back(std::move(filled));
    const auto staged = [&](const expr& slot) {
      std::vector<expr> values;
      for (const buffer& s : stages) values.push_back(load(s, place(slot)));
      return values;
    };
    store_all(parts, staged(expr(0)), all);
    const var slot = make_var("slot");
    all.push_back(make_loop(slot, expr(1), integer(dtype::i32, slots - 1),
                            assign(parts, n.step.combined(loads(parts), staged(slot)))));
    stmt s = make_seq(std::move(all));
    for (auto b = stages.rbegin(); b != stages.rend(); ++b) s = make_allocate(*b, std::move(s));
    out.push_back(std::move(s));
  }

  static stmt deliver(const nest& n, const std::vector<buffer>& parts) {
    const accumulation& step = n.step;
    std::vector<expr> before;
    bool own = true;
    for (std::size_t t = 0; t < step.to.size(); ++t) {
      before.push_back(load(step.to[t], step.at[t]));
      own = own && storage_rank(step.to[t]->scope) == 3;
    }
    const std::vector<expr> values = step.combined(before, loads(parts));
    std::vector<var> vars;
    std::vector<stmt> stores;
    for (std::size_t t = 0; t < step.to.size(); ++t) {
      vars.push_back(make_var(step.to[t]->name + "_total", values[t].type()));
      stores.push_back(make_store(step.to[t], step.at[t], vars[t]));
    }
    stmt out = make_seq(std::move(stores));
    for (std::size_t t = step.to.size(); t-- > 0;)
      out = make_let(vars[t], values[t], std::move(out));
    if (own) return out;
    expr first = boolean(true);
    for (const loop_node* l : n.threads) first = logical_and(first, eq(l->var, l->min));
    return make_if(first, std::move(out));
  }

  thread_reduction_options options_;
  std::vector<const loop_node*> around_;  // loops on threads
  std::int64_t row_ = 1;                  // threads along x of the kernel
  int depth_ = 0;
};

}  // namespace tilewright::pass::detail::thread_reductions

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function reduce_across_threads(const ir::function& f,
                                                     const thread_reduction_options& options) {
  ir::function out = f;
  out.body = detail::thread_reductions::reducer(options).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
