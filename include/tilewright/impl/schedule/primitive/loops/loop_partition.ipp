#pragma once

#include <string>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/impl/schedule/rewrite/statement_copy.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/loops/loop_partition.hpp>

namespace tilewright::primitive {
namespace detail::partitions {

using factor_list = std::vector<std::optional<std::int64_t>>;

inline constexpr refusal refuse{"loop_partition"};

/// Lengths of the parts, after requirements 1, 2 and 5.
inline std::vector<std::int64_t> lengths(const factor_list& factors, std::int64_t extent,
                                         const std::string& name) {
  std::int64_t rest = extent;
  bool inferred = false;
  for (const auto& f : factors) {
    if (!f && std::exchange(inferred, true))
      refuse(1, {name, " has more than one factor to infer"});
    if (!f) continue;
    if (*f <= 0) refuse(2, {name, ": factor ", *f, " is not positive"});
    if (*f >= rest) refuse(5, {name, ": the sum of the factors is not below the extent ", extent});
    rest -= *f;
  }
  std::vector<std::int64_t> out;
  for (const auto& f : factors) out.push_back(f.value_or(rest));
  if (!inferred) out.push_back(rest);
  return out;
}

/// The variables that are defined around the end of the path.
inline ir::var_set defined_outside(const ir::function& f, const path& at) {
  ir::var_set out = defined_by(
      enclosing_definitions::loops | enclosing_definitions::lets | enclosing_definitions::blocks,
      at, 0, at.slots.size());
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

/// A copy of the body of the loop for one part.
class part_copy : public fresh_copy {
 public:
  part_copy(const ir::var& loop, ir::var part, ir::range range, const ir::var_set& outside,
            block_names& blocks)
      : fresh_copy(outside), loop_(loop), part_(part), range_(std::move(range)), blocks_(blocks) {
    put(loop_, std::move(part));
  }
  using fresh_copy::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt out = fresh_copy::mutate(s);
    const ir::block_realize_node* r = ir::as_realize(s);
    return r ? ranged(*r, *ir::as_realize(out)) : out;
  }

 private:
  std::string name_of(const ir::block& b) override {
    return blocks_.fresh(b->name + "_" + part_->name);
  }

  /// Variables that the loop drives have its part for their domain.
  ir::stmt ranged(const ir::block_realize_node& old, const ir::block_realize_node& r) const {
    ir::block_node out = *r.block;
    for (std::size_t i = 0; i < out.iters.size(); ++i)
      if (old.values[i].same(loop_) && out.iters[i].kind == ir::iter_kind::spatial)
        out.iters[i].dom = range_;
    return ir::make_realize(r.values, r.predicate, ir::make_block(std::move(out)));
  }

  ir::var loop_, part_;
  ir::range range_;
  block_names& blocks_;
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
    refuse(3, {name, " is annotated or bound to threads"});
  if (!ir::is_int(old.min) || !ir::is_int(old.extent)) refuse(4, {name, " has no constant range"});
  const std::vector<std::int64_t> parts = lengths(factors, ir::as_int(old.extent), name);
  const auto blocks = child_blocks(at.target());
  if (blocks.empty()) refuse(6, {name, " holds no block"});
  for (const ir::block_realize_node* b : blocks)
    for (std::size_t i = 0; i < b->values.size(); ++i)
      if (b->block->iters[i].kind != ir::iter_kind::spatial && ir::uses_var(b->values[i], old.var))
        refuse(7, {name, " drives variable \"", b->block->iters[i].var->name, "\" of ",
                   quoted(*b->block), ", which is not spatial"});
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
