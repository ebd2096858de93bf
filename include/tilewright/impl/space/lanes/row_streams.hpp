// Long rows of results that go past the caches, and whose operands are asked for ahead.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// Bytes that a nest over long rows touches.
struct row_bytes {
  std::int64_t result = 0;  // 0 where rows are short or something is not read side by side
  std::int64_t all = 0;     // with what is read
};

/// The bytes of a block whose result and operands all lie side by side along `iter`: such rows may go past the caches.
inline row_bytes bytes_of_rows(const schedule& s, const ir::block_node& b, std::size_t iter) {
  constexpr std::int64_t least_row =
      2048;  // elements; the parts of a vector at its ends cost little
  const ir::store_node* store = ir::as_store(b.body);
  const ir::expr& extent = b.iters[iter].dom.extent;
  if (!store || b.init || !is_output(s, b.name) || !ir::is_int(extent) ||
      extent->integer < least_row)
    return {};
  const auto side_by_side = [&](const access_profile& a) {
    return loads_vectors(a, iter) && a.buffer != store->buffer;
  };
  bool out = true;
  std::vector<ir::buffer> read;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    out = out && e->op != ir::op::if_then_else;
    if (e->op != ir::op::load) return;
    out = out && side_by_side(profile_access(b, e->buffer, e->args));
    if (!support::contains(read, e->buffer)) read.push_back(e->buffer);
  });
  if (!out) return {};
  row_bytes size{bytes(store->buffer->type), 0};
  for (const ir::iter_var& i : b.iters)
    size.result = support::saturated_product(size.result,
                                             ir::is_int(i.dom.extent) ? i.dom.extent->integer : 1);
  size.all = size.result;
  for (const ir::buffer& x : read) size.all = support::saturated_sum(size.all, ir::bytes_of(x));
  return size;
}

/// Whether a result leaves the last cache before anything reads it again, since the nest touches most of what that cache holds. Five
/// points of a stencil over 16 MB, to 16 MB, take 1.4 ms through a cache of 32 MB and 0.93 ms past it.
inline bool fills_caches(const row_bytes& size, const target::cpu& cpu) {
  return size.all >= cpu.l3_bytes - cpu.l3_bytes / 4;
}

/// Whether rows become streams in this sketch. In the first sketch, a result that leaves the last cache anyway goes past the caches. A
/// result that only the last cache holds may gain by that as well, and by lines that are asked for ahead, where the last cache is far
/// or others use it; there it is the second choice.
inline bool chooses_streams(const row_bytes& size, const target::cpu& cpu, chooser& choices) {
  if (size.result <= cpu.l2_bytes) return false;
  return (choices.pick(2) == 0) == fills_caches(size, cpu);
}

/// The rows as streams (pass/vector/streams.hpp), in chunks where several threads share one row. Where memory is read,
/// 16 lines are asked for ahead: five points of 16 MB take 1.40 ms by 8, 1.20 ms by 16 and 1.32 ms by 32.
/// @param stays whether the result may stay in the last cache
inline void make_streams(schedule& s, const std::vector<loop_rv>& loops, const context& where,
                         bool stays, chooser& choices) {
  constexpr std::int64_t chunk = 1 << 16;
  loop_rv row = loops.back();
  if (where.threads > 1 && loops.size() == 1) {
    const auto [outer, inner] = s.split(row, {infer, chunk});
    row = inner;
  }
  s.vectorize(row);
  const std::vector<double> past = stays ? std::vector<double>{1, 1} : std::vector<double>{3, 1},
                            ahead = stays ? std::vector<double>{1, 1, 1, 1}
                                          : std::vector<double>{1, 2, 3, 2};
  s.annotate(row, ir::stream_note, choices.categorical(s, {1, 0}, past));
  s.annotate(row, ir::stream_ahead_note, choices.categorical(s, {0, 8, 16, 32}, ahead));
}

}  // namespace tilewright::space::detail
