#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/accumulators/rising_positions.hpp>
#include <tilewright/impl/pass/allocation_places.hpp>
#include <tilewright/impl/pass/vector/own_lanes.hpp>
#include <tilewright/impl/pass/vector/read_once.hpp>
#include <tilewright/impl/pass/vector/stride_wishes.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::blocks {

using namespace tilewright::ir;

/// Rewrites accesses of match buffers into accesses of their sources.
class match_resolver : public rerouting {
 public:
  explicit match_resolver(const stmt& body) {
    for_each_stmt(body, [&](const stmt& s) {
      if (const block_realize_node* r = as_realize(s))
        for (const match_buffer& m : r->block->match_buffers) sources_[m.buffer] = m.source;
    });
  }
  using rerouting::mutate;
  block mutate(const block& b) override {
    if (b->match_buffers.empty()) return mutator::mutate(b);
    read_once once(written(*b));
    for (const match_buffer& m : b->match_buffers)
      for (range& r : sources_[m.buffer].box) r.min = once(mutate(r.min), m.buffer->name + "_at");
    block_node plain = *mutator::mutate(b);
    plain.match_buffers.clear();
    if (plain.init) plain.init = once.around(plain.init);
    plain.body = once.around(plain.body);
    return make_block(std::move(plain));
  }

 private:
  bool reroutes(const buffer& b) const override { return sources_.count(b) != 0; }
  /// The source of a part may be a part itself.
  buffer_element rerouted(const buffer& b, std::vector<expr> indices) override {
    buffer_element out{b, std::move(indices)};
    for (auto at = sources_.find(b); at != sources_.end(); at = sources_.find(out.of))
      out = {at->second.buffer, rebase(at->second, out.indices)};
    return out;
  }
  /// What a block stores to, through whatever it sees it.
  buffer_set written(const block_node& b) const {
    buffer_set seen = stored_buffers(b.body), out;
    if (b.init) seen.merge(stored_buffers(b.init));
    for (buffer x : seen) {
      for (auto at = sources_.find(x); at != sources_.end(); at = sources_.find(x))
        x = at->second.buffer;
      out.insert(x);
    }
    return out;
  }

  /// Dimensions correspond from the right; leading ones of the source are single points.
  static std::vector<expr> rebase(const buffer_region& source, const std::vector<expr>& indices) {
    std::vector<expr> out;
    const std::size_t skip = source.box.size() - indices.size();
    for (std::size_t d = 0; d < source.box.size(); ++d)
      out.push_back(d < skip ? source.box[d].min : source.box[d].min + indices[d - skip]);
    return out;
  }
  std::unordered_map<buffer, buffer_region> sources_;
};

/// True when a block other than `self` inside `s` touches `b`, or a statement outside any block
/// does.
class other_access : public visitor {
 public:
  other_access(const buffer& b, const block& self) : buffer_(b), self_(self) {}
  using visitor::visit;
  void visit(const expr& e) override {
    if (e->op == op::load && e->buffer == buffer_) found = true;
    visitor::visit(e);
  }
  void visit(const stmt& s) override {
    if (const block_realize_node* r = as_realize(s); r && r->block == self_) {
      for (const expr& v : r->values) visit(v);
      return;
    }
    if (const store_node* store = as_store(s); store && store->buffer == buffer_) found = true;
    visitor::visit(s);
  }
  void visit(const block& b) override {  // declared regions are no accesses
    if (b->init) visit(b->init);
    visit(b->body);
  }
  bool found = false;

 private:
  buffer buffer_;
  block self_;
};

class lowering : public mutator {
 public:
  lowering(allocation_places places, stride_wishes wishes, const function& f)
      : places_(std::move(places)),
        wishes_(std::move(wishes)),
        sizes_(shape_variables(f)),
        in_order_(keeps_term_order(f)) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    stmt out = lower(s);
    const auto place = places_.find(s.get());
    if (place == places_.end()) return out;
    for (const buffer& b : place->second) {
      const auto wishes = wishes_.find(b);
      if (wishes != wishes_.end() && out) out = with_wishes(b, wishes->second, std::move(out));
      out = make_allocate(b, std::move(out));
    }
    return out;
  }

 private:
  struct pending_init {
    var loop;  // in front of which it goes
    stmt body;
  };

  stmt lower(const stmt& s) {
    switch (s->kind) {
      case stmt_kind::loop: return lower_loop(s);
      case stmt_kind::block_realize: return lower_realize(*as_realize(s));
      case stmt_kind::seq: return mutator::mutate(s);
      default: {
        // nothing moves across ifs, lets and the like
        const std::size_t fence = std::exchange(fence_, path_.size());
        stmt out = mutator::mutate(s);
        fence_ = fence;
        return out;
      }
    }
  }

  stmt lower_loop(const stmt& s) {
    const loop_node& loop = *as_loop(s);
    path_.push_back(s);
    stmt body = mutate(loop.body);
    path_.pop_back();
    annotations notes = loop.annotations;
    // threads that add to memory by themselves have nothing to add up among each other
    const bool apart = loop.loop == loop_kind::thread_binding && added_by_.count(loop.var) != 0;
    if (const auto given = reduce_vars_.find(loop.var); given != reduce_vars_.end() && !apart) {
      notes[reduction_note] = 1;
      for (const auto& [key, value] : given->second) notes.try_emplace(key, value);
      if (in_order_ && given->second.count(reduction_lanes_note) != 0)
        notes[reduction_lanes_note] = given->second.at(reduction_lanes_note);
    }
    read_once once(stored_buffers(loop.body));
    const expr min = once(loop.min, loop.var->name + "_first"),
               extent = once(loop.extent, loop.var->name + "_extent");
    stmt out = once.around(
        make_loop(loop.var, min, extent, body, loop.loop, std::move(notes), loop.thread_tag));
    std::vector<stmt> sequence;
    for (pending_init& p : pending_)
      if (p.loop.same(loop.var)) sequence.push_back(std::exchange(p.body, {}));
    std::erase_if(pending_, [](const pending_init& p) { return !p.body; });
    sequence.push_back(std::move(out));
    return make_seq(std::move(sequence));
  }

  /// A reduction of one step needs no memory for what it starts from: Y = 0 and Y = Y + x are
  /// Y = 0 + x.
  static block of_one_step(const block& b) {
    const store_node* init = b->init ? as_store(b->init) : nullptr;
    const store_node* step = as_store(b->body);
    const bool once = support::all(b->iters, [](const iter_var& i) {
      return i.kind != iter_kind::reduce || is_int(i.dom.extent, 1);
    });
    if (!init || !step || !once || init->buffer != step->buffer ||
        !same_indices(init->indices, step->indices))
      return b;
    struct start : mutator {
      explicit start(const store_node& of) : init(of) {}
      using mutator::mutate;
      expr mutate(const expr& e) override {
        const bool here = e->op == op::load && e->buffer == init.buffer;
        return here && same_indices(e->args, init.indices) ? init.value : mutator::mutate(e);
      }
      const store_node& init;
    } put(*init);
    block_node out = *b;
    out.init = {};
    out.body = make_store(step->buffer, step->indices, put.mutate(step->value));
    return make_block(std::move(out));
  }

  stmt lower_realize(const block_realize_node& r) {
    const block b = of_one_step(r.block);
    const std::size_t fence = std::exchange(fence_, path_.size());
    stmt body = mutate(b->body);
    stmt init = b->init ? mutate(b->init) : stmt{};
    fence_ = fence;
    buffer_set written = stored_buffers(b->body);
    if (b->init) written.merge(stored_buffers(b->init));
    read_once once(std::move(written));
    var_map binding;
    for (std::size_t k = 0; k < b->iters.size(); ++k) {
      const var& v = b->iters[k].var;
      expr value = r.values[k];
      if (value.type() != v.type()) value = cast(v.type(), value);
      binding[v] = once(value, v->name);
    }
    body = substitute(body, binding);
    if (ir::has_atomic_note(b->annotations)) body = added(r, std::move(body));
    note_reduction_loops(r);
    if (init && (!once.empty() || !hoist_init(r, substitute(init, binding))))
      body = make_seq({guarded(init_condition(r), substitute(init, binding)), body});
    return guarded(r.predicate, once.around(std::move(body)));
  }

  /// The body of a block that adds atomically, which says so.
  stmt added(const block_realize_node& r, stmt body) {
    if (!adds_atomically(*r.block))
      throw build_error(
          "block " + r.block->name +
          " says that it adds atomically, and is no single addition to global memory; schedule it "
          "before add_atomically, or leave that out");
    if (in_order_ && reduces_floats(*r.block))
      throw build_error(
          "block " + r.block->name +
          " adds atomically, in any order, and the function keeps the order of terms");
    for (std::size_t k = 0; k < r.values.size(); ++k)
      for (const var& v : free_vars(r.values[k])) added_by_.insert(v);
    return make_attribute(integer(dtype::i32, 0), atomic_note, integer(dtype::i32, 1),
                          std::move(body));
  }

  static stmt guarded(const expr& condition, stmt body) {
    return is_true(condition) ? body : make_if(condition, std::move(body));
  }

  const loop_node* enclosing(const var& v) const {
    for (const stmt& s : path_)
      if (as_loop(s)->var.same(v)) return as_loop(s);
    return nullptr;
  }

  void note_reduction_loops(const block_realize_node& r) {
    annotations given;
    for (const char* key : {reduction_lanes_note, long_rows_note, reducer_note, skip_zeros_note})
      if (const auto note = r.block->annotations.find(key); note != r.block->annotations.end())
        given.insert(*note);
    if (in_order_) {  // whatever the block asks for
      given.erase(skip_zeros_note);
      if (reduces_floats(*r.block)) given[reduction_lanes_note] = 0;
    }
    for (std::size_t k = 0; k < r.values.size(); ++k)
      if (r.block->iters[k].kind == iter_kind::reduce)
        for (const var& v : free_vars(r.values[k])) reduce_vars_[v] = given;
  }

  /// Conjunction of "this reduce variable is at its start", split into single loop variables where
  /// the value is a sum of them with positive factors.
  expr init_condition(const block_realize_node& r) const {
    std::vector<expr> terms;
    for (std::size_t k = 0; k < r.values.size(); ++k) {
      const iter_var& iter = r.block->iters[k];
      if (iter.kind != iter_kind::reduce) continue;
      const expr whole = eq(r.values[k], iter.dom.min);
      if (is_true(whole)) continue;
      const arith::linear sum = arith::to_linear(r.values[k] - iter.dom.min);
      std::int64_t rest = sum.constant;
      std::vector<expr> parts;
      for (const auto& [term, factor] : sum.terms) {
        const loop_node* loop = enclosing(term);
        if (!loop || factor <= 0 || !is_int(loop->min)) break;
        rest += factor * as_int(loop->min);
        parts.push_back(eq(term, loop->min));
      }
      if (parts.size() == sum.terms.size() && rest == 0)
        terms.insert(terms.end(), parts.begin(), parts.end());
      else
        terms.push_back(whole);
    }
    return conjunction(terms);
  }

  /// Whether the loops of the reduction begin at the start of its variables; those of a later part
  /// of a partitioned range do not, and must not initialize again.
  bool starts_in_first_iteration(const block_realize_node& r, const var_set& reduce) const {
    var_map first;
    for (const stmt& s : path_)
      if (const loop_node* l = as_loop(s); l && reduce.count(l->var)) first.emplace(l->var, l->min);
    return is_true(arith::simplify(substitute(init_condition(r), first)));
  }

  /// Puts the initialization in front of the outermost reduction loop, under copies of the loops
  /// inside it that choose the element. False where that could change what is computed.
  bool hoist_init(const block_realize_node& r, const stmt& init) {
    var_set reduce, spatial;
    for (std::size_t k = 0; k < r.values.size(); ++k)
      for (const var& v : free_vars(r.values[k]))
        (r.block->iters[k].kind == iter_kind::reduce ? reduce : spatial).insert(v);
    std::size_t first = path_.size();
    for (std::size_t d = path_.size(); d-- > 0;)
      if (reduce.count(as_loop(path_[d])->var)) first = d;
    if (first == path_.size() || first < fence_) return false;
    const loop_node& outermost = *as_loop(path_[first]);
    for (const var& v : reduce)
      if (spatial.count(v)) return false;
    if (!starts_in_first_iteration(r, reduce)) return false;
    for (const buffer& b : stored_buffers(init)) {
      other_access others(b, r.block);
      others.visit(outermost.body);
      if (others.found) return false;
    }
    const buffer_set written = stored_buffers(outermost.body);
    for (const buffer& b : loaded_buffers(init))
      if (written.count(b)) return false;
    if (loads_any(r.predicate, written)) return false;
    for (std::size_t d = first; d < path_.size(); ++d)
      if (const loop_node& l = *as_loop(path_[d]);
          loads_any(l.min, written) || loads_any(l.extent, written))
        return false;
    return push_init(r, init, first, reduce);
  }

  bool push_init(const block_realize_node& r, const stmt& init, std::size_t first,
                 const var_set& reduce) {
    var_map map;
    for (std::size_t d = first; d < path_.size(); ++d)
      if (reduce.count(as_loop(path_[d])->var))
        map[as_loop(path_[d])->var] = as_loop(path_[d])->min;
    expr runs = substitute(r.predicate, map);
    for (std::size_t d = first; d < path_.size(); ++d)
      if (const loop_node& l = *as_loop(path_[d]); reduce.count(l.var) && may_be_empty(l))
        runs = logical_and(lt(integer(l.extent.type(), 0), substitute(l.extent, map)), runs);
    stmt body = guarded(runs, substitute(init, map));
    for (std::size_t d = path_.size(); d-- > first;) {
      const loop_node& loop = *as_loop(path_[d]);
      if (reduce.count(loop.var) || !mentions(body, loop.var)) continue;
      if (loop.loop == loop_kind::thread_binding) return false;
      const var copy = make_var(loop.var->name + "_init", loop.var.type());
      body = make_loop(copy, substitute(loop.min, map), substitute(loop.extent, map),
                       substitute(body, {{loop.var, copy}}), loop.loop);
    }
    pending_.push_back({as_loop(path_[first])->var, std::move(body)});
    return true;
  }

  /// A loop that follows others, or data, may run in some of their iterations alone; then nothing is
  /// initialized in the rest. Sums over symbolic extents of 0 are.
  bool may_be_empty(const loop_node& l) const {
    if (is_int(l.extent)) return as_int(l.extent) < 1;
    const std::vector<var> vars = free_vars(l.extent);
    return reads_memory(l.extent) ||
           !support::all(vars, [&](const var& v) { return sizes_.count(v) != 0; });
  }

  static bool mentions(const stmt& s, const var& v) {
    bool found = false;
    for_each_expr(s, [&](const expr& e) { found = found || e.same(v); });
    return found;
  }

  allocation_places places_;
  stride_wishes wishes_;
  var_set sizes_;
  bool in_order_;           // the function keeps the order of its terms
  std::vector<stmt> path_;  // enclosing loops
  std::size_t fence_ = 0;   // loops before this index are out of reach for hoisting
  std::unordered_map<expr, annotations, expr_identity_hash, expr_identity_equal> reduce_vars_;
  var_set added_by_;  // variables that blocks which add atomically are bound to
  std::vector<pending_init> pending_;
};

}  // namespace tilewright::pass::detail::blocks

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function lower_blocks(const ir::function& f) {
  using namespace detail::blocks;
  ir::function out = f;
  const ir::stmt resolved = match_resolver(f.body).mutate(f.body);
  auto [body, places] =
      detail::place_allocations(detail::rising_positions::dropper().mutate(resolved));
  detail::stride_wishes wishes;
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::block_realize_node* r = ir::as_realize(s)) collect_wishes(*r->block, wishes);
  });
  out.body = lowering(std::move(places), std::move(wishes), f).mutate(body);
  return out;
}

}  // namespace tilewright::pass
