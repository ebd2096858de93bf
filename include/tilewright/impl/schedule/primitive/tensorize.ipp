#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/match_tensor.hpp>
#include <tilewright/schedule/names.hpp>
#include <tilewright/schedule/primitive/blockize.hpp>
#include <tilewright/schedule/primitive/tensorize.hpp>

namespace tilewright::primitive {
namespace detail::tensorizing {

[[noreturn]] inline void refuse(int requirement, const std::string& what) {
  throw schedule_error("tensorize", requirement, what);
}

/// A copy of an implementation that shares no variable, buffer or block with it. Index variables
/// get the type of the program's.
class renewer : public ir::mutator {
 public:
  renewer(const ir::function& f, dtype index) : program_(f), index_(index) {}
  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    if (ir::is_var(e)) {
      const auto found = vars_.find(e);
      return found == vars_.end() ? e : found->second;
    }
    return ir::mutator::mutate(e);
  }
  ir::buffer mutate(const ir::buffer& b) override {
    const auto found = buffers_.find(b);
    return found == buffers_.end() ? b : found->second;
  }
  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      const ir::expr min = index(loop->min), extent = index(loop->extent);
      const ir::var v = fresh(loop->var, min.type());
      return ir::make_loop(v, min, extent, mutate(loop->body), loop->loop, loop->annotations,
                           loop->thread_tag);
    }
    if (const ir::let_node* let = ir::as_let(s)) {
      const ir::expr value = mutate(let->value);
      const ir::var v = fresh(let->var, let->var.type());
      return ir::make_let(v, value, mutate(let->body));
    }
    return ir::mutator::mutate(s);
  }
  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *b;
    for (ir::iter_var& i : out.iters) {
      i.dom = {index(i.dom.min), index(i.dom.extent)};
      i.var = fresh(i.var, i.dom.extent.type());
    }
    for (const ir::buffer& a : b->alloc_buffers) renew(a);
    for (const ir::match_buffer& m : b->match_buffers) renew(m.buffer);
    out.id = 0;
    out.name = fresh_block_name(program_, b->name);
    out = *ir::mutator::mutate(ir::make_block(std::move(out)));
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list)
        for (ir::range& d : r.box) d = {index(d.min), index(d.extent)};
    return ir::make_block(std::move(out));
  }

  /// A new buffer in place of `b`, with variables of its own for strides and offset.
  ir::buffer renew(const ir::buffer& b) {
    auto* node = new ir::buffer_node(*b);
    const ir::buffer out(node);
    for (ir::expr& e : node->shape) e = index(e);
    for (ir::expr& e : node->strides) e = own(e);
    if (node->elem_offset) node->elem_offset = own(node->elem_offset);
    buffers_[b] = out;
    return out;
  }

 private:
  ir::var fresh(const ir::var& v, dtype type) {
    const ir::var out = ir::make_var(v->name, type);
    vars_[v] = out;
    return out;
  }
  ir::expr own(const ir::expr& e) {
    for (const ir::var& v : ir::free_vars(e))
      if (vars_.find(v) == vars_.end()) fresh(v, v.type() == dtype::i32 ? index_ : v.type());
    return index(e);
  }
  ir::expr index(const ir::expr& e) {
    const ir::expr out = mutate(e);
    return out.type() == dtype::i32 ? ir::cast(index_, out) : out;
  }

  const ir::function& program_;
  dtype index_;
  ir::var_map vars_;
  std::unordered_map<ir::buffer, ir::buffer> buffers_;
};

inline dtype index_type(const ir::block_node& b) {
  for (const auto* list : {&b.reads, &b.writes})
    for (const ir::buffer_region& r : *list)
      for (const ir::range& d : r.box)
        if (d.min.type() == dtype::i64) return dtype::i64;
  return dtype::i32;
}

/// The part of the program's buffer that the implementation's region stands for.
inline ir::buffer_region source_of(const matched_buffer& m, const ir::buffer_region& region) {
  ir::buffer_region out{m.buffer, {}};
  const std::size_t skip = m.base.size() - region.box.size();
  for (std::size_t d = 0; d < m.base.size(); ++d) {
    const dtype type = m.base[d].type();
    const ir::expr extent =
        d < skip ? ir::integer(type, 1) : ir::cast(type, region.box[d - skip].extent);
    out.box.push_back({m.base[d], extent});
  }
  return out;
}

inline const ir::buffer_region& region_of(const ir::block_node& root, const ir::buffer& b) {
  for (const auto* list : {&root.reads, &root.writes})
    for (const ir::buffer_region& r : *list)
      if (r.buffer == b) return r;
  throw internal_error("an intrinsic whose implementation does not list \"" + b->name + "\"");
}

/// A view beyond its buffer is no view: the block touches only a part of the region, under a guard.
inline void check_inside(const ir::block_node& block, const ir::buffer_region& r) {
  arith::analyzer known;
  for (const ir::iter_var& i : block.iters) known.bind(i.var, i.dom);
  for (std::size_t d = 0; d < r.box.size(); ++d) {
    const arith::bounds first = known.const_bounds(r.box[d].min);
    const arith::bounds end = known.const_bounds(r.box[d].min + r.box[d].extent);
    const ir::expr& shape = r.buffer->shape[d];
    if (!first.bounded() || !end.bounded() || !ir::is_int(shape)) continue;
    if (first.lo < 0 || end.hi > ir::as_int(shape))
      refuse(5, "block \"" + block.name + "\" touches only a part of " + ir::print(r) +
                    ", which reaches out of the buffer");
  }
}

/// Whether a dimension tells the regions of one buffer apart.
inline bool apart(const ir::buffer_region& a, const ir::buffer_region& b) {
  const arith::analyzer known;
  const auto ends_before = [&](const ir::range& x, const ir::range& y) {
    return known.prove_le(x.min + x.extent, y.min);
  };
  for (std::size_t d = 0; d < a.box.size(); ++d)
    if (ends_before(a.box[d], b.box[d]) || ends_before(b.box[d], a.box[d])) return true;
  return false;
}

/// Parameters of an implementation are different memory: where one is written, it may do its work
/// in another order than the description.
inline void check_aliases(const ir::block_node& block, const std::string& intrinsic) {
  const auto is_written = [&](std::size_t i) {
    const ir::buffer& view = block.match_buffers[i].source.buffer;
    return std::any_of(block.writes.begin(), block.writes.end(),
                       [&](const ir::buffer_region& w) { return w.buffer == view; });
  };
  for (std::size_t i = 0; i < block.match_buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const ir::buffer_region &a = block.match_buffers[i].source,
                              &b = block.match_buffers[j].source;
      if (a.buffer == b.buffer && is_written(i) && !apart(a, b))
        refuse(6, "block \"" + block.name + "\" writes \"" + a.buffer->name +
                      "\", which is two operands of " + intrinsic + " at once");
    }
}

inline ir::block implement(const ir::function& f, const ir::block_node& block,
                           const std::string& name) {
  const auto intrinsic = intrin::find(name);
  if (!intrinsic) refuse(1, "no intrinsic is called \"" + name + "\"");
  if (!block.alloc_buffers.empty() || !block.match_buffers.empty())
    refuse(4, "block \"" + block.name + "\" has buffers of its own");
  std::unordered_map<ir::buffer, matched_buffer> matched;
  const std::string difference = match_tensor(block, intrinsic->description, matched);
  if (!difference.empty())
    refuse(3, "block \"" + block.name + "\" is no " + name + ": " + difference);

  const ir::block_node& root = *ir::root_block(intrinsic->implementation);
  ir::block_node out = block;
  renewer renew(f, index_type(block));
  for (std::size_t i = 0; i < intrinsic->implementation.params.size(); ++i) {
    const ir::buffer& param = intrinsic->implementation.params[i].buffer;
    const auto found = matched.find(intrinsic->description.params[i].buffer);
    if (found == matched.end())
      throw internal_error("an intrinsic whose description does not list \"" + param->name + "\"");
    ir::buffer_region source = source_of(found->second, region_of(root, param));
    check_inside(block, source);
    out.match_buffers.push_back({renew.renew(param), std::move(source)});
  }
  check_aliases(out, name);
  for (const ir::buffer& a : root.alloc_buffers) out.alloc_buffers.push_back(renew.renew(a));
  out.body = renew.mutate(root.body);
  for (const auto& [key, value] : root.annotations) out.annotations.emplace(key, value);
  return ir::make_block(std::move(out));
}

}  // namespace detail::tensorizing

TILEWRIGHT_INLINE ir::function tensorize(const ir::function& f, std::uint64_t block,
                                         const std::string& intrinsic) {
  const path at = need_block(f, block, "tensorize");
  const ir::block_realize_node& realize = *ir::as_realize(at.target());
  return replace_block(f, at, detail::tensorizing::implement(f, *realize.block, intrinsic));
}

TILEWRIGHT_INLINE ir::function tensorize(const ir::function& f, const ir::var& loop,
                                         const std::string& intrinsic, bool preserve_unit_iters) {
  need_loop(f, loop, "tensorize");
  const auto made = [&] {
    try {
      return blockize(f, loop, preserve_unit_iters);
    } catch (const schedule_error& e) {
      detail::tensorizing::refuse(2, e.what());
    }
  }();
  return tensorize(made.function, made.block, intrinsic);
}

}  // namespace tilewright::primitive
