#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/inspection.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse {
namespace detail {

using buffer_names = std::unordered_set<ir::buffer>;

/// Buffers that a statement touches from outside of it.
struct touched_buffers {
  buffer_names read, written;

  explicit touched_buffers(const ir::stmt& s) {
    buffer_names own;
    ir::for_each_stmt(s, [&](const ir::stmt& at) {
      if (const ir::block_realize_node* realize = ir::as_realize(at))
        own.insert(realize->block->alloc_buffers.begin(), realize->block->alloc_buffers.end());
      if (const ir::allocate_node* allocated = ir::as_allocate(at)) own.insert(allocated->buffer);
      if (const ir::store_node* store = ir::as_store(at)) written.insert(store->buffer);
    });
    ir::for_each_expr(s, [&](const ir::expr& e) {
      if (e->op == ir::op::load || e->op == ir::op::data) read.insert(e->buffer);
    });
    for (const ir::buffer& b : own) {
      read.erase(b);
      written.erase(b);
    }
  }
};

/// Parameters that hold offsets and indices, as the function says.
inline buffer_names pattern_arrays(const ir::function& f, inspected from) {
  std::set<std::string> names;
  for (const ir::param& p : f.params) {
    if (!p.buffer) continue;
    const std::optional<ir::offsets_note> note = ir::offsets_of(f, p.buffer->name);
    if (!note) continue;
    names.insert(p.buffer->name);
    if (from == inspected::patterns) names.insert(note->into);
  }
  buffer_names out;
  for (const ir::param& p : f.params)
    if (p.buffer && names.count(p.buffer->name) > 0) out.insert(p.buffer);
  return out;
}

/// Which statements depend on patterns alone.
inline std::vector<bool> inspecting(const std::vector<touched_buffers>& statements,
                                    const buffer_names& patterns, const buffer_names& allocated) {
  std::vector<bool> out(statements.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    buffer_names kept;  // what others write
    for (std::size_t k = 0; k < statements.size(); ++k)
      if (!out[k]) kept.insert(statements[k].written.begin(), statements[k].written.end());
    buffer_names known = patterns;
    for (std::size_t k = 0; k < statements.size(); ++k) {
      const touched_buffers& s = statements[k];
      const auto is_known = [&](const ir::buffer& b) {
        return known.count(b) > 0 || s.written.count(b) > 0;
      };
      const auto is_list = [&](const ir::buffer& b) {
        return allocated.count(b) > 0 && kept.count(b) == 0;
      };
      const bool inspects = out[k] && !s.written.empty() && support::all(s.read, is_known) &&
                            support::all(s.written, is_list);
      changed = changed || out[k] != inspects;
      out[k] = inspects;
      if (inspects) known.insert(s.written.begin(), s.written.end());
    }
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE inspection divide(const ir::function& f, inspected from) {
  const ir::block_realize_node* root = ir::as_realize(f.body);
  if (!root) throw argument_error("divide: \"" + f.name + "\" has no root block");
  const ir::seq_node* several = ir::as_seq(root->block->body);
  const std::vector<ir::stmt> all =
      several ? several->stmts : std::vector<ir::stmt>{root->block->body};
  const std::vector<ir::buffer>& allocated = root->block->alloc_buffers;
  std::vector<detail::touched_buffers> touched(all.begin(), all.end());
  const detail::buffer_names patterns = detail::pattern_arrays(f, from);
  const std::vector<bool> inspects =
      detail::inspecting(touched, patterns, {allocated.begin(), allocated.end()});
  inspection out;
  out.executor = f;
  std::vector<ir::stmt> before, rest;
  detail::buffer_names read;
  for (std::size_t k = 0; k < all.size(); ++k) {
    (inspects[k] ? before : rest).push_back(all[k]);
    if (inspects[k]) read.insert(touched[k].read.begin(), touched[k].read.end());
  }
  if (before.empty()) return out;
  std::vector<ir::buffer> kept;
  for (const ir::buffer& b : allocated) {
    const auto lists = [&](std::size_t k) {
      return inspects[k] && touched[k].written.count(b) > 0;
    };
    bool listed = false;
    for (std::size_t k = 0; k < all.size(); ++k) listed = listed || lists(k);
    (listed ? out.lists : kept).push_back(b);
  }
  out.inspector.name = f.name + "_inspector";
  for (const ir::param& p : f.params)
    if (p.buffer && patterns.count(p.buffer) > 0 && read.count(p.buffer) > 0)
      out.inspector.params.push_back(p);
  for (const ir::buffer& b : out.lists) {
    out.inspector.params.push_back({b, {}});
    out.executor.params.push_back({b, {}});
  }
  const auto offsets = f.attrs.find(ir::offsets_attribute);
  if (offsets != f.attrs.end()) out.inspector.attrs.insert(*offsets);
  out.executor.attrs.erase(ir::iterations_attribute);
  out.inspector.body = ir::make_root(ir::make_seq(std::move(before)));
  ir::block_node whole = *root->block;
  whole.body = ir::make_seq(std::move(rest));
  whole.alloc_buffers = std::move(kept);
  out.executor.body =
      ir::make_realize(root->values, root->predicate, ir::make_block(std::move(whole)));
  return out;
}

}  // namespace tilewright::sparse
