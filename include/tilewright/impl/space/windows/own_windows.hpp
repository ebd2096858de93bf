// Reductions of windows: the variables along which windows move, and windows that serve one result
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

/// Calls `f` with each index of each load in the block.
template <class F>
void for_each_index(const ir::block_node& b, F f) {
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op != ir::op::load) return;
    for (const ir::expr& index : e->args) f(index);
  });
}

/// Where no operand is shared, the rows of a tile still share windows: the last variable, other than
/// the columns, to which an index of an operand adds a reduction variable.
inline std::optional<std::size_t> window_rows(const schedule& s, const std::string& name,
                                              const block_profile& p, std::size_t columns) {
  const ir::block_node& b = *named_block(s, name).block;
  const auto is_reduced = [&](const ir::expr& index) {
    return support::any(b.iters, [&](const ir::iter_var& i) {
      return i.kind == ir::iter_kind::reduce && ir::uses_var(index, i.var);
    });
  };
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    if (i == columns || p.kind[i] != ir::iter_kind::spatial || p.extent[i] < 2) continue;
    for_each_index(b, [&](const ir::expr& index) {
      if (ir::uses_var(index, b.iters[i].var) && is_reduced(index)) out = i;
    });
  }
  return out;
}

/// Whether an index of an operand adds a reduction variable to variable `iter`: a window that moves.
inline bool reads_windows(const ir::block_node& b, std::size_t iter) {
  bool found = false;
  for_each_index(b, [&](const ir::expr& index) {
    if (!ir::uses_var(index, b.iters[iter].var)) return;
    for (const ir::iter_var& other : b.iters)
      found = found || (other.kind == ir::iter_kind::reduce && ir::uses_var(index, other.var));
  });
  return found;
}

/// Whether an index of an operand adds the reduction variable `tap` to variable `iter`.
inline bool moves_windows(const ir::block_node& b, std::size_t iter, std::size_t tap) {
  bool found = false;
  for_each_index(b, [&](const ir::expr& index) {
    found =
        found || (ir::uses_var(index, b.iters[iter].var) && ir::uses_var(index, b.iters[tap].var));
  });
  return found;
}

/// Whether an index of an operand divides the variable `tap` and nothing else, as that of pixels which lie
/// behind each other by what a stride leaves of them does: quotients that are numbers once taps are written out.
inline bool divides_tap(const ir::block_node& b, std::size_t tap) {
  const auto is_about_tap = [&](const ir::expr& e) {
    return support::all(b.iters, [&](const ir::iter_var& i) {
      return ir::uses_var(e, i.var) == i.var.same(b.iters[tap].var);
    });
  };
  bool found = false;
  for_each_index(b, [&](const ir::expr& index) {
    ir::for_each_expr(index, [&](const ir::expr& e) {
      const bool divides = e->op == ir::op::floordiv || e->op == ir::op::floormod;
      found = found || (divides && is_about_tap(e->args[0]));
    });
  });
  return found;
}

/// Whether windows of neighbours along variable `iter` have elements in common: they move by less than they
/// reach.
inline bool windows_overlap(const ir::block_node& b, std::size_t iter) {
  bool found = false;
  for_each_index(b, [&](const ir::expr& index) {
    const arith::linear sum = arith::to_linear(index);
    const std::int64_t step = std::abs(sum.coefficient(b.iters[iter].var));
    std::int64_t reach = 0;
    for (const ir::iter_var& other : b.iters)
      if (other.kind == ir::iter_kind::reduce && ir::is_int(other.dom.extent))
        reach += std::abs(sum.coefficient(other.var)) * (other.dom.extent->integer - 1);
    found = found || (step != 0 && step <= reach);
  });
  return found;
}

/// Whether windows of fewer than `steps` steps along variable `iter` have elements in common: windows dilated
/// by 2 that move by 1 do from three steps on.
inline bool windows_meet(const ir::block_node& b, std::size_t iter, std::int64_t steps) {
  bool found = false;
  for_each_index(b, [&](const ir::expr& index) {
    const arith::linear sum = arith::to_linear(index);
    const std::int64_t step = std::abs(sum.coefficient(b.iters[iter].var));
    if (step == 0) return;
    for (const ir::iter_var& other : b.iters) {
      if (other.kind != ir::iter_kind::reduce || !ir::is_int(other.dom.extent)) continue;
      const std::int64_t tap = std::abs(sum.coefficient(other.var)),
                         reach = tap * (other.dom.extent->integer - 1);
      for (std::int64_t apart = step; apart < steps * step && apart <= reach; apart += step)
        found = found || apart % tap == 0;
    }
  });
  return found;
}

/// The operand that moves with every variable of the result; null where there is none.
inline const access_profile* own_operand(const block_profile& p) {
  for (const access_profile& read : p.reads) {
    bool everywhere = read.affine;
    for (std::size_t i = 0; i < p.kind.size(); ++i)
      if (p.kind[i] == ir::iter_kind::spatial && p.extent[i] > 1)
        everywhere = everywhere && read.stride[i] != 0;
    if (everywhere) return &read;
  }
  return nullptr;
}

/// Whether the block reduces windows of which each serves one result: of a depthwise convolution, of
/// a pooling. Nothing but the overlap of windows is used twice then.
inline bool reduces_own_windows(const schedule& s, const std::string& name, const block_profile& p,
                                std::size_t columns) {
  return window_rows(s, name, p, columns) && own_operand(p);
}

}  // namespace tilewright::space::detail
