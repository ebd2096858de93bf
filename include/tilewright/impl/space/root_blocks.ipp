#pragma once

#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

inline const ir::block_realize_node* find_named(const schedule& s, const std::string& name) {
  const ir::block_realize_node* root = ir::as_realize(s.function().body);
  if (root->block->name == name) return root;
  for (const ir::block_realize_node* realize : primitive::all_blocks(s.function().body))
    if (realize->block->name == name) return realize;
  return nullptr;
}

/// Names, without `self`, of the root's blocks that touch one of `buffers` on the side `regions`.
inline std::vector<std::string> touching(const schedule& s, const std::string& self,
                                         const std::vector<ir::buffer_region>& buffers,
                                         std::vector<ir::buffer_region> ir::block_node::*regions) {
  std::vector<std::string> out;
  for (const ir::block_realize_node* realize :
       primitive::child_blocks(ir::root_block(s.function())->body)) {
    const ir::block_node& other = *realize->block;
    const auto touches = [&](const ir::buffer_region& mine) {
      return support::any((other.*regions),
                          [&](const ir::buffer_region& r) { return r.buffer == mine.buffer; });
    };
    if (other.name != self && support::any(buffers, touches)) out.push_back(other.name);
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE const ir::block_realize_node& named_block(const schedule& s,
                                                            const std::string& name) {
  const ir::block_realize_node* found = detail::find_named(s, name);
  if (!found) throw internal_error("a space asks for block " + name + ", which does not exist");
  return *found;
}

TILEWRIGHT_INLINE bool has_block(const schedule& s, const std::string& name) {
  return detail::find_named(s, name) != nullptr;
}

TILEWRIGHT_INLINE std::vector<std::string> root_block_names(const schedule& s) {
  std::vector<std::string> out;
  for (const ir::block_realize_node* realize :
       primitive::child_blocks(ir::root_block(s.function())->body))
    out.push_back(realize->block->name);
  return out;
}

TILEWRIGHT_INLINE bool is_output(const schedule& s, const std::string& name) {
  const std::vector<ir::buffer>& allocated = ir::root_block(s.function())->alloc_buffers;
  for (const ir::buffer_region& write : named_block(s, name).block->writes)
    if (!support::contains(allocated, write.buffer)) return true;
  return false;
}

TILEWRIGHT_INLINE std::vector<std::string> consumer_names(const schedule& s,
                                                          const std::string& name) {
  return detail::touching(s, name, named_block(s, name).block->writes, &ir::block_node::reads);
}

TILEWRIGHT_INLINE std::vector<std::string> producer_names(const schedule& s,
                                                          const std::string& name) {
  return detail::touching(s, name, named_block(s, name).block->reads, &ir::block_node::writes);
}

TILEWRIGHT_INLINE std::size_t loop_count(const schedule& s, const std::string& name) {
  return primitive::get_loops(s.function(), named_block(s, name).block->id).size();
}

}  // namespace tilewright::space
