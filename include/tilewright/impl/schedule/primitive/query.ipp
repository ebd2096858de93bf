#pragma once

#include <optional>
#include <string_view>

#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::primitive {
namespace detail::querying {

inline std::vector<std::uint64_t> ids(const std::vector<const ir::block_realize_node*>& blocks) {
  std::vector<std::uint64_t> out;
  out.reserve(blocks.size());
  for (const ir::block_realize_node* r : blocks) out.push_back(r->block->id);
  return out;
}

/// All blocks in the order of the program's text, the root first.
inline std::vector<const ir::block_realize_node*> with_root(const ir::function& f) {
  std::vector<const ir::block_realize_node*> out = all_blocks(f.body);
  if (const ir::block_realize_node* root = ir::as_realize(f.body)) out.insert(out.begin(), root);
  return out;
}

/// The blocks of a name: how many they are, and the first one. Asked for by a quarter of the instructions of a trace.
struct named_blocks {
  const ir::block_realize_node* first = nullptr;
  std::size_t count = 0;

  named_blocks(const ir::stmt& s, const std::string& name) { look(s, name); }

 private:
  bool look(const ir::stmt& s, const std::string& name) {
    if (const ir::block_realize_node* r = ir::as_realize(s); r && r->block->name == name) {
      if (count == 0) first = r;
      ++count;
    }
    return ir::any_child(s, [&](const ir::stmt& child) { return look(child, name); });
  }
};

/// The number in "#2"; nothing for other text.
inline std::optional<std::size_t> place_in(std::string_view name) {
  if (name.empty() || name[0] != '#') return std::nullopt;
  return support::read_number<std::size_t>(name.substr(1));
}

/// The neighbours of a block in its scope, by `select(scope, position)`.
template <class Select>
std::vector<std::uint64_t> neighbours(const ir::function& f, std::uint64_t block,
                                      const char* primitive, const Select& select) {
  const path at = need_block(f, block, primitive);
  std::vector<std::uint64_t> out;
  if (!at.scope()) return out;  // the root block
  const scoped_block b(at);
  for (const std::size_t i : select(b.scope, b.child)) out.push_back(b.scope[i].block().id);
  return out;
}

}  // namespace detail::querying

TILEWRIGHT_INLINE std::uint64_t get_block(const ir::function& f, const std::string& name) {
  const detail::querying::named_blocks found(f.body, name);
  if (found.count == 1) return found.first->block->id;
  if (found.count > 1) refusal{"get_block"}(1, {found.count, " blocks are called \"", name, "\""});
  const std::vector<const ir::block_realize_node*> blocks = detail::querying::with_root(f);
  if (const auto place = detail::querying::place_in(name); place && *place < blocks.size())
    return blocks[*place]->block->id;
  std::string known;
  for (const ir::block_realize_node* r : blocks) {
    known += known.empty() ? "\"" : ", \"";
    known += r->block->name;
    known += '"';
  }
  refusal{"get_block"}(1, {"no block is called \"", name, "\"; there are ", known});
}

TILEWRIGHT_INLINE std::string place_of_block(const ir::function& f, std::uint64_t block) {
  std::size_t place = 0;
  for (const ir::block_realize_node* r : detail::querying::with_root(f)) {
    if (r->block->id == block) return "#" + std::to_string(place);
    ++place;
  }
  return {};
}

TILEWRIGHT_INLINE std::vector<ir::var> get_loops(const ir::function& f, std::uint64_t block) {
  const std::vector<const ir::loop_node*> loops = need_block(f, block, "get_loops").loops();
  std::vector<ir::var> out;
  out.reserve(loops.size());
  for (const ir::loop_node* loop : loops) out.push_back(loop->var);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::uint64_t> get_child_blocks(const ir::function& f,
                                                              std::uint64_t block) {
  return detail::querying::ids(child_blocks(need_block(f, block, "get_child_blocks").target()));
}

TILEWRIGHT_INLINE std::vector<std::uint64_t> get_child_blocks(const ir::function& f,
                                                              const ir::var& loop) {
  return detail::querying::ids(child_blocks(need_loop(f, loop, "get_child_blocks").target()));
}

TILEWRIGHT_INLINE std::vector<std::uint64_t> get_producers(const ir::function& f,
                                                           std::uint64_t block) {
  return detail::querying::neighbours(f, block, "get_producers", producers);
}

TILEWRIGHT_INLINE std::vector<std::uint64_t> get_consumers(const ir::function& f,
                                                           std::uint64_t block) {
  return detail::querying::neighbours(f, block, "get_consumers", consumers);
}

TILEWRIGHT_INLINE std::vector<std::uint64_t> get_output_blocks(const ir::function& f,
                                                               std::uint64_t scope) {
  const path at = need_block(f, scope, "get_output_blocks");
  const std::vector<ir::buffer>& own = ir::as_realize(at.target())->block->alloc_buffers;
  std::vector<std::uint64_t> out;
  for (const ir::block_realize_node* r : all_blocks(at.target())) {
    const auto& writes = r->block->writes;
    const bool writes_out = support::any(
        writes, [&](const ir::buffer_region& w) { return !support::contains(own, w.buffer); });
    if (writes_out) out.push_back(r->block->id);
  }
  return out;
}

}  // namespace tilewright::primitive
