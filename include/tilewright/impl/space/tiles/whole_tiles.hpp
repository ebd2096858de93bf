// Products of extents that no tile divides are padded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail {

/// The greatest divisor that is a product of 2, 3, 5 and 7: what tiles can be made of.
inline std::int64_t divisible_part(std::int64_t n) {
  std::int64_t out = 1;
  for (const std::int64_t p : {2, 3, 5, 7})
    for (; n % p == 0; n /= p) out *= p;
  return out;
}

/// What a loop is padded to multiples of: 1 where it is short, or has divisors for tiles; else as much as adds a
/// twelfth at most.
inline std::int64_t multiple_for_tiles(std::int64_t extent) {
  constexpr std::int64_t shortest = 24, enough = 32;
  if (extent < shortest || divisible_part(extent) >= std::min(enough, extent)) return 1;
  for (const std::int64_t multiple : {128, 64, 32, 16, 8, 4}) {
    const std::int64_t padding = (multiple - extent % multiple) % multiple;
    if (padding * 12 <= extent) return multiple;
  }
  return 1;
}

/// A rule: pads products whose operands and result are indexed by variables alone, so that the rules behind it find tiles.
/// Copies of operands fill in the zeros, and stores of results are guarded.
struct whole_tiles {
  void operator()(schedule& s, const std::string& name, const context&, chooser&) const {
    if (!has_block(s, name) || !shares_operands(s, name)) return;
    const ir::block block = named_block(s, name).block;
    if (block->reads.size() < 2) return;
    for (const auto* list : {&block->reads, &block->writes})
      for (const ir::buffer_region& r : *list)
        if (!support::all(r.box, [](const ir::range& d) {
              return ir::is_var(d.min) && ir::is_int(d.extent, 1);
            }))
          return;
    std::vector<std::int64_t> multiples;
    for (const ir::iter_var& i : block->iters) {
      if (!ir::is_int(i.dom.extent)) return;
      multiples.push_back(multiple_for_tiles(ir::as_int(i.dom.extent)));
    }
    if (support::all(multiples, [](std::int64_t m) { return m == 1; })) return;
    schedule trial = s;
    try {
      trial.pad_einsum(trial.get_block(name), multiples);
      s = std::move(trial);
    } catch (const schedule_error&) {  // it is no such product
    }
  }
};

}  // namespace tilewright::space::detail
