// Where the buffers that blocks allocate live: around the smallest statement that holds every
// access, outside of the loops that carry their values from one iteration to the next.
#pragma once

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/impl/dependence/carried_values.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail {

/// The buffers to allocate around a statement.
using allocation_places = std::unordered_map<const ir::stmt_node*, std::vector<ir::buffer>>;

/// What iterations that run beside each other touch at places that are not proved to be different
/// ones, and nobody else does.
struct shared_buffers {
  /// Lanes of the vectorized loop have it each for themselves.
  std::unordered_map<ir::buffer, const ir::loop_node*> of_lanes;
  /// The iterations have to run one after the other.
  std::vector<const ir::loop_node*> serial;

  bool empty() const { return of_lanes.empty() && serial.empty(); }
};

namespace lifetime {

using namespace ir;
using namespace dependence::carried_values;

class placer : public visitor {
 public:
  using visitor::visit;
  explicit placer(const stmt& body) { visit(body); }

  shared_buffers shared() const {
    shared_buffers out;
    for (const buffer& b : allocated_) {
      const life& l = lives_.at(b);
      if (!is_read(l)) continue;
      const std::vector<std::size_t> loops = loops_of(l);
      for (std::size_t k = 0; k < loops.size(); ++k)
        if (shares(l, loops, k)) share(b, l, loops, k, out);
    }
    return out;
  }

  allocation_places places() const {
    allocation_places out;
    for (const buffer& b : allocated_)
      if (const life& l = lives_.at(b); !l.all.empty()) out[home(b, l)].push_back(b);
    return out;
  }

  /// Whether an iteration of the loop may load of the buffer what only an earlier one has stored; of a
  /// buffer that no block allocates it is not known.
  bool carries(const var& loop, const buffer& b) const {
    const auto found = lives_.find(b);
    if (found == lives_.end()) return true;
    std::size_t position = 0;  // of the loop, around all that is in it
    const auto is_inside = [&](const access& a) {
      for (std::size_t k = 0; k < a.loops.size(); ++k)
        if (a.loops[k].first.same(loop)) return position = k, true;
      return false;
    };
    std::vector<access> inside;
    std::copy_if(found->second.all.begin(), found->second.all.end(), std::back_inserter(inside),
                 is_inside);
    const arith::analyzer known = knowing(inside);
    return !inside.empty() && accesses{b->shape, inside, known}.carried_by(position);
  }

  void visit(const expr& e) override {
    if (e->op == op::load) touch(e->buffer, e->args, false);
    if (e->op == op::data) {
      touch(e->buffer, {}, false);
      touch(e->buffer, {}, true);
    }
    visitor::visit(e);
  }

  void visit(const stmt& s) override {
    path_.push_back(s.get());
    switch (s->kind) {
      case stmt_kind::block_realize: visit_realize(*as_realize(s)); break;
      case stmt_kind::seq: visit_sequence(as_seq(s)->stmts); break;
      case stmt_kind::if_else: visit_branches(*as_if(s)); break;
      case stmt_kind::loop: {
        const loop_node& n = *as_loop(s);
        loops_.emplace_back(n.var,
                            range{substitute(n.min, values_), substitute(n.extent, values_)});
        visitor::visit(s);
        loops_.pop_back();
        break;
      }
      case stmt_kind::store:
        visitor::visit(s);
        touch(as_store(s)->buffer, as_store(s)->indices, true);
        break;
      case stmt_kind::let:
        values_.emplace(as_let(s)->var, substitute(as_let(s)->value, values_));
        visitor::visit(s);
        break;
      case stmt_kind::while_loop:
        guards_.push_back(as_while(s)->condition);
        visitor::visit(s);
        guards_.pop_back();
        break;
      default: visitor::visit(s);
    }
    path_.pop_back();
  }

 private:
  /// What is known about one buffer.
  struct life {
    std::size_t block = 0;                 // length of the path to the block that allocates it
    std::vector<const stmt_node*> around;  // the path to the statement that holds all accesses
    std::vector<access> all;
  };
  struct carried_scope {
    buffer_set written;
    std::size_t limit;  // length of the path down to the outermost carried loop, inclusive
  };

  void visit_sequence(const std::vector<stmt>& list) {
    turns_.push_back({0, loops_.size()});
    for (const stmt& s : list) {
      visit(s);
      ++turns_.back().position;
    }
    turns_.pop_back();
  }

  void visit_branches(const if_node& n) {
    visit(n.condition);
    under(n.condition, [&] { visit(n.then_body); });
    if (n.else_body) under(logical_not(n.condition), [&] { visit(n.else_body); });
  }

  template <class F>
  void under(const expr& condition, F f) {
    const std::size_t before = guards_.size();
    for (const expr& c : conjuncts(condition)) guards_.push_back(substitute(c, values_));
    f();
    guards_.resize(before);
  }

  void visit_realize(const block_realize_node& r) {
    for (const expr& v : r.values) visit(v);
    visit(r.predicate);
    const block& b = r.block;
    for (const buffer& x : b->alloc_buffers) {
      allocated_.push_back(x);
      lives_[x].block = path_.size();
    }
    for (std::size_t k = 0; k < b->iters.size(); ++k)
      values_[b->iters[k].var] = cast(b->iters[k].var.type(), substitute(r.values[k], values_));
    const std::size_t limit = carried_depth(*b);
    const bool carried = limit < path_.size();
    if (carried) scopes_.push_back({stored_buffers(b->body), limit});
    under(r.predicate, [&] { visit_parts(*b); });
    if (carried) scopes_.pop_back();
  }

  /// Length of the path down to the outermost loop that drives an iteration variable which is not
  /// spatial.
  std::size_t carried_depth(const block_node& b) const {
    std::size_t limit = path_.size();
    for (const iter_var& i : b.iters)
      if (i.kind != iter_kind::spatial)
        for (const var& v : free_vars(values_.at(i.var))) limit = std::min(limit, depth_of(v));
    return limit;
  }

  /// The initialization happens where the reduce variables start, before the body.
  void visit_parts(const block_node& b) {
    turns_.push_back({0, loops_.size()});
    if (b.init) {
      const std::size_t before = guards_.size();
      for (const iter_var& i : b.iters)
        if (i.kind == iter_kind::reduce) guards_.push_back(eq(values_.at(i.var), i.dom.min));
      visit(b.init);
      guards_.resize(before);
    }
    ++turns_.back().position;
    visit(b.body);
    turns_.pop_back();
  }

  std::size_t depth_of(const var& v) const {
    for (std::size_t d = 0; d < path_.size(); ++d)
      if (path_[d]->kind == stmt_kind::loop && static_cast<const loop_node*>(path_[d])->var.same(v))
        return d + 1;
    return path_.size();
  }

  void touch(const buffer& b, const std::vector<expr>& indices, bool writes) {
    const auto found = lives_.find(b);
    if (found == lives_.end()) return;
    life& l = found->second;
    hold(b, l);
    access a;
    a.writes = writes;
    a.whole = indices.size() != b->shape.size();
    for (const expr& index : indices) a.indices.push_back(substitute(index, values_));
    a.guards = guards_;
    a.loops = loops_;
    a.turns = turns_;
    l.all.push_back(std::move(a));
  }

  /// Widens the statement that holds all accesses to hold this one.
  void hold(const buffer& b, life& l) const {
    std::size_t length = path_.size();
    for (const carried_scope& s : scopes_)
      if (s.written.count(b)) length = std::min(length, s.limit);
    for (std::size_t d = 0; d < length; ++d)
      if (path_[d]->kind == stmt_kind::loop &&
          static_cast<const loop_node*>(path_[d])->loop == loop_kind::vectorized)
        length = d + 1;
    if (l.all.empty()) {
      l.around.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(length));
      return;
    }
    std::size_t same = 0;
    while (same < length && same < l.around.size() && l.around[same] == path_[same]) ++same;
    l.around.resize(same);
  }

  static const loop_node* loop_at(const stmt_node* s) {
    return s->kind == stmt_kind::loop ? static_cast<const loop_node*>(s) : nullptr;
  }
  static bool is_read(const life& l) {
    return support::any(l.all, [](const access& a) { return !a.writes; });
  }
  /// The loops around the statement that holds all accesses, it included: positions in the path.
  static std::vector<std::size_t> loops_of(const life& l) {
    std::vector<std::size_t> out;
    for (std::size_t d = 0; d < l.around.size(); ++d)
      if (loop_at(l.around[d])) out.push_back(d);
    return out;
  }
  static arith::analyzer knowing(const std::vector<access>& all) {
    arith::analyzer out;
    for (const access& a : all) out.bind_new(a.loops);
    return out;
  }

  /// Whether the iterations of a loop run beside each other with the buffer in common: all that is in
  /// a vectorized loop, of parallel ones what a loop around may carry.
  static bool shares(const life& l, const std::vector<std::size_t>& loops, std::size_t k) {
    const loop_node& n = *loop_at(l.around[loops[k]]);
    if (is_unit(n)) return false;
    return n.loop == loop_kind::vectorized ||
           (n.loop == loop_kind::parallel && k > 0 && loops[k - 1] >= l.block);
  }

  /// What a loop around carries from iterations of this one to others is one, so that they run in
  /// turn; of the rest lanes have their own where all accesses are seen, and their number is.
  static void share(const buffer& b, const life& l, const std::vector<std::size_t>& loops,
                    std::size_t k, shared_buffers& out) {
    const arith::analyzer known = knowing(l.all);
    accesses uses{b->shape, l.all, known};
    if (uses.apart_in(k)) return;
    const loop_node* n = loop_at(l.around[loops[k]]);
    const auto carries = [&](std::size_t outer) {
      const loop_node& o = *loop_at(l.around[loops[outer]]);
      return loops[outer] >= l.block && !is_unit(o) && !runs_beside(o) && uses.carried_by(outer);
    };
    bool in_turn = false;
    for (std::size_t outer = 0; outer < k && !in_turn; ++outer) in_turn = carries(outer);
    if (n->loop == loop_kind::vectorized) {
      const bool by_address = support::any(l.all, [](const access& a) { return a.whole; });
      in_turn = in_turn || by_address || !is_int(n->extent);
      if (!in_turn) out.of_lanes.emplace(b, n);
    }
    if (in_turn) out.serial.push_back(n);
  }

  static bool runs_beside(const loop_node& n) {
    return n.loop == loop_kind::parallel || n.loop == loop_kind::thread_binding;
  }

  /// What the allocation goes around: outside of the loops of its block that carry its values. No
  /// parallel loop does: what its iterations do not keep apart each of them has for itself.
  static const stmt_node* home(const buffer& b, const life& l) {
    const stmt_node* out = l.around.back();
    if (!is_read(l)) return out;
    std::vector<std::size_t> loops = loops_of(l);
    if (!loops.empty() && loops.back() + 1 == l.around.size()) loops.pop_back();
    const arith::analyzer known = knowing(l.all);
    accesses uses{b->shape, l.all, known};
    for (std::size_t k = loops.size(); k-- > 0 && loops[k] >= l.block;) {
      const loop_node& n = *static_cast<const loop_node*>(l.around[loops[k]]);
      if (is_unit(n)) continue;
      if (runs_beside(n)) {
        if (!uses.apart_in(k)) return out;
      } else if (uses.carried_by(k)) {
        out = &n;
      }
    }
    return out;
  }

  std::vector<const stmt_node*> path_;
  arith::loop_domains loops_;
  std::vector<turn> turns_;
  std::vector<expr> guards_;
  std::vector<carried_scope> scopes_;
  var_map values_;  // of iteration variables and lets, in terms of the loops
  std::unordered_map<buffer, life> lives_;
  std::vector<buffer> allocated_;
};

}  // namespace lifetime

}  // namespace tilewright::pass::detail
