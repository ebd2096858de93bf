// What compute_inline and reverse_compute_inline ask and do alike.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/dependence/binding/index_inverse.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive::detail::inlining {

using namespace index_inverse;

/// The regions that a block reads, computed anew after its body has changed: `gone` is not read any
/// more, `added` are read now, entries of other buffers stay as they were.
inline std::vector<ir::buffer_region> updated_reads(const ir::block_node& block,
                                                    const ir::buffer& gone,
                                                    const std::vector<ir::buffer_region>& added) {
  std::vector<ir::buffer_region> seen, unused, out;
  const arith::analyzer known;
  arith::access_options options;
  options.use_conditions = false;
  if (block.init) arith::access_regions(block.init, seen, unused, known, options);
  arith::access_regions(block.body, seen, unused, known, options);
  for (const ir::buffer_region& r : seen) {
    const bool accumulates = block.init && writes_buffer(block, r.buffer);
    if (r.buffer == gone || accumulates) continue;
    const auto listed =
        support::find(block.reads, [&](const auto& x) { return x.buffer == r.buffer; });
    if (ir::mentions(added, r.buffer))
      out.push_back(r);
    else if (listed != block.reads.end())
      out.push_back(*listed);
  }
  return out;
}

/// Requirement 1 of both.
inline void check_surroundings(const refusal& refuse, const block_scope& scope, std::size_t child) {
  if (const int hazard = input_hazard(scope, child))
    refuse(1, {quoted(scope[child]), " cannot be inlined: ", hazard_text(hazard)});
  check_no_earlier_user(refuse, 1, scope, child);
}

inline void check_no_reduction(const refusal& refuse, int requirement, const block_scope& scope,
                               std::size_t child) {
  if (scope[child].block().init) refuse(requirement, {quoted(scope[child]), " is a reduction"});
  check_complete(refuse, requirement, scope, child);
}

/// Removes the block at `at` and its buffer's allocation from the scope.
inline ir::function remove(const ir::function& f, std::uint64_t id, std::uint64_t holder,
                           const ir::buffer& x) {
  const ir::function without = replace(f, find_block(f, id), ir::stmt{});
  const path at = find_block(without, holder);
  ir::block_node block = *ir::as_realize(at.target())->block;
  std::erase(block.alloc_buffers, x);
  return replace_block(without, at, ir::make_block(std::move(block)));
}

}  // namespace tilewright::primitive::detail::inlining
