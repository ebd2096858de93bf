#pragma once

#include <string>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/defined_around.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/names.hpp>
#include <tilewright/schedule/primitive/loop_partition.hpp>
#include <tilewright/schedule/rebind.hpp>

namespace tilewright::primitive {
namespace detail::partitions {

using factor_list = std::vector<std::optional<std::int64_t>>;

[[noreturn]] inline void refuse(int requirement, const std::string& what) {
  throw schedule_error("loop_partition", requirement, what);
}

/// Lengths of the parts, after requirements 1, 2 and 5.
inline std::vector<std::int64_t> lengths(const factor_list& factors, std::int64_t extent,
                                         const std::string& name) {
  std::int64_t rest = extent;
  bool inferred = false;
  for (const auto& f : factors) {
    if (!f && std::exchange(inferred, true)) refuse(1, name + " has more than one factor to infer");
    if (!f) continue;
    if (*f <= 0) refuse(2, name + ": factor " + std::to_string(*f) + " is not positive");
    if (*f >= rest)
      refuse(5,
             name + ": the sum of the factors is not below the extent " + std::to_string(extent));
    rest -= *f;
  }
  std::vector<std::int64_t> out;
  for (const auto& f : factors) out.push_back(f.value_or(rest));
  if (!inferred) out.push_back(rest);
  return out;
}

inline void add_layout(const ir::buffer& b, ir::var_set& out) {
  std::vector<ir::expr> list = b->shape;
  list.insert(list.end(), b->strides.begin(), b->strides.end());
  if (b->elem_offset) list.push_back(b->elem_offset);
  for (const ir::expr& e : list)
    for (const ir::var& v : ir::free_vars(e)) out.insert(v);
}

/// The variables that are defined around the end of the path.
inline ir::var_set defined_outside(const ir::function& f, const path& at) {
  ir::var_set out =
      defined_by(definers::loops | definers::lets | definers::blocks, at, 0, at.slots.size());
  for (const ir::param& p : f.params)
    if (p.buffer)
      add_layout(p.buffer, out);
    else
      out.insert(p.scalar);
  for (const ir::stmt* s : at.slots)
    if (const ir::block_realize_node* r = ir::as_realize(*s))
      for (const ir::match_buffer& m : r->block->match_buffers) add_layout(m.buffer, out);
  return out;
}

/// A copy of the body of the loop for one part: fresh loops, variables, blocks and buffers.
class part_copy : public ir::mutator {
 public:
  part_copy(const ir::var& loop, ir::var part, ir::range range, const ir::var_set& outside,
            block_names& blocks)
      : loop_(loop),
        part_(std::move(part)),
        range_(std::move(range)),
        outside_(outside),
        blocks_(blocks) {
    names_.emplace(loop_, part_);
  }
  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    if (e->op != ir::op::var) return ir::mutator::mutate(e);
    const auto found = names_.find(e);
    return found == names_.end() ? e : found->second;
  }

  ir::buffer mutate(const ir::buffer& b) override {
    const auto found = buffers_.find(b);
    return found == buffers_.end() ? b : found->second;
  }

  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      const ir::expr min = mutate(loop->min), extent = mutate(loop->extent);
      const ir::var v = renew(loop->var);
      return ir::make_loop(v, min, extent, mutate(loop->body), loop->loop, loop->annotations,
                           loop->thread_tag);
    }
    if (const ir::let_node* let = ir::as_let(s)) {
      const ir::expr value = mutate(let->value);
      const ir::var v = renew(let->var);
      return ir::make_let(v, value, mutate(let->body));
    }
    if (const ir::block_realize_node* realize = ir::as_realize(s)) {
      std::vector<ir::expr> values;
      for (const ir::expr& v : realize->values) values.push_back(mutate(v));
      const ir::expr predicate = mutate(realize->predicate);
      return ir::make_realize(std::move(values), predicate, copy(*realize));
    }
    return ir::mutator::mutate(s);
  }

 private:
  ir::var renew(const ir::var& v) {
    return names_.insert_or_assign(v, ir::make_var(v->name, v.type())).first->second;
  }

  ir::buffer renew(const ir::buffer& b) {
    auto* made = new ir::buffer_node(*b);
    const ir::buffer out(made);
    for (ir::expr& e : made->shape) e = mutate(e);
    for (ir::expr& e : made->strides) e = mutate(e);
    if (made->elem_offset) made->elem_offset = mutate(made->elem_offset);
    return buffers_[b] = out;
  }

  /// A view defines what of its layout nothing else does.
  ir::buffer renew_view(const ir::buffer& b) {
    ir::var_set layout;
    add_layout(b, layout);
    for (const ir::var& v : layout)
      if (!outside_.count(v) && !names_.count(v)) renew(v);
    return renew(b);
  }

  ir::block copy(const ir::block_realize_node& realize) {
    ir::block_node out = *realize.block;
    out.id = 0;
    out.name = blocks_.fresh(out.name + "_" + part_->name);
    for (std::size_t i = 0; i < out.iters.size(); ++i) {
      ir::iter_var& iter = out.iters[i];
      iter.dom = {mutate(iter.dom.min), mutate(iter.dom.extent)};
      if (realize.values[i].same(loop_) && iter.kind == ir::iter_kind::spatial) iter.dom = range_;
      iter.var = renew(iter.var);
    }
    for (ir::buffer& b : out.alloc_buffers) b = renew(b);
    for (ir::match_buffer& m : out.match_buffers) {
      m.source = ir::mutator::mutate(m.source);
      m.buffer = renew_view(m.buffer);
    }
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list) r = ir::mutator::mutate(r);
    if (out.init) out.init = mutate(out.init);
    out.body = mutate(out.body);
    return ir::make_block(std::move(out));
  }

  ir::var loop_, part_;
  ir::range range_;
  const ir::var_set& outside_;
  block_names& blocks_;
  ir::var_map names_;
  ir::buffer_map buffers_;
};

/// The statement in a block without variables that declares what it touches.
inline ir::stmt wrapped(std::string name, ir::stmt body) {
  ir::block_node b;
  b.name = std::move(name);
  arith::access_regions(body, b.reads, b.writes);
  b.body = std::move(body);
  return ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(b)));
}

}  // namespace detail::partitions

TILEWRIGHT_INLINE new_loops loop_partition(const ir::function& f, const ir::var& loop,
                                           const std::vector<std::optional<std::int64_t>>& factors,
                                           bool) {
  using namespace detail::partitions;
  const path at = need_loop(f, loop, "loop_partition");
  const ir::loop_node& old = *ir::as_loop(at.target());
  const std::string name = "loop \"" + loop->name + "\"";
  if (!old.annotations.empty() || old.loop == ir::loop_kind::thread_binding)
    refuse(3, name + " is annotated or bound to threads");
  if (!ir::is_int(old.min) || !ir::is_int(old.extent)) refuse(4, name + " has no constant range");
  const std::vector<std::int64_t> parts = lengths(factors, ir::as_int(old.extent), name);
  const auto blocks = child_blocks(at.target());
  if (blocks.empty()) refuse(6, name + " holds no block");
  for (const ir::block_realize_node* b : blocks)
    for (std::size_t i = 0; i < b->values.size(); ++i)
      if (b->block->iters[i].kind != ir::iter_kind::spatial && ir::uses_var(b->values[i], old.var))
        refuse(7, name + " drives variable \"" + b->block->iters[i].var->name + "\" of block \"" +
                      b->block->name + "\", which is not spatial");
  const std::string& first = blocks.front()->block->name;

  const ir::var_set outside = defined_outside(f, at);
  block_names names(f.body);
  names.remove(at.target());
  new_loops out;
  std::vector<ir::stmt> bodies;
  std::int64_t begin = ir::as_int(old.min);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string part = loop->name + std::to_string(p);
    const ir::var v = ir::make_var(part, loop.type());
    const ir::range range{ir::integer(loop.type(), begin), ir::integer(loop.type(), parts[p])};
    ir::stmt body = part_copy(loop, v, range, outside, names).mutate(old.body);
    bodies.push_back(wrapped(names.fresh(first + "_" + part + "_partition"),
                             ir::make_loop(v, range.min, range.extent, std::move(body))));
    out.loops.push_back(v);
    begin += parts[p];
  }
  out.function = replace(
      f, at,
      wrapped(names.fresh(first + "_" + loop->name + "_common"), ir::make_seq(std::move(bodies))));
  return out;
}

}  // namespace tilewright::primitive
