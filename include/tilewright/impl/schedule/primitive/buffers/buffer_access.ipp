#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/schedule/primitive/buffers/buffer_access.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::buffer_access {

inline bool is_read(const char* primitive, const std::string& text) {
  if (text != "read" && text != "write")
    refusal{primitive}(1, {"\"", text, "\" is neither \"read\" nor \"write\""});
  return text == "read";
}

/// Adds the index to the annotation that lists the regions given by hand.
inline void note(ir::block_node& b, const char* key, int index) {
  ir::attr::list indices;
  if (const auto found = b.annotations.find(key); found != b.annotations.end())
    if (const auto* list = std::get_if<ir::attr::list>(&found->second.value)) indices = *list;
  const ir::attr mine(index);
  if (!support::contains(indices, mine)) indices.push_back(mine);
  b.annotations[key] = std::move(indices);
}

}  // namespace detail::buffer_access

TILEWRIGHT_INLINE ir::function unsafe_hide_buffer_access(
    const ir::function& f, std::uint64_t block, const std::string& buf_type,
    const std::vector<std::int64_t>& buf_index_array) {
  constexpr const char* name = "unsafe_hide_buffer_access";
  const path at = need_block(f, block, name);
  const bool read = detail::buffer_access::is_read(name, buf_type);
  ir::block_node changed = *ir::as_realize(at.target())->block;
  for (const std::int64_t index : buf_index_array)
    detail::block_buffers::region_of(name, 2, changed, index, read);
  auto& list = read ? changed.reads : changed.writes;
  std::vector<ir::buffer_region> kept;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!support::contains(buf_index_array, static_cast<std::int64_t>(i))) kept.push_back(list[i]);
  list = std::move(kept);
  return replace_block(f, at, ir::make_block(std::move(changed)));
}

TILEWRIGHT_INLINE ir::function annotate_buffer_access(const ir::function& f, std::uint64_t block,
                                                      int buffer_index, const std::string& buf_type,
                                                      const ir::index_map& ranges) {
  constexpr const char* name = "annotate_buffer_access";
  const path at = need_block(f, block, name);
  const bool read = detail::buffer_access::is_read(name, buf_type);
  ir::block_node changed = *ir::as_realize(at.target())->block;
  detail::block_buffers::region_of(name, 2, changed, buffer_index, read);
  auto& region = (read ? changed.reads : changed.writes)[static_cast<std::size_t>(buffer_index)];
  const std::size_t rank = region.buffer->shape.size();
  if (ranges.inputs.size() != changed.iters.size() || ranges.outputs.size() != 2 * rank)
    refusal{name}(
        3, {"the map takes ", ranges.inputs.size(), " indices and gives ",
            ranges.outputs.size() / 2, " ranges; ", quoted(changed), " has ", changed.iters.size(),
            " iteration variables and \"", region.buffer->name, "\" ", rank, " dimensions"});
  std::vector<ir::expr> iters;
  for (const ir::iter_var& v : changed.iters) iters.push_back(v.var);
  const dtype type = iters.empty() ? dtype::i32 : iters[0].type();
  const std::vector<ir::expr> ends = ir::map_indices(ir::with_index_type(ranges, type), iters);
  std::vector<ir::range> box;
  for (std::size_t d = 0; d < rank; ++d) {
    const ir::expr &begin = ends[2 * d], &end = ends[2 * d + 1];
    box.push_back({begin, arith::from_linear(arith::to_linear(end - begin))});
  }
  region.box = std::move(box);
  detail::buffer_access::note(changed, read ? "explicit_read_region" : "explicit_write_region",
                              buffer_index);
  return replace_block(f, at, ir::make_block(std::move(changed)));
}

}  // namespace tilewright::primitive
