#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <tilewright/impl/dependence/term_order.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/term_order.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright {
namespace detail::term_orders {

inline constexpr primitive::refusal refuse{"term_order"};

/// Kinds that leave the operations of each element as they are: they move loops and blocks, or copy elements.
/// Where loops have gone shows in the program.
inline constexpr std::array<std::string_view, 40> harmless{
    "get_block",
    "get_loops",
    "get_child_blocks",
    "get_producers",
    "get_consumers",
    "get_output_blocks",
    "sample_categorical",
    "sample_perfect_tile",
    "sample_partitioned_tile",
    "sample_tile",
    "sample_compute_location",
    "split",
    "fuse",
    "reorder",
    "parallel",
    "vectorize",
    "bind",
    "unroll",
    "add_unit_loop",
    "transform_layout",
    "cache_read",
    "cache_write",
    "cache_index",
    "reindex",
    "reindex_cache_read",
    "reindex_cache_write",
    "read_at",
    "write_at",
    "compute_at",
    "reverse_compute_at",
    "decompose_reduction",
    "rolling_buffer",
    "decompose_padding",
    "set_scope",
    "storage_align",
    "set_axis_separator",
    "annotate",
    "unannotate",
    "assert_",
    "enter_postproc",
};

inline bool inlines(const instruction& what) {
  return what.kind->name == "compute_inline" || what.kind->name == "reverse_compute_inline";
}

/// Whether results of the map stand in the order of its inputs, each as it is or as quotient and remainder by
/// one number.
inline bool keeps_order(const ir::index_map& map) {
  std::size_t next = 0;
  for (const ir::var& v : map.inputs) {
    if (next < map.outputs.size() && map.outputs[next].same(v)) {
      ++next;
      continue;
    }
    if (next + 1 >= map.outputs.size()) return false;
    const ir::expr &quotient = map.outputs[next], &remainder = map.outputs[next + 1];
    if (quotient->op != ir::op::floordiv || remainder->op != ir::op::floormod ||
        !quotient->args[0].same(v) || !remainder->args[0].same(v) ||
        !ir::is_int(quotient->args[1]) ||
        !ir::is_int(remainder->args[1], quotient->args[1]->integer))
      return false;
    next += 2;
  }
  return next == map.outputs.size();
}

/// Whether the block, if it is still there, reduces floats.
inline bool is_reduction(const schedule& s, const argument& block) {
  const rv* which = std::get_if<rv>(&block);
  if (!which) return true;
  const std::uint64_t id = s.state().block(*which);
  return ir::any_stmt(s.function().body, [&](const ir::stmt& each) {
    const ir::block_realize_node* realize = ir::as_realize(each);
    return realize && realize->block->id == id && ir::reduces_floats(*realize->block);
  });
}

inline void check_layout(const schedule& s, const instruction& what) {
  const map_argument* map = std::get_if<map_argument>(&what.args[1]);
  if (is_reduction(s, what.args[0]) && !(map && keeps_order(map->map)))
    refuse(1, "transform_block_layout gives a reduction other variables");
}

/// @param only_integers no float is reduced: any order gives the same bits
inline void check_step(const schedule& s, const ir::function& written, const instruction& what,
                       bool only_integers) {
  const std::string_view kind = what.kind->name;
  if (kind == "work_on") {
    const std::string* name = std::get_if<std::string>(&what.args[0]);
    const std::string own = ir::alternatives(written).front().name;
    if (!name || (only_integers ? primitive::without_forms(*name) : *name) != own)
      refuse(2, {"the schedule is one of another algorithm; the order is that of ", own});
  } else if (inlines(what)) {
    if (ir::has_narrow_results(written))
      refuse(3, "a block was inlined, and floats narrower than float32 are rounded between blocks");
  } else if (only_integers || support::contains(harmless, kind)) {
    return;
  } else if (kind == "transform_block_layout") {
    check_layout(s, what);
  } else {
    refuse(1, {kind, " may change the order of terms"});
  }
}

}  // namespace detail::term_orders

TILEWRIGHT_INLINE void check_term_order(const schedule& s, const ir::function& written) {
  using namespace detail::term_orders;
  if (!ir::keeps_term_order(written)) return;
  const bool only_integers = !ir::reduces_floats(written);
  const std::string unknown = only_integers ? std::string() : dependence::term_disorder(written);
  bool changed = false;
  for (const trace::step& step : s.trace().steps()) {
    check_step(s, written, *step.what, only_integers);
    changed = changed || step.what->kind->name != "enter_postproc";
  }
  if (only_integers || !changed) return;
  if (!unknown.empty()) refuse(4, {"as the program is written, ", unknown});
  if (const std::string why = dependence::term_disorder(s.function()); !why.empty())
    refuse(4, {why});
}

}  // namespace tilewright
