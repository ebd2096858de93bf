#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/impl/pass/accumulators/plain_sums.hpp>
#include <tilewright/impl/pass/accumulators/sum_parts.hpp>
#include <tilewright/impl/pass/accumulators/tile.hpp>
#include <tilewright/pass/promote_accumulators.hpp>

namespace tilewright::pass::detail::promote {

using namespace tilewright::ir;

class promoter : public arith::scoped_mutator {
 public:
  explicit promoter(const accumulator_limits& limits) : limits_(limits) {}
  using scoped_mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (as_loop(s)) return promote(s, nullptr);
    if (const seq_node* seq = as_seq(s)) {
      std::vector<stmt> out;
      for (const stmt& child : seq->stmts) {
        if (!as_loop(child)) {
          out.push_back(mutate(child));
          continue;
        }
        stmt before = out.empty() ? stmt{} : out.back();
        stmt next = promote(child, &before);
        if (!out.empty() && !before) out.pop_back();
        out.push_back(std::move(next));
      }
      return make_seq(std::move(out));
    }
    return scoped_mutator::mutate(s);
  }

 private:
  /// Promotes what can be at this loop, then looks inside it. `before` is the statement in front of
  /// the loop; it is cleared when an accumulator takes it over.
  stmt promote(const stmt& s, stmt* before) {
    const loop_node& loop = *as_loop(s);
    std::vector<tile> tiles;
    if (loop.loop == loop_kind::serial || loop.loop == loop_kind::unrolled)
      tiles = find_tiles(loop);
    if (is_too_long(loop, tiles)) {
      if (tiles.front().additions > longest_whole(limits_.sum_part))
        tiles.clear();  // parts begin at a loop inside
      else if (stmt parts = in_parts(loop, tiles.front()))
        return parts;
    }
    stmt body = loop.body;
    for (const tile& t : tiles)
      body = replacer(t.original, t.accumulators, t.local, t.unrolled).mutate(body);
    const arith::analyzer outside = known;
    known.bind(loop.var, range{loop.min, loop.extent});
    if (loop.loop == loop_kind::parallel) parallel_.push_back(&loop);
    if (is_reduction(loop)) reductions_.push_back(&loop);
    body = mutate(body);
    if (is_reduction(loop)) reductions_.pop_back();
    if (loop.loop == loop_kind::parallel) parallel_.pop_back();
    known = outside;
    stmt out = body == loop.body ? s : with_body(loop, std::move(body));
    for (const tile& t : tiles) {
      stmt first = before && *before ? take_over(*before, t) : stmt{};
      // what an initialization stores to is there, whether the loop runs or not
      const bool asks = t.runs && !first;
      expr total = load(t.accumulators, t.local);
      if (first) {
        *before = {};
      } else if (continues_sum(loop, t)) {  // -0.0 changes no sum, not even the sign of a zero
        first = copies(t, make_store(t.accumulators, t.local, real(t.original->type, -0.0)));
        total = load(t.original, t.indices) + total;
      } else {
        first = copies(t, make_store(t.accumulators, t.local, load(t.original, t.indices)));
      }
      stmt last = copies(t, make_store(t.original, t.indices, std::move(total)));
      if (asks) {
        first = make_if(t.runs, std::move(first));
        last = make_if(t.runs, std::move(last));
      }
      out = make_allocate(t.accumulators,
                          make_seq({std::move(first), std::move(out), std::move(last)}));
    }
    return out;
  }

  /// Whether the loop adds more numbers to its tiles, to each as many, than a sum may have as a whole.
  bool is_too_long(const loop_node& loop, const std::vector<tile>& tiles) const {
    const auto alike = [&](const tile& t) {
      return !t.runs && t.additions == tiles.front().additions;
    };
    return limits_.sum_part > 0 && loop.loop == loop_kind::serial && !tiles.empty() &&
           support::all(tiles, alike) &&
           constant_extent(loop) * tiles.front().additions > longest_whole(limits_.sum_part);
  }

  /// The loop in parts, and what they leave, promoted each; null where no part is long enough.
  stmt in_parts(const loop_node& loop, const tile& t) {
    const bool has_to_divide = any_stmt(loop.body, as_allocate);
    const std::int64_t extent = constant_extent(loop),
                       length =
                           iterations_of_part(extent, t.additions, limits_.sum_part, has_to_divide);
    if (length == 0) return {};
    const dtype type = loop.var.type();
    const auto count = [&](std::int64_t n) { return integer(type, n); };
    const var part = make_var(loop.var->name + "_part", type);
    reductions_.push_back(&loop);
    const arith::analyzer outside = known;
    known.bind(part, range{count(0), count(extent / length)});
    stmt out = promote(with_domain(loop, loop.min + part * count(length), count(length), loop.body),
                       nullptr);
    known = outside;
    out = make_loop(part, count(0), count(extent / length), std::move(out), loop_kind::serial,
                    {{reduction_note, 1}});
    if (extent % length != 0) {
      const std::int64_t whole = extent - extent % length;
      stmt rest = rename_loops(
          with_domain(loop, loop.min + count(whole), count(extent - whole), loop.body));
      out = make_seq({std::move(out), promote(rest, nullptr)});
    }
    reductions_.pop_back();
    return out;
  }

  /// Whether the loop goes on with a sum that loops around it have begun, and adds enough to it for a
  /// part.
  bool continues_sum(const loop_node& loop, const tile& t) const {
    const std::int64_t additions = constant_extent(loop) * t.additions;
    if (limits_.sum_part == 0 || additions < least_part) return false;
    std::int64_t all = additions;
    for (const loop_node* l : reductions_) {
      if (all > longest_whole(limits_.sum_part)) break;
      if (support::none(t.indices, [&](const expr& e) { return uses_var(e, l->var); }))
        all *= std::max<std::int64_t>(constant_extent(*l), 2);
    }
    return all > longest_whole(limits_.sum_part);
  }

  std::vector<tile> find_tiles(const loop_node& loop) {
    std::vector<tile> out;
    std::vector<buffer> order;  // of first store, so that equal programs give equal results
    for_each_stmt(loop.body, [&](const stmt& x) {
      const store_node* store = as_store(x);
      if (store && !support::contains(order, store->buffer)) order.push_back(store->buffer);
    });
    for (const buffer& b : order) {
      if (accumulators_.count(b) || allocated_inside(loop.body, b)) continue;
      summarizer summary(b);
      summary.visit(loop.body);
      if (!summary.result.uniform || !summary.result.loaded || !summary.result.stored) continue;
      if (std::optional<tile> t = make_tile(loop, b, summary.result)) {
        accumulators_.insert(t->accumulators);
        out.push_back(std::move(*t));
      }
    }
    return out;
  }

  static bool allocated_inside(const stmt& s, const buffer& b) {
    return any_stmt(s,
                    [&](const stmt& x) { return as_allocate(x) && as_allocate(x)->buffer == b; });
  }

  std::optional<tile> make_tile(const loop_node& loop, const buffer& b,
                                const access_summary& access) const {
    tile t;
    t.original = b;
    t.indices = access.indices;
    var_set inner{loop.var};  // variables that are not known outside the loop
    for_each_stmt(loop.body, [&](const stmt& x) {
      if (const let_node* let = as_let(x)) inner.insert(let->var);
      if (as_loop(x)) inner.insert(as_loop(x)->var);
    });
    for (const loop_node* l : access.loops)
      if (support::any(t.indices, [&](const expr& e) { return uses_var(e, l->var); }))
        t.loops.push_back(l);
    for (const loop_node* l : t.loops) {
      if (constant_extent(*l) <= 0 || uses_any(l->min, inner)) return std::nullopt;
      if (l->loop == loop_kind::serial && has_serial_loop(l->body) && !only_tile_loops(l->body, t))
        return std::nullopt;
      if (l->loop == loop_kind::serial)
        t.unrolled.insert(l->var);
      else if (l->loop != loop_kind::unrolled && l->loop != loop_kind::vectorized)
        return std::nullopt;
    }
    var_set tile_vars;
    for (const loop_node* l : t.loops) tile_vars.insert(l->var);
    const auto usable = [&](const expr& e) {
      for (const var& v : free_vars(e))
        if (inner.count(v) && !tile_vars.count(v)) return false;
      return !reads_memory(e);
    };
    const buffer_set stored = stored_buffers(loop.body);
    const auto is_index = [&](const expr& e) {  // known outside of the loop, and the same inside
      bool out = support::none(free_vars(e),
                               [&](const var& v) { return inner.count(v) && !tile_vars.count(v); });
      for_each_expr(e, [&](const expr& part) {
        if (part->op != op::load) return;
        out = out && !stored.count(part->buffer) &&
              support::none(free_vars(part), [&](const var& v) { return tile_vars.count(v) > 0; });
      });
      return out;
    };
    if (!support::all(t.indices, is_index) || !is_injective(t.indices, t.loops))
      return std::nullopt;
    bool always = access.unconditional;  // in each iteration of the loop
    for (const loop_node* l : access.loops) always = always && constant_extent(*l) > 0;
    for (const expr& g : access.guards) (usable(g) ? t.guards.push_back(g) : void(always = false));
    if (!fits(t)) return std::nullopt;
    const bool complete = always && constant_extent(loop) > 0;
    if (!complete && (!in_bounds(t) || is_shared(t))) {
      if (!always) return std::nullopt;
      t.runs = gt(loop.extent, integer(loop.extent.type(), 0));
    }
    make_buffers(t);
    t.additions = additions_of(loop, b, access, t.loops);
    return t;
  }

  static bool only_tile_loops(const stmt& s, const tile& t) {
    bool only = true;
    for_each_stmt(s, [&](const stmt& x) {
      const loop_node* l = as_loop(x);
      if (l && l->loop == loop_kind::serial) only = only && support::contains(t.loops, l);
    });
    return only;
  }

  bool fits(const tile& t) const {
    std::int64_t elements = 1, lanes = 1;
    for (const loop_node* l : t.loops) {
      elements *= constant_extent(*l);
      if (elements > 65536) return false;
      if (l->loop == loop_kind::vectorized) lanes *= constant_extent(*l);
    }
    if (lanes == 1) return elements <= limits_.scalar_elements;
    const std::int64_t vectors =
        elements / lanes * ((lanes * bytes(t.original->type) - 1) / limits_.vector_bytes + 1);
    // what the schedule unrolled itself may exceed the registers somewhat
    return vectors * limits_.vector_bytes <= limits_.register_bytes * (t.unrolled.empty() ? 4 : 1);
  }

  /// Iterations that run at once may have the tile in common: then those that do not store may not
  /// copy it back.
  bool is_shared(const tile& t) const {
    for (const loop_node* l : parallel_)
      if (!allocated_inside(l->body, t.original) &&
          support::none(t.indices, [&](const expr& e) { return uses_var(e, l->var); }))
        return true;
    return false;
  }

  /// The copies touch only elements of the buffer, whatever the loop does.
  bool in_bounds(const tile& t) const {
    arith::analyzer here = known;
    for (const loop_node* l : t.loops) here.bind(l->var, range{l->min, l->extent});
    for (const expr& g : t.guards) here.assume(g);
    for (std::size_t d = 0; d < t.indices.size(); ++d) {
      const expr& e = t.indices[d];
      if (!here.prove(ge(e, integer(e.type(), 0))) || !here.prove(lt(e, t.original->shape[d])))
        return false;
    }
    return true;
  }

  static void make_buffers(tile& t) {
    std::vector<expr> shape;
    std::vector<const loop_node*> order, lanes;  // vectors are rows
    for (const loop_node* l : t.loops)
      (l->loop == loop_kind::vectorized ? lanes : order).push_back(l);
    order.insert(order.end(), lanes.begin(), lanes.end());
    for (const loop_node* l : order) {
      shape.push_back(l->extent);
      t.local.push_back(l->var - l->min);
    }
    if (shape.empty()) {
      shape.push_back(integer(dtype::i32, 1));
      t.local.push_back(integer(dtype::i32, 0));
    }
    t.accumulators =
        make_buffer(t.original->name + "_acc", t.original->type, std::move(shape), "local");
  }

  /// The loops of the tile, with its guards, around `body`; new variables.
  static stmt copies(const tile& t, stmt body) {
    if (!t.guards.empty()) body = make_if(conjunction(t.guards), std::move(body));
    for (std::size_t k = t.loops.size(); k-- > 0;) {
      const loop_node& l = *t.loops[k];
      body = make_loop(l.var, l.min, l.extent, std::move(body),
                       l.loop == loop_kind::serial ? loop_kind::unrolled : l.loop);
    }
    return rename_loops(body);
  }

  /// When `before` fills exactly the tile in the original buffer: the same for the accumulators.
  stmt take_over(const stmt& before, const tile& t) const {
    var_map map;
    stmt s = before;
    for (const loop_node* l : t.loops) {
      const loop_node* own = as_loop(s);
      if (!own || !arith::same_value(own->min, l->min) ||
          !arith::same_value(own->extent, l->extent))
        return {};
      map[own->var] = l->var;
      s = own->body;
    }
    std::vector<expr> guards;
    if (const if_node* n = as_if(s); n && !n->else_body) {
      guards = conjuncts(substitute(n->condition, map));
      s = n->then_body;
    }
    const store_node* store = as_store(s);
    if (!store || store->buffer != t.original) return {};
    std::vector<expr> indices;
    for (const expr& e : store->indices) indices.push_back(substitute(e, map));
    if (!same_indices(indices, t.indices) || !same_indices(guards, t.guards)) return {};
    bool reads_itself = false;
    for_each_expr(store->value, [&](const expr& e) {
      reads_itself = reads_itself || (e->op == op::load && e->buffer == t.original);
    });
    return reads_itself
               ? stmt{}
               : copies(t, make_store(t.accumulators, t.local, substitute(store->value, map)));
  }

  const accumulator_limits& limits_;
  buffer_set accumulators_;
  std::vector<const loop_node*> parallel_, reductions_;  // around the loop
};

}  // namespace tilewright::pass::detail::promote

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function promote_accumulators(const ir::function& f,
                                                    const accumulator_limits& limits) {
  ir::function out = f;
  out.body = detail::promote::promoter(limits).mutate(detail::promote::plain_sums{}.mutate(f.body));
  return out;
}

}  // namespace tilewright::pass
