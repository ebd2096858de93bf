// The members of `schedule` that move data and change buffers.
#pragma once

#include <tilewright/impl/schedule/trace/member_kinds.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright {

TILEWRIGHT_INLINE void schedule::set_scope(block_rv block, int buffer_index,
                                           std::string storage_scope) {
  apply(detail::named<"set_scope">,
        {rv(block), std::int64_t{buffer_index}, std::move(storage_scope)});
}
TILEWRIGHT_INLINE void schedule::unsafe_set_dtype(block_rv block, int buffer_index,
                                                  std::string dtype) {
  apply(detail::named<"unsafe_set_dtype">,
        {rv(block), std::int64_t{buffer_index}, std::move(dtype)});
}
TILEWRIGHT_INLINE void schedule::storage_align(block_rv block, int buffer_index, int axis,
                                               int factor, int offset) {
  apply(detail::named<"storage_align">, {rv(block), std::int64_t{buffer_index}, std::int64_t{axis},
                                         std::int64_t{factor}, std::int64_t{offset}});
}
TILEWRIGHT_INLINE void schedule::set_axis_separator(block_rv block, buffer_selector buffer,
                                                    std::vector<std::int64_t> axis_separators) {
  apply(detail::named<"set_axis_separator">,
        {rv(block), std::move(buffer), std::move(axis_separators)});
}
TILEWRIGHT_INLINE void schedule::unsafe_hide_buffer_access(
    block_rv block, std::string buf_type, std::vector<std::int64_t> buf_index_array) {
  apply(detail::named<"unsafe_hide_buffer_access">,
        {rv(block), std::move(buf_type), std::move(buf_index_array)});
}
TILEWRIGHT_INLINE void schedule::annotate_buffer_access(block_rv block, int buffer_index,
                                                        std::string buf_type, map_argument ranges) {
  apply(detail::named<"annotate_buffer_access">,
        {rv(block), std::int64_t{buffer_index}, std::move(buf_type), std::move(ranges)});
}

TILEWRIGHT_INLINE block_rv schedule::reindex(block_rv block, buffer_selector buffer) {
  return {apply(detail::named<"reindex">, {rv(block), std::move(buffer)})[0].number};
}
TILEWRIGHT_INLINE block_rv schedule::reindex_cache_read(block_rv block, int read_index,
                                                        std::string scope, map_argument map) {
  return {apply(detail::named<"reindex_cache_read">,
                {rv(block), std::int64_t{read_index}, std::move(scope), std::move(map)})[0]
              .number};
}
TILEWRIGHT_INLINE block_rv schedule::reindex_cache_write(block_rv block, int write_index,
                                                         std::string scope, map_argument map) {
  return {apply(detail::named<"reindex_cache_write">,
                {rv(block), std::int64_t{write_index}, std::move(scope), std::move(map)})[0]
              .number};
}
TILEWRIGHT_INLINE block_rv schedule::read_at(loop_rv loop, block_rv block, int read_index,
                                             std::string scope) {
  return {apply(detail::named<"read_at">,
                {rv(loop), rv(block), std::int64_t{read_index}, std::move(scope)})[0]
              .number};
}
TILEWRIGHT_INLINE block_rv schedule::write_at(loop_rv loop, block_rv block, int write_index,
                                              std::string scope) {
  return {apply(detail::named<"write_at">,
                {rv(loop), rv(block), std::int64_t{write_index}, std::move(scope)})[0]
              .number};
}
TILEWRIGHT_INLINE std::array<block_rv, 2> schedule::cache_inplace(block_rv block, int read_index,
                                                                  std::string scope) {
  const std::vector<rv> made = apply(detail::named<"cache_inplace">,
                                     {rv(block), std::int64_t{read_index}, std::move(scope)});
  return {block_rv{made[0].number}, block_rv{made[1].number}};
}
TILEWRIGHT_INLINE std::vector<block_rv> schedule::cache_index(block_rv block, std::string scope,
                                                              int cse_thresh) {
  std::vector<block_rv> out;
  for (const rv& made :
       apply(detail::named<"cache_index">, {rv(block), std::move(scope), std::int64_t{cse_thresh}}))
    out.push_back({made.number});
  return out;
}

}  // namespace tilewright
