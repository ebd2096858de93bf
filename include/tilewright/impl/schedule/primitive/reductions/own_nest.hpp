// Nests of blocks that stand in the root block, one block each, put in the place of others.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive::detail::joining {

/// Serial loops over the domains of the block's variables around it, which all begin at 0.
inline ir::stmt nest_of(ir::block_node block) {
  std::vector<ir::expr> loops, extents;
  for (const ir::iter_var& i : block.iters) {
    const std::string& name = i.var->name;
    loops.push_back(ir::make_var(name.size() > 1 && name[0] == 'v' ? name.substr(1) : name + "_i",
                                 i.var.type()));
    extents.push_back(i.dom.extent);
  }
  return dependence::nest_around(
      loops, extents, ir::make_realize(loops, ir::boolean(true), ir::make_block(std::move(block))));
}

/// What expressions load, element by element.
inline std::vector<ir::buffer_region> loaded_elements(const std::vector<ir::expr>& of) {
  std::vector<ir::expr> met;
  std::vector<ir::buffer_region> out;
  for (const ir::expr& value : of)
    ir::for_each_expr(value, [&](const ir::expr& e) {
      if (e->op != ir::op::load ||
          support::any(met, [&](const ir::expr& other) { return ir::equal(e, other); }))
        return;
      met.push_back(e);
      out.push_back({e->buffer, ir::point_box(e->args)});
    });
  return out;
}

/// The statements of the root block, a nest each.
inline std::vector<ir::stmt> root_nests(const ir::function& f) {
  const ir::stmt& body = ir::root_block(f)->body;
  const ir::seq_node* several = ir::as_seq(body);
  return several ? several->stmts : std::vector<ir::stmt>{body};
}

/// Whether the block stands in the statement.
inline bool stands_in(const ir::stmt& s, std::uint64_t block) {
  return ir::any_stmt(
      s, [&](const ir::stmt& inside) { return dependence::holds_block(inside, block); });
}

/// The function with other nests in the place of the one that holds the block in the root block, or before it.
inline ir::function put_nests(const ir::function& f, std::uint64_t block,
                              const std::vector<ir::stmt>& nests, bool before = false) {
  const std::uint64_t root_id = ir::root_block(f)->id;
  ir::block_node root = *ir::root_block(f);
  std::vector<ir::stmt> body;
  for (const ir::stmt& s : root_nests(f)) {
    const bool here = stands_in(s, block);
    if (here) body.insert(body.end(), nests.begin(), nests.end());
    if (!here || before) body.push_back(s);
  }
  root.body = ir::make_seq(std::move(body));
  return replace_block(f, find_block(f, root_id), ir::make_block(std::move(root)));
}

/// The function with buffers of the root block that are new, and without those that are not used any more.
inline ir::function change_buffers(const ir::function& f, const std::vector<ir::buffer>& made,
                                   const std::vector<ir::buffer>& gone) {
  const std::uint64_t root_id = ir::root_block(f)->id;
  ir::block_node root = *ir::root_block(f);
  std::erase_if(root.alloc_buffers,
                [&](const ir::buffer& b) { return support::contains(gone, b); });
  root.alloc_buffers.insert(root.alloc_buffers.end(), made.begin(), made.end());
  return replace_block(f, find_block(f, root_id), ir::make_block(std::move(root)));
}

}  // namespace tilewright::primitive::detail::joining
