// The buffers of a block: which one an argument names, and where it is allocated. Shared by the
// primitives that change buffers.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/operand.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::block_buffers {

/// Region number `index` of the reads or the writes of a block.
inline const ir::buffer_region& region_of(const char* primitive, int requirement,
                                          const ir::block_node& b, std::int64_t index, bool read) {
  const auto& list = read ? b.reads : b.writes;
  if (index < 0 || static_cast<std::size_t>(index) >= list.size())
    refusal{primitive}(requirement, {quoted(b), " has ", list.size(), (read ? " read" : " write"),
                                     " regions; there is no number ", index});
  return list[static_cast<std::size_t>(index)];
}

/// The buffer that the selector means among those of the block.
inline ir::buffer selected(const char* primitive, int requirement, const ir::block_node& block,
                           const buffer_selector& which) {
  using list = buffer_selector::list;
  const refusal refuse(primitive);
  const auto& regions = which.in == list::write ? block.writes : block.reads;
  if (which.in != list::named) {
    if (which.index < 0 || static_cast<std::size_t>(which.index) >= regions.size())
      refuse(requirement, {quoted(block), " has ", regions.size(),
                           which.in == list::write ? " written" : " read", " buffers; number ",
                           which.index, " is none of them"});
    return regions[static_cast<std::size_t>(which.index)].buffer;
  }
  ir::buffer found;
  for (const auto* all : {&block.reads, &block.writes})
    for (const ir::buffer_region& r : *all) {
      if (r.buffer->name != which.name || r.buffer == found) continue;
      if (found)
        refuse(requirement, {"several buffers of the block are called \"", which.name, "\""});
      found = r.buffer;
    }
  if (!found)
    refuse(requirement, {quoted(block), " accesses no buffer called \"", which.name, "\""});
  return found;
}

/// Position in `at.slots` of the realize of the block that allocates the buffer; -1: none does.
inline int allocation_site(const path& at, const ir::buffer& x) {
  for (std::size_t i = at.slots.size(); i-- > 0;) {
    const ir::block_realize_node* r = ir::as_realize(*at.slots[i]);
    if (r && support::contains(r->block->alloc_buffers, x)) return static_cast<int>(i);
  }
  return -1;
}

/// The path down to the block that allocates the buffer.
inline path need_allocation(const char* primitive, int requirement, const path& at,
                            const ir::buffer& x) {
  const int site = allocation_site(at, x);
  if (site < 0)
    refusal{primitive}(requirement, {"\"", x->name,
                                     "\" is a parameter or a part of another buffer; only a "
                                     "buffer that a block allocates can change"});
  path out = at;
  out.slots.resize(static_cast<std::size_t>(site) + 1);
  return out;
}

/// `from` with what `change` makes of it, and the buffers matched to parts of it likewise.
template <class Change>
ir::buffer_map changed_buffers(const ir::stmt& body, const ir::buffer& from, const Change& change) {
  const auto made = [&](const ir::buffer& b) {
    auto* node = new ir::buffer_node(*b);
    ir::buffer out(node);
    change(*node);
    return out;
  };
  ir::buffer_map map{{from, made(from)}};
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    const ir::block_realize_node* r = ir::as_realize(s);
    if (!r) return;
    for (const ir::match_buffer& m : r->block->match_buffers)
      if (map.count(m.source.buffer) && !map.count(m.buffer)) map.emplace(m.buffer, made(m.buffer));
  });
  return map;
}

/// Whether a parameter or an allocated buffer has this name.
inline bool buffer_named(const ir::function& f, const std::string& name) {
  const auto has_it = [&](const ir::buffer& b) { return b && b->name == name; };
  return support::any(f.params, [&](const ir::param& p) { return has_it(p.buffer); }) ||
         ir::any_stmt(f.body, [&](const ir::stmt& s) {
           const ir::block_realize_node* r = ir::as_realize(s);
           return r && support::any(r->block->alloc_buffers, has_it);
         });
}

/// `base` without dots, made unique among the buffers below the function's blocks.
inline std::string fresh_buffer_name(const ir::function& f, std::string base) {
  for (char& c : base)
    if (c == '.') c = '_';
  std::string name = base;
  for (int n = 1; buffer_named(f, name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

}  // namespace tilewright::primitive::detail::block_buffers
