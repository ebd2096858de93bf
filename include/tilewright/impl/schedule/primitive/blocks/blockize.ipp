#pragma once

#include <algorithm>
#include <string>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/impl/schedule/rewrite/block_parts.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/schedule/primitive/blocks/blockize.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::block_parts {

/// Position of the loop in a chain of loops down to the one block; refuses otherwise.
inline const ir::block_realize_node& only_block(const ir::stmt& from) {
  const ir::stmt* s = &from;
  while (const ir::loop_node* loop = ir::as_loop(*s)) s = &loop->body;
  if (const ir::block_realize_node* realize = ir::as_realize(*s)) return *realize;
  const std::size_t n = child_blocks(from).size();
  refuse(1, {"loop \"", ir::as_loop(from)->var->name, "\" holds ",
             (n == 1 ? std::string("other statements than loops and its block")
                     : std::to_string(n) + " blocks, not one")});
}

}  // namespace detail::block_parts

TILEWRIGHT_INLINE new_block blockize(const ir::function& f, const ir::var& loop,
                                     bool preserve_unit_iters) {
  using namespace detail::block_parts;
  const path at = need_loop(f, loop, "blockize");
  const ir::block_node& block = *only_block(at.target()).block;
  const scoped_block whole(f, block.id);
  parts p;
  p.child = &*whole;
  p.first = static_cast<std::size_t>(loop_index(p.child->loops, loop));
  p.given = detail::lets_around(whole.at);
  if (block.init && !runs_once(*p.child, p.first))
    refuse(4, {quoted(block), " repeats its reduction in loops from \"", loop->name, "\" inwards"});
  check_loops(p);
  divide(p, preserve_unit_iters);
  check_outer_loads(p, p.old());
  make_iters(p, preserve_unit_iters, nullptr);
  ir::block_node outer;
  outer.name = fresh_block_name(f, block.name + "_o");
  outer.iters = p.outer;
  outer.reads = widened(p, p.block->reads);
  add_loads_around(p, outer.reads);
  outer.writes = widened(p, p.block->writes);
  outer.body = wrap(p, realize_inner(p));
  if (p.block->init) outer.init = make_init(p, fresh_block_name(f, block.name + "_init"));
  const ir::block made = ir::make_block(std::move(outer));
  check_sight(*made, at);
  return {replace(f, at, ir::make_realize(p.outer_values, p.divided.outer_predicate, made)),
          made->id};
}

namespace detail::block_parts {

/// The sequence that holds the nests of all blocks, and where they stand in it.
struct siblings {
  path seq;
  std::vector<std::size_t> at;  // [blocks]
};

inline siblings find_siblings(const std::vector<path>& paths) {
  if (paths.size() < 2) refuse(5, "at least two blocks are needed");
  std::size_t common = 0;
  const auto& head = paths[0].slots;
  while (support::all(paths, [&](const path& p) {
    return common + 1 < p.slots.size() && common < head.size() && p.slots[common] == head[common];
  }))
    ++common;
  siblings out;
  out.seq = paths[0];
  out.seq.slots.resize(common);
  const ir::seq_node* seq = common > 0 ? ir::as_seq(out.seq.target()) : nullptr;
  if (!seq) refuse(5, "the blocks do not stand in one sequence");
  for (const path& p : paths) {
    out.at.push_back(static_cast<std::size_t>(p.slots[common] - seq->stmts.data()));
    for (std::size_t s = common; s + 1 < p.slots.size(); ++s)
      if (!ir::as_loop(*p.slots[s]))
        refuse(5, {"other statements stand beside ", quoted(*ir::as_realize(p.target())->block)});
  }
  std::vector<std::size_t> sorted = out.at;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] != sorted[i - 1] + 1)
      refuse(5, "the nests of the blocks do not stand next to each other");
  return out;
}

inline void check_same_outer(const parts& a, const parts& b) {
  const auto differ = [&] {
    refuse(7, {quoted(a.old()), " and ", quoted(b.old()), " run in different outer iterations"});
  };
  if (a.divided.iters.size() < b.divided.iters.size()) differ();
  if (!ir::equal(a.divided.outer_predicate, b.divided.outer_predicate)) differ();
  for (std::size_t i = 0; i < b.divided.iters.size(); ++i) {
    const divided_iter &x = a.divided.iters[i], &y = b.divided.iters[i];
    const arith::analyzer known;
    if (!known.prove_equal(x.outer_dom.extent, y.outer_dom.extent) ||
        !known.prove_equal(x.outer, y.outer) ||
        (!is_unit(x.outer_dom) && a.old().iters[i].kind != b.old().iters[i].kind))
      differ();
  }
}

}  // namespace detail::block_parts

TILEWRIGHT_INLINE new_block blockize(const ir::function& f,
                                     const std::vector<std::uint64_t>& blocks,
                                     bool preserve_unit_iters) {
  using namespace detail::block_parts;
  std::vector<path> paths;
  for (const std::uint64_t id : blocks) paths.push_back(need_block(f, id, "blockize"));
  const siblings where = find_siblings(paths);
  const block_scope scope(*where.seq.scope()->block);
  const std::size_t around = where.seq.loops().size();

  std::vector<parts> all(blocks.size());
  ir::block_node outer;
  outer.name = "outer_";
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    parts& p = all[i];
    p.child = &scope[scope.position(blocks[i])];
    p.first = around;
    p.given = detail::lets_around(paths[i]);
    if (p.old().init) refuse(6, {quoted(p.old()), " has an init"});
    divide(p, preserve_unit_iters);
    check_loops(p);
    if (i > 0) check_same_outer(all[0], p);
    make_iters(p, preserve_unit_iters, i > 0 ? &all[0].outer : nullptr);
    for (ir::buffer_region& r : widened(p, p.block->reads))
      arith::add_region(outer.reads, std::move(r), p.known);
    for (ir::buffer_region& w : widened(p, p.block->writes))
      arith::add_region(outer.writes, std::move(w), p.known);
    outer.name += p.old().name + "_";
  }
  for (auto* list : {&outer.reads, &outer.writes})
    std::reverse(list->begin(), list->end());  // as TVM
  for (const parts& p : all) add_loads_around(p, outer.reads);
  for (const parts& p : all)
    for (const parts& other : all) check_outer_loads(p, other.old());
  outer.name = fresh_block_name(f, outer.name);
  const ir::seq_node& seq = *ir::as_seq(where.seq.target());
  const std::size_t first = *std::min_element(where.at.begin(), where.at.end());
  std::vector<ir::stmt> inside(blocks.size()), list;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    inside[where.at[i] - first] = wrap(all[i], realize_inner(all[i]));
  outer.iters = all[0].outer;
  outer.body = ir::make_seq(std::move(inside));
  const ir::block made = ir::make_block(std::move(outer));
  check_sight(*made, where.seq);
  for (std::size_t i = 0; i < seq.stmts.size(); ++i) {
    if (i == first)
      list.push_back(ir::make_realize(all[0].outer_values, all[0].divided.outer_predicate, made));
    else if (i < first || i >= first + blocks.size())
      list.push_back(seq.stmts[i]);
  }
  return {replace(f, where.seq, ir::make_seq(std::move(list))), made->id};
}

}  // namespace tilewright::primitive
