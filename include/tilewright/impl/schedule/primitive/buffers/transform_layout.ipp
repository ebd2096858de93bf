#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/impl/schedule/primitive/buffers/transform_layout.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/impl/schedule/rewrite/map_binding.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/buffers/transform_layout.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::layouts {

/// Requirement 2.
class access_check : public ir::visitor {
 public:
  explicit access_check(const ir::buffer& b) : buffer_(b) {}
  using ir::visitor::visit;
  void visit(const ir::expr& e) override {
    if (e->buffer == buffer_ && e->op != ir::op::load)
      refuse(2, {quoted(buffer_), " is accessed through its address"});
    ir::visitor::visit(e);
  }
  void visit(const ir::block& b) override {
    for (const ir::match_buffer& m : b->match_buffers)
      if (m.buffer == buffer_ || m.source.buffer == buffer_)
        refuse(2, {quoted(buffer_), " is matched with a part of another buffer in ", quoted(*b)});
    ir::visitor::visit(b);
  }

 private:
  const ir::buffer& buffer_;
};

inline void check_accesses(const ir::function& f, const ir::buffer& b) {
  access_check(b).visit(f.body);
  if (!b->strides.empty() || b->data || (b->elem_offset && !ir::is_int(b->elem_offset, 0)))
    refuse(2, {quoted(b), " has strides or an offset of its own, or aliases another one"});
}

/// Requirement 7.
inline void check_extents(const ir::function& f, const ir::buffer& b) {
  const auto known_elsewhere = [&](const ir::var& v) {
    return support::any(f.params, [&](const ir::param& p) {
      if (!p.buffer) return p.scalar.same(v);
      const auto& shape = p.buffer->shape;
      return p.buffer != b && support::any(shape, [&](const ir::expr& e) { return e.same(v); });
    });
  };
  if (support::none(f.params, [&](const ir::param& p) { return p.buffer == b; })) return;
  for (const ir::expr& extent : b->shape)
    for (const ir::var& v : ir::free_vars(extent))
      if (!known_elsewhere(v))
        refuse(7, {"the extent ", v->name, " is known from the shape of ", quoted(b), " alone"});
}

inline dtype index_type(const ir::block_node& block, const ir::buffer& b) {
  if (!block.iters.empty()) return block.iters[0].var.type();
  return b->shape.empty() ? dtype::i32 : b->shape[0].type();
}

/// Two elements of a small buffer at one place.
inline bool collides(const ir::index_map& map, const std::vector<ir::expr>& shape) {
  std::int64_t count = 1;
  for (const ir::expr& e : shape) {
    if (!ir::is_int(e) || ir::as_int(e) <= 0 || ir::as_int(e) > 4096) return false;
    count *= ir::as_int(e);
    if (count > 4096) return false;
  }
  std::set<std::vector<std::int64_t>> taken;
  for (std::int64_t n = 0; n < count; ++n) {
    std::vector<ir::expr> at(shape.size());
    std::int64_t rest = n;
    for (std::size_t d = shape.size(); d-- > 0; rest /= ir::as_int(shape[d]))
      at[d] = ir::integer(shape[d].type(), rest % ir::as_int(shape[d]));
    std::vector<std::int64_t> place;
    for (const ir::expr& e : ir::map_indices(map, at)) {
      const ir::expr value = arith::simplify(e);
      if (!ir::is_int(value)) return false;
      place.push_back(ir::as_int(value));
    }
    if (!taken.insert(std::move(place)).second) return true;
  }
  return false;
}

/// The pad value in terms of the new axes, after requirement 6.
inline ir::expr pad_expression(const padding& given, const ir::buffer& b,
                               const std::vector<ir::var>& axes) {
  if (given.empty()) return {};
  const auto wrong = [&] {
    refuse(6, {"the pad value must have the type ", std::string(name(b->type)), " of ", quoted(b)});
  };
  if (const auto* i = std::get_if<std::int64_t>(&given.value)) {
    if (!is_integer(b->type) || ir::wrap_to(b->type, *i) != *i) wrong();
    return ir::integer(b->type, *i);
  }
  if (const auto* r = std::get_if<double>(&given.value)) {
    if (!is_float(b->type)) wrong();
    return ir::real(b->type, *r);
  }
  const auto& map = std::get<ir::index_map>(given.value);
  if (map.outputs.size() != 1 || map.inputs.size() != axes.size())
    refuse(6, {"the pad value must be one expression of ", axes.size(), " indices"});
  const ir::expr value = ir::map_indices(map, std::vector<ir::expr>(axes.begin(), axes.end()))[0];
  if (value.type() != b->type) wrong();
  for (const ir::var& v : ir::free_vars(value))
    if (support::none(axes, [&](const ir::var& a) { return a.same(v); }))
      refuse(6, {"\"", v->name, "\" is no index of the pad value"});
  return value;
}

inline task make_task(const ir::function& f, const ir::block_node& block, const ir::buffer& old,
                      const ir::index_map& map, const padding& pad_value, bool assume_injective) {
  task t;
  t.old_buffer = old;
  if (map.inputs.size() != old->shape.size())
    refuse(3, {"the map takes ", map.inputs.size(), " indices; ", quoted(old), " has ",
               old->shape.size(), " dimensions"});
  const dtype type = index_type(block, old);
  t.map = bind_map(map, f, type);
  std::vector<ir::expr> shape;
  for (const ir::expr& e : old->shape) shape.push_back(ir::cast(type, e));
  t.layout = arith::lay_out(t.map, shape, {});
  const std::string whose = joined({ir::print(t.map), " of ", quoted(old)});
  if (t.layout.shape.empty() && !t.map.outputs.empty())
    refuse(3, {"the results of the map ", whose, " do not start at 0"});
  const ir::expr pad = pad_expression(pad_value, old, t.layout.axes);
  if (!t.layout.has_inverse() && (!assume_injective || collides(t.map, shape)))
    refuse(4, {"the map ", whose, " cannot be inverted"});
  const bool pads = !assume_injective && !ir::is_int(t.layout.padding, 0);
  if (pads && !pad)
    refuse(5, {"the map ", whose, " leaves places without an element; give a pad value"});
  if (pads) t.pad_value = pad;
  auto* changed = new ir::buffer_node(*old);
  t.new_buffer = ir::buffer(changed);
  changed->shape = t.layout.shape;
  return t;
}

/// Rewrites every access of the old buffer.
class relayout : public arith::scoped_mutator {
 public:
  explicit relayout(const task& t) : task_(t) {}
  using scoped_mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    const ir::expr inner = ir::mutator::mutate(e);
    if (inner->op != ir::op::load || inner->buffer != task_.old_buffer) return inner;
    return ir::load(task_.new_buffer, mapped(inner->args));
  }

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt inner = scoped_mutator::mutate(s);
    const ir::store_node* store = ir::as_store(inner);
    if (!store || store->buffer != task_.old_buffer) return inner;
    return ir::make_store(task_.new_buffer, mapped(store->indices), store->value);
  }

 private:
  ir::block mutate_bound(const ir::block& b) override {
    ir::block_node out = *ir::mutator::mutate(b);
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list)
        if (r.buffer == task_.old_buffer)
          r = {task_.new_buffer,
               arith::map_box(task_.map, in_index_type(r.box), task_.layout.shape, known)};
    std::replace(out.alloc_buffers.begin(), out.alloc_buffers.end(), task_.old_buffer,
                 task_.new_buffer);
    return ir::make_block(std::move(out));
  }

  std::vector<ir::expr> mapped(std::vector<ir::expr> indices) const {
    for (std::size_t i = 0; i < indices.size(); ++i)
      indices[i] = ir::cast(task_.map.inputs[i].type(), indices[i]);
    std::vector<ir::expr> out = ir::map_indices(task_.map, indices);
    for (ir::expr& e : out) e = known.simplify(e);
    return out;
  }

  std::vector<ir::range> in_index_type(std::vector<ir::range> box) const {
    for (std::size_t i = 0; i < box.size(); ++i) {
      const dtype type = task_.map.inputs[i].type();
      box[i] = {ir::cast(type, box[i].min), ir::cast(type, box[i].extent)};
    }
    return box;
  }

  const task& task_;
};

}  // namespace detail::layouts

TILEWRIGHT_INLINE ir::function transform_layout(const ir::function& f, std::uint64_t block,
                                                const buffer_selector& buffer,
                                                const ir::index_map& map, const padding& pad_value,
                                                bool assume_injective_transform) {
  using namespace detail::layouts;
  const path at = need_block(f, block, "transform_layout");
  const ir::block_node& accessing = *ir::as_realize(at.target())->block;
  const ir::buffer old = detail::block_buffers::selected("transform_layout", 1, accessing, buffer);
  check_accesses(f, old);
  check_extents(f, old);
  const task t = make_task(f, accessing, old, map, pad_value, assume_injective_transform);
  ir::function out = t.pad_value ? with_padding(f, t) : f;
  out.body = relayout(t).mutate(out.body);
  for (ir::param& p : out.params)
    if (p.buffer == old) p.buffer = t.new_buffer;
  return out;
}

}  // namespace tilewright::primitive
