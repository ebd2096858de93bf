#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/impl/schedule/analysis/intrinsic_match.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/impl/schedule/rewrite/statement_copy.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/blocks/blockize.hpp>
#include <tilewright/schedule/primitive/blocks/tensorize.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::tensorizing {

inline constexpr refusal refuse{"tensorize"};

/// A copy of an implementation. Index variables get the type of the program's.
class implementation_copy : public fresh_copy {
 public:
  implementation_copy(const ir::function& f, dtype index) : program_(f), index_(index) {}

 private:
  std::string name_of(const ir::block& b) override { return fresh_block_name(program_, b->name); }
  ir::expr bound(const ir::expr& e) override {
    const ir::expr out = mutate(e);
    return out.type() == dtype::i32 ? ir::cast(index_, out) : out;
  }

  const ir::function& program_;
  dtype index_;
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
  arith::analyzer known = knowing(block.iters);
  for (std::size_t d = 0; d < r.box.size(); ++d) {
    const arith::bounds first = known.const_bounds(r.box[d].min);
    const arith::bounds end = known.const_bounds(r.box[d].min + r.box[d].extent);
    const ir::expr& shape = r.buffer->shape[d];
    if (!first.bounded() || !end.bounded() || !ir::is_int(shape)) continue;
    if (first.lo < 0 || end.hi > ir::as_int(shape))
      refuse(5, {quoted(block), " touches only a part of ", ir::print(r),
                 ", which reaches out of the buffer"});
  }
}

/// Parameters of an implementation are different memory: where one is written, it may do its work
/// in another order than the description.
inline void check_aliases(const ir::block_node& block, const std::string& intrinsic) {
  for (std::size_t i = 0; i < block.match_buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const ir::buffer_region &a = block.match_buffers[i].source,
                              &b = block.match_buffers[j].source;
      if (a.buffer == b.buffer && writes_buffer(block, a.buffer) &&
          !arith::disjoint(a.box, b.box, {}))
        refuse(6, {quoted(block), " writes \"", a.buffer->name, "\", which is two operands of ",
                   intrinsic, " at once"});
    }
}

inline ir::block implement(const ir::function& f, const ir::block_node& block,
                           const std::string& name) {
  const auto intrinsic = intrin::find(name);
  if (!intrinsic) refuse(1, {"no intrinsic is called \"", name, "\""});
  if (!block.alloc_buffers.empty() || !block.match_buffers.empty())
    refuse(4, {quoted(block), " has buffers of its own"});
  std::unordered_map<ir::buffer, matched_buffer> matched;
  const std::string difference = match_tensor(block, intrinsic->description, matched);
  if (!difference.empty()) refuse(3, {quoted(block), " is no ", name, ": ", difference});

  const ir::block_node& root = *ir::root_block(intrinsic->implementation);
  ir::block_node out = block;
  implementation_copy copy(f, index_type(block));
  for (std::size_t i = 0; i < intrinsic->implementation.params.size(); ++i) {
    const ir::buffer& param = intrinsic->implementation.params[i].buffer;
    const auto found = matched.find(intrinsic->description.params[i].buffer);
    if (found == matched.end())
      throw internal_error("an intrinsic whose description does not list \"" + param->name + "\"");
    ir::buffer_region source = source_of(found->second, region_of(root, param));
    check_inside(block, source);
    out.match_buffers.push_back({copy.renew(param), std::move(source)});
  }
  check_aliases(out, name);
  for (const ir::buffer& a : root.alloc_buffers) out.alloc_buffers.push_back(copy.renew(a));
  out.body = copy.mutate(root.body);
  for (const auto& [key, value] : root.annotations) out.annotations.emplace(key, value);
  return ir::make_block(std::move(out));
}

}  // namespace detail::tensorizing

TILEWRIGHT_INLINE ir::function tensorize(const ir::function& f, std::uint64_t block,
                                         const std::string& tensor_intrin) {
  const path at = need_block(f, block, "tensorize");
  const ir::block_realize_node& realize = *ir::as_realize(at.target());
  return replace_block(f, at, detail::tensorizing::implement(f, *realize.block, tensor_intrin));
}

TILEWRIGHT_INLINE ir::function tensorize(const ir::function& f, const ir::var& loop,
                                         const std::string& tensor_intrin,
                                         bool preserve_unit_iters) {
  need_loop(f, loop, "tensorize");
  const auto made = [&] {
    try {
      return blockize(f, loop, preserve_unit_iters);
    } catch (const schedule_error& e) {
      detail::tensorizing::refuse(2, {e.what()});
    }
  }();
  return tensorize(made.function, made.block, tensor_intrin);
}

}  // namespace tilewright::primitive
