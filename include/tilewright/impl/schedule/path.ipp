#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail {

template <class Found>
bool descend(const ir::stmt& s, const Found& found, path& out) {
  const std::size_t depth = out.slots.size();
  const ir::stmt* at = &s;
  for (;;) {  // down a nest of loops, which most statements are, without a call for each
    out.slots.push_back(at);
    if (found(*at)) return true;
    const ir::loop_node* loop = ir::as_loop(*at);
    if (!loop) break;
    at = &loop->body;
  }
  // most blocks only store: nothing to find inside
  const ir::block_realize_node* leaf = ir::as_realize(*at);
  if (leaf && ir::as_store(leaf->block->body)) {
    out.slots.resize(depth);
    return false;
  }
  if (ir::any_child(*at, [&](const ir::stmt& child) { return descend(child, found, out); }))
    return true;
  out.slots.resize(depth);
  return false;
}

template <class Found>
path find(const ir::function& f, const Found& found) {
  path out;
  out.slots.reserve(32);
  if (f.body) descend(f.body, found, out);
  return out;
}

inline ir::stmt replace_in_seq(const ir::seq_node& parent, const ir::stmt* slot, ir::stmt with) {
  const auto at = static_cast<std::size_t>(slot - parent.stmts.data());
  if (with && !ir::as_seq(with)) {  // nothing to flatten
    auto* node = new ir::seq_node(parent);
    node->stmts[at] = std::move(with);
    return ir::stmt(node);
  }
  std::vector<ir::stmt> stmts = parent.stmts;
  stmts[at] = std::move(with);
  const bool empty = support::none(stmts, [](const ir::stmt& s) { return static_cast<bool>(s); });
  return empty ? ir::stmt{} : ir::make_seq(std::move(stmts));
}

inline ir::stmt replace_in_if(const ir::if_node& parent, const ir::stmt* slot, ir::stmt with) {
  const bool in_then = slot == &parent.then_body;
  ir::stmt yes = in_then ? std::move(with) : parent.then_body;
  ir::stmt no = in_then ? parent.else_body : std::move(with);
  if (yes) return ir::make_if(parent.condition, std::move(yes), std::move(no));
  return no ? ir::make_if(ir::logical_not(parent.condition), std::move(no)) : ir::stmt{};
}

inline ir::stmt rebind(const ir::block_realize_node& like, ir::block with) {
  return ir::make_realize(like.values, like.predicate, std::move(with));
}

inline ir::stmt replace_body(const ir::block_realize_node& parent, ir::stmt body) {
  if (!body) throw internal_error("removing the last statement of block " + parent.block->name);
  auto* changed = new ir::block_node(*parent.block);
  changed->body = std::move(body);
  return rebind(parent, ir::block(changed));
}

/// The parent with `with` in place of the child that `slot` points to; null when nothing is left.
inline ir::stmt replace_child(const ir::stmt& parent, const ir::stmt* slot, ir::stmt with) {
  switch (parent->kind) {
    case ir::stmt_kind::loop:
      return with ? ir::with_body(*ir::as_loop(parent), std::move(with)) : ir::stmt{};
    case ir::stmt_kind::block_realize:
      return replace_body(*ir::as_realize(parent), std::move(with));
    case ir::stmt_kind::seq: return replace_in_seq(*ir::as_seq(parent), slot, std::move(with));
    case ir::stmt_kind::if_else: return replace_in_if(*ir::as_if(parent), slot, std::move(with));
    case ir::stmt_kind::let: {
      const ir::let_node& n = *ir::as_let(parent);
      return with ? ir::make_let(n.var, n.value, std::move(with)) : ir::stmt{};
    }
    case ir::stmt_kind::allocate:
      return with ? ir::make_allocate(ir::as_allocate(parent)->buffer, std::move(with))
                  : ir::stmt{};
    case ir::stmt_kind::while_loop:
      return with ? ir::make_while(ir::as_while(parent)->condition, std::move(with)) : ir::stmt{};
    case ir::stmt_kind::attribute: {
      const ir::attribute_node& n = *ir::as_attribute(parent);
      return with ? ir::make_attribute(n.node, n.key, n.value, std::move(with)) : ir::stmt{};
    }
    case ir::stmt_kind::store:
    case ir::stmt_kind::evaluate: break;
  }
  throw internal_error("a path leads through a statement without children");
}

inline void collect_children(const ir::stmt& s, std::vector<const ir::block_realize_node*>& out) {
  ir::any_child(s, [&](const ir::stmt& child) {
    if (const auto* realize = ir::as_realize(child))
      out.push_back(realize);
    else
      collect_children(child, out);
    return false;
  });
}

inline void collect_all(const ir::stmt& s, std::vector<const ir::block_realize_node*>& out) {
  ir::any_child(s, [&](const ir::stmt& child) {
    if (const auto* realize = ir::as_realize(child)) out.push_back(realize);
    collect_all(child, out);
    return false;
  });
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<const ir::loop_node*> path::loops() const {
  std::vector<const ir::loop_node*> out;
  out.reserve(slots.size());
  for (std::size_t i = slots.size() - 1; i-- > 0;) {
    if ((*slots[i])->kind == ir::stmt_kind::block_realize) break;
    if (const ir::loop_node* loop = ir::as_loop(*slots[i])) out.push_back(loop);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

TILEWRIGHT_INLINE std::vector<const ir::loop_node*> path::all_loops() const {
  std::vector<const ir::loop_node*> out;
  out.reserve(slots.size());
  for (std::size_t i = 0; i + 1 < slots.size(); ++i)
    if (const ir::loop_node* loop = ir::as_loop(*slots[i])) out.push_back(loop);
  return out;
}

TILEWRIGHT_INLINE const ir::block_realize_node* path::scope() const noexcept {
  for (std::size_t i = slots.size() - 1; i-- > 0;)
    if (const ir::block_realize_node* realize = ir::as_realize(*slots[i])) return realize;
  return nullptr;
}

TILEWRIGHT_INLINE path find_loop(const ir::function& f, const ir::var& loop) {
  return detail::find(f, [&](const ir::stmt& s) {
    const ir::loop_node* n = ir::as_loop(s);
    return n && n->var.same(loop);
  });
}

TILEWRIGHT_INLINE path find_block(const ir::function& f, std::uint64_t block_id) {
  return detail::find(f, [&](const ir::stmt& s) {
    const ir::block_realize_node* n = ir::as_realize(s);
    return n && n->block->id == block_id;
  });
}

TILEWRIGHT_INLINE path need_loop(const ir::function& f, const ir::var& loop,
                                 const char* primitive) {
  if (!loop) refusal{primitive}(0, "the variable stands for a compute location that is no loop");
  path out = find_loop(f, loop);
  if (!out)
    refusal{primitive}(
        0, {"loop \"", loop->name, "\" no longer exists; it was split, fused or removed"});
  return out;
}

TILEWRIGHT_INLINE path need_block(const ir::function& f, std::uint64_t block_id,
                                  const char* primitive) {
  path out = find_block(f, block_id);
  if (!out) refusal{primitive}(0, "the block no longer exists; it was inlined or removed");
  return out;
}

TILEWRIGHT_INLINE ir::function replace(const ir::function& f, const path& at, ir::stmt with) {
  for (std::size_t i = at.slots.size() - 1; i-- > 0;)
    with = detail::replace_child(*at.slots[i], at.slots[i + 1], std::move(with));
  if (!with) throw internal_error("removing the body of function " + f.name);
  ir::function out = f;
  out.body = std::move(with);
  return out;
}

TILEWRIGHT_INLINE ir::function replace_block(const ir::function& f, const path& realize,
                                             ir::block with) {
  return replace(f, realize, detail::rebind(*ir::as_realize(realize.target()), std::move(with)));
}

TILEWRIGHT_INLINE std::vector<const ir::block_realize_node*> child_blocks(const ir::stmt& s) {
  std::vector<const ir::block_realize_node*> out;
  detail::collect_children(s, out);
  return out;
}

TILEWRIGHT_INLINE std::vector<const ir::block_realize_node*> all_blocks(const ir::stmt& s) {
  std::vector<const ir::block_realize_node*> out;
  detail::collect_all(s, out);
  return out;
}

}  // namespace tilewright::primitive
