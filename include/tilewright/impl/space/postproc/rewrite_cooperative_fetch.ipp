#pragma once

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail::fetch {

inline bool is_on(const ir::loop_node& l, const char* axis) {
  return l.loop == ir::loop_kind::thread_binding && l.thread_tag == axis && ir::is_int(l.extent);
}

/// Extent of the loop around the block that is bound to the axis, or of one beside it in the same loop on
/// blocks, for a copy that stands behind the threads; 0 when there is none.
inline std::int64_t extent_of(const schedule& s, const ir::block_node& block, const char* axis) {
  std::int64_t out = 0;
  const ir::loop_node* kernel = nullptr;
  for (const ir::loop_node* l : primitive::find_block(s.function(), block.id).all_loops()) {
    if (is_on(*l, axis)) out = l->extent->integer;
    if (!kernel && l->thread_tag.rfind("blockIdx", 0) == 0) kernel = l;
  }
  if (out == 0 && kernel)
    ir::for_each_stmt(kernel->body, [&](const ir::stmt& x) {
      if (const ir::loop_node* l = ir::as_loop(x); l && is_on(*l, axis)) out = l->extent->integer;
    });
  return out;
}

inline std::int64_t lanes_of(const schedule& s, const std::string& name, std::int64_t extent) {
  const ir::block_node& block = *named_block(s, name).block;
  const auto* asked =
      std::get_if<std::int64_t>(&block.annotations.at(ir::cooperative_fetch_note).value);
  constexpr std::int64_t widest = 16;  // bytes of an access
  std::int64_t element = 1;
  for (const auto* regions : {&block.reads, &block.writes})
    for (const ir::buffer_region& r : *regions)
      element = std::max<std::int64_t>(element, bytes(r.buffer->type));
  return asked && *asked > 1 && *asked * element <= widest && extent % *asked == 0 ? *asked : 1;
}

inline void share(schedule& s, const std::string& name, std::int64_t x, std::int64_t y) {
  const block_rv block = s.get_block(name);
  const std::vector<loop_rv> loops = s.get_loops(block);
  if (loops.empty()) return s.unannotate(block, ir::cooperative_fetch_note);
  const ir::expr extent = s.get(loops.back()).extent;
  const std::int64_t lanes = ir::is_int(extent) ? lanes_of(s, name, extent->integer) : 1;
  std::vector<factor> factors{infer};
  if (y > 0) factors.emplace_back(y);
  factors.emplace_back(x);
  if (lanes > 1) factors.emplace_back(lanes);
  const std::vector<loop_rv> parts = s.split(loops.back(), factors);
  std::size_t next = 1;
  if (y > 0) s.bind(parts[next++], "threadIdx.y");
  s.bind(parts[next++], "threadIdx.x");
  if (lanes > 1) s.vectorize(parts[next]);
  s.unannotate(block, ir::cooperative_fetch_note);
}

/// Rows that the block writes begin the bytes that it asks for further on, where they would else begin at
/// multiples of twice as many.
inline void pad_rows(schedule& s, const std::string& name) {
  const ir::block_node& node = *named_block(s, name).block;
  const auto note = node.annotations.find(ir::row_padding_note);
  if (note == node.annotations.end()) return;
  const auto* asked = std::get_if<std::int64_t>(&note->second.value);
  const ir::buffer to = node.writes[0].buffer;
  const std::int64_t elements = asked ? *asked / bytes(to->type) : 0;
  const block_rv block = s.get_block(name);
  s.unannotate(block, ir::row_padding_note);
  if (elements > 0 && to->shape.size() > 1)
    s.storage_align(block, 0, -2, static_cast<int>(2 * elements), static_cast<int>(elements));
}

}  // namespace detail::fetch

TILEWRIGHT_INLINE void rewrite_cooperative_fetch::operator()(schedule& s, const context&) const {
  std::vector<std::string> names;
  std::int64_t warps = 0;
  for (const ir::block_realize_node* realize : primitive::all_blocks(s.function().body)) {
    if (realize->block->annotations.count(ir::cooperative_fetch_note))
      names.push_back(realize->block->name);
    warps = std::max(warps, ir::warps_of_thread(*realize->block));
  }
  for (const std::string& name : names) {
    const ir::block_node& block = *named_block(s, name).block;
    const std::int64_t x =
        warps > 0 ? warps * warp_size : detail::fetch::extent_of(s, block, "threadIdx.x");
    if (x == 0)
      primitive::refusal{"rewrite_cooperative_fetch"}(
          1, {"no loop around block ", name,
              " is bound to threadIdx.x, so there are no threads to fetch"});
    detail::fetch::share(s, name, x, detail::fetch::extent_of(s, block, "threadIdx.y"));
    detail::fetch::pad_rows(s, name);
  }
}

}  // namespace tilewright::space
