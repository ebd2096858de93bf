// What compute_inline and reverse_compute_inline ask and do alike.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/legality/stage_order.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::inlining {

inline bool reads_buffer(const ir::block_node& b, const ir::buffer& x) {
  return support::any(b.reads, [&](const auto& r) { return r.buffer == x; });
}

inline bool writes_buffer(const ir::block_node& b, const ir::buffer& x) {
  return support::any(b.writes, [&](const auto& r) { return r.buffer == x; });
}

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
    const auto is_same = [&](const ir::buffer_region& x) { return x.buffer == r.buffer; };
    const auto listed = std::find_if(block.reads.begin(), block.reads.end(), is_same);
    const bool is_new = support::any(added, is_same);
    const bool accumulates = block.init && writes_buffer(block, r.buffer);
    if (r.buffer == gone || accumulates) continue;
    if (is_new)
      out.push_back(r);
    else if (listed != block.reads.end())
      out.push_back(*listed);
  }
  return out;
}

/// Requirement 1 of both.
inline void check_surroundings(const char* name, const block_scope& scope, std::size_t child) {
  if (const int hazard = input_hazard(scope, child))
    refusal{name}(1, {quoted(scope[child].block()), " cannot be inlined: ", hazard_text(hazard)});
  const int user = earlier_user(scope, child);
  if (user >= 0)
    refusal{name}(1, {quoted(scope[static_cast<std::size_t>(user)].block()), " uses the result of ",
                      quoted(scope[child].block()), " before it"});
}

inline void check_besides_init(const char* name, int requirement, const block_scope& scope,
                               std::size_t child) {
  if (const int reason = complete_violation(scope, child))
    refusal{name}(requirement,
                  {quoted(scope[child].block()), " is not complete: ", complete_reason(reason)});
}

inline void check_complete(const char* name, int requirement, const block_scope& scope,
                           std::size_t child) {
  const ir::block_node& b = scope[child].block();
  if (b.init) refusal{name}(requirement, {quoted(b), " is a reduction"});
  check_besides_init(name, requirement, scope, child);
}

inline void check_sight(const char* name, int requirement, const path& at) {
  if (const ir::var used = used_from_outside(at))
    refusal{name}(requirement, {quoted(*ir::as_realize(at.target())->block), " uses \"", used->name,
                                "\" without an iteration variable that stands for it"});
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
