// Operands of a block that a rule may copy, by the positions of the regions that the block reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

/// Positions of the reads that may be staged and for which `f` holds, each once. Operands that the program
/// computes are placed by their producers instead.
template <class F>
std::vector<int> stageable_operands(const schedule& s, const block_profile& p, F f) {
  const std::vector<ir::buffer>& own = ir::root_block(s.function())->alloc_buffers;
  std::vector<int> out;
  for (const access_profile& r : p.reads)
    if (r.affine && r.region >= 0 && f(r) && !support::contains(own, r.buffer) &&
        !support::contains(out, r.region))
      out.push_back(r.region);
  return out;
}

/// Whether one of the operands at these positions of `b` is bound, so that staging it costs a call nothing.
inline bool any_bound(const schedule& s, const ir::block_node& b, const std::vector<int>& regions) {
  const std::vector<ir::buffer> bound = ir::bound_weights(s.function());
  return support::any(regions, [&](int r) {
    return support::contains(bound, b.reads[static_cast<std::size_t>(r)].buffer);
  });
}

/// Bytes of the operands at these positions of `b`; an extent that is no constant counts as one.
inline std::int64_t bytes_of_operands(const ir::block_node& b, const std::vector<int>& regions) {
  std::int64_t total = 0;
  for (int r : regions) total += ir::bytes_of(b.reads[static_cast<std::size_t>(r)].buffer);
  return total;
}

}  // namespace tilewright::space::detail
