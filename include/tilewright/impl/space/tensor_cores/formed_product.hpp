// A product or a convolution in the form of an intrinsic, padded to whole tiles of blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/tensor_cores/first_tiles.hpp>
#include <tilewright/impl/space/tensor_cores/group_tiles.hpp>
#include <tilewright/impl/space/tensor_operands.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/tensor_form.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::space::detail {

/// The block of an intrinsic's loops, and the tiles that it is tried in first.
struct formed_product {
  block_rv tile;
  first_tiles first;
};

/// Whether terms of the second operand lie side by side in memory.
inline bool second_lies_transposed(const schedule& s, const std::string& name) {
  const ir::block_node& block = *named_block(s, name).block;
  if (block.writes.size() != 1) return false;
  const std::vector<ir::buffer_region> operands = tensor_forms::operands_of(block);
  if (operands.size() != 3 || operands[2].box.empty()) return false;
  return support::any(block.iters, [&](const ir::iter_var& i) {
    return i.kind == ir::iter_kind::reduce && ir::uses_var(operands[2].box.back().min, i.var);
  });
}

/// The rule's intrinsics that the device has, those first that take the second operand as it lies.
inline std::vector<intrin::intrinsic> fitting_intrinsics(const use_tensor_core& rule,
                                                         const schedule& s, const std::string& name,
                                                         const context& where) {
  std::vector<std::string> names = rule.intrinsics;
  const bool transposed = second_lies_transposed(s, name);
  const auto turns = [&](const std::string& i) { return i.ends_with("_trans") != transposed; };
  support::stable_sort(
      names, [&](const std::string& a, const std::string& b) { return turns(a) < turns(b); });
  std::vector<intrin::intrinsic> out;
  for (const std::string& i : names)
    if (const auto what = intrin::find(i); what && suits_device(i, where.gpu)) out.push_back(*what);
  return out;
}

/// The tiles that are tried first of a product in tiles of the intrinsic.
inline first_tiles tiles_of(const use_tensor_core& rule, const std::string& intrinsic, schedule& s,
                            block_rv tile, const context& where) {
  const std::vector<loop_rv> loops = s.get_loops(tile);
  if (!is_of_groups(intrinsic))
    return fitted({rule.rows, rule.columns, rule.steps, rule.whole, rule.deep}, s, loops,
                  where.gpu);
  first_tiles out{rule.rows, rule.columns, {terms_of_groups}, rule.whole};
  if (ir::is_int(s.get(loops[loops.size() - 3]).extent, 1)) out.rows.assign(out.rows.size(), 1);
  return out;
}

/// Gives the block the form of the first intrinsic that fits, one that fits as extents and operands are before others. With
/// `whole` of the rule, rows, columns and terms are padded of which the first tiles would leave a rest: numbers of tiles
/// without divisors, as 257, have slivers alone otherwise.
inline std::optional<formed_product> form_product(schedule& s, const std::string& name,
                                                  const use_tensor_core& rule,
                                                  const context& where) {
  constexpr tensor_form form = tensor_form::reindexed;
  const std::vector<intrin::intrinsic> all = fitting_intrinsics(rule, s, name, where);
  for (const tensor_form probe : {tensor_form::as_is, form})
    for (const intrin::intrinsic& what : all) {
      schedule trial = s;
      std::optional<block_rv> tile = give_tensor_form(trial, name, what, probe);
      if (!tile) continue;
      if (probe != form) {
        trial = s;
        tile = give_tensor_form(trial, name, what, form);
        if (!tile) continue;
      }
      const first_tiles first = tiles_of(rule, what.name, trial, *tile, where);
      if (rule.whole && !divide(first, trial, trial.get_loops(*tile))) {
        schedule padded = s;
        if (const auto formed = give_tensor_form(padded, name, what, form, first.sides())) {
          trial = std::move(padded);
          tile = formed;
        }
      }
      s = std::move(trial);
      return formed_product{*tile, first};
    }
  return std::nullopt;
}

}  // namespace tilewright::space::detail
