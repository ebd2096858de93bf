// Buffers that a scope fills as rolling leaves them, and the scope with whole buffers in their place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::rolling {

/// `B[v % length]` in a block whose guard leaves out what the iteration before has written.
struct circular_buffer {
  std::size_t writer, result,
      dim;  // a child of the scope, one of its regions, the rolled dimension
  ir::buffer rolled, whole;
  ir::expr length;
  ir::var loop;  // along which it rolls
};

/// `loop < 1 or overlap <= offset`: gives the loop.
inline std::optional<ir::var> fresh_along(const ir::expr& conjunct) {
  if (conjunct->op != ir::op::logical_or) return std::nullopt;
  const ir::expr &first = conjunct->args[0], &reached = conjunct->args[1];
  if (first->op != ir::op::lt || !ir::is_var(first->args[0]) || !ir::is_int(first->args[1], 1) ||
      reached->op != ir::op::le || !ir::is_int(reached->args[0]))
    return std::nullopt;
  return first->args[0];
}

/// The variable that the place is a remainder of.
inline const ir::iter_var* wrapped_variable(const ir::block_node& block, const ir::range& place,
                                            const ir::expr& length) {
  if (!ir::is_int(place.extent, 1) || place.min->op != ir::op::floormod || !ir::is_int(length) ||
      !ir::is_int(place.min->args[1], ir::as_int(length)))
    return nullptr;
  for (const ir::iter_var& v : block.iters)
    if (v.var.same(place.min->args[0]) && v.kind == ir::iter_kind::opaque) return &v;
  return nullptr;
}

/// Those that look so.
inline std::vector<circular_buffer> circular_buffers(const block_scope& scope) {
  std::vector<circular_buffer> out;
  for (std::size_t w = 0; w < scope.size(); ++w) {
    const ir::block_node& block = scope[w].block();
    std::optional<ir::var> loop;
    for (const ir::expr& c : ir::conjuncts(scope[w].realize->predicate))
      if (!loop) loop = fresh_along(c);
    if (!loop) continue;
    for (std::size_t r = 0; r < block.writes.size(); ++r) {
      const ir::buffer& rolled = block.writes[r].buffer;
      if (!scope.allocates(rolled)) continue;
      for (std::size_t d = 0; d < rolled->shape.size(); ++d) {
        const ir::expr& length = rolled->shape[d];
        const ir::iter_var* v = wrapped_variable(block, block.writes[r].box[d], length);
        if (!v) continue;
        ir::buffer_node whole = *rolled;
        whole.shape[d] = ir::cast(length.type(), v->dom.min + v->dom.extent);
        out.push_back(
            {w, r, d, rolled, ir::buffer(new ir::buffer_node(std::move(whole))), length, *loop});
        break;
      }
    }
  }
  return out;
}

/// Puts the whole buffers in the place of circular ones: the contrary of what rolling does.
class unroller : public ir::rerouting {
 public:
  explicit unroller(const std::vector<circular_buffer>& list) : list_(list) {}
  using ir::rerouting::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt out = ir::rerouting::mutate(s);
    const ir::block_realize_node* r = ir::as_realize(out);
    return r && depth_ == 1 ? in_any_order(*r) : out;
  }
  ir::block mutate(const ir::block& b) override {
    ++depth_;
    ir::block_node out = *ir::mutator::mutate(b);
    --depth_;
    std::vector<ir::buffer_region> reads, writes;  // what loads and stores say
    for (const ir::stmt& part : {out.init, out.body})
      if (part) arith::access_regions(part, reads, writes);
    restore(out.reads, reads);
    restore(out.writes, writes);
    for (ir::buffer& x : out.alloc_buffers)
      if (const circular_buffer* c = find(x)) x = c->whole;
    return ir::make_block(std::move(out));
  }

 private:
  bool reroutes(const ir::buffer& b) const override { return find(b) != nullptr; }
  ir::buffer_element rerouted(const ir::buffer& b, std::vector<ir::expr> indices) override {
    const circular_buffer& c = *find(b);
    indices[c.dim] = unwrapped(c, indices[c.dim]);
    return {c.whole, std::move(indices)};
  }
  const circular_buffer* find(const ir::buffer& x) const {
    for (const circular_buffer& c : list_)
      if (c.rolled == x) return &c;
    return nullptr;
  }
  /// What is no remainder stays, and tells the comparison that the buffer is none of them.
  static ir::expr unwrapped(const circular_buffer& c, const ir::expr& place) {
    const bool wrapped =
        place->op == ir::op::floormod && ir::is_int(place->args[1], ir::as_int(c.length));
    return wrapped ? place->args[0] : place;
  }
  void restore(std::vector<ir::buffer_region>& declared,
               const std::vector<ir::buffer_region>& found) const {
    for (ir::buffer_region& r : declared) {
      const circular_buffer* c = find(r.buffer);
      if (!c) continue;
      r.buffer = c->whole;
      ir::range& place = r.box[c->dim];
      if (ir::is_int(place.extent, 1)) {
        place.min = unwrapped(*c, place.min);
        continue;
      }
      for (const ir::buffer_region& f : found)
        if (f.buffer == c->whole) place = f.box[c->dim];
    }
  }

  ir::stmt in_any_order(const ir::block_realize_node& r) const {
    ir::block_node block = *r.block;
    ir::expr predicate = r.predicate;
    for (const circular_buffer& c : list_) {
      const bool writes = writes_buffer(block, c.whole);
      if (!writes && !reads_buffer(block, c.whole)) continue;
      for (std::size_t i = 0; i < block.iters.size(); ++i)
        if (block.iters[i].kind == ir::iter_kind::opaque && ir::uses_var(r.values[i], c.loop))
          block.iters[i].kind = ir::iter_kind::spatial;
      if (!writes) continue;
      std::vector<ir::expr> rest = ir::conjuncts(predicate);
      std::erase_if(rest, [](const ir::expr& e) { return fresh_along(e).has_value(); });
      predicate = ir::conjunction(rest);
    }
    return ir::make_realize(r.values, predicate, ir::make_block(std::move(block)));
  }

  const std::vector<circular_buffer>& list_;
  int depth_ = 0;  // of blocks; those directly below the scope, at 1, are bound to the loop
};

}  // namespace tilewright::primitive::detail::rolling
