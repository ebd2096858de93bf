// A space expression whose names the compiler compares with a kernel.
#pragma once

#include <string_view>
#include <utility>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/meta/mistake.hpp>
#include <tilewright/space/names.hpp>
#include <tilewright/space/steps.hpp>

namespace tilewright {
namespace dsl {

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool kernel_has_block = false;
template <class... T>
inline constexpr bool block_has_axis = false;
/// @}

/// @cond
/// The blocks and axes that the definitions of a kernel give.
struct outline {
  const node* nodes = nullptr;
  int count = 0;
  const tensor_info* const* params = nullptr;
  int param_count = 0;

  /// Calls `visit(define node, tensor)` for each tensor that a definition writes.
  template <class Visit>
  constexpr void each_target(Visit visit) const {
    for_each_definition(nodes, count, [&](int at) {
      const children parts = children_of(nodes, at);
      for (int part = 0; part < nodes[at].width; ++part) visit(at, *nodes[parts.at[part]].tensor);
    });
  }

  constexpr bool defines(std::string_view tensor) const {
    bool out = false;
    each_target([&](int, const tensor_info& t) { out = out || t.name == tensor; });
    return out;
  }

  static constexpr bool extends(std::string_view block, std::string_view tensor) {
    return block.size() > tensor.size() + 1 && block.substr(0, tensor.size()) == tensor &&
           block[tensor.size()] == '_';
  }

  /// A block that a definition, or something done to it or to a parameter, is named after.
  constexpr bool has_block(std::string_view block) const {
    if (block == "root" || defines(block)) return true;
    bool out = false;
    for (int p = 0; p < param_count; ++p) out = out || extends(block, params[p]->name);
    each_target([&](int, const tensor_info& t) { out = out || extends(block, t.name); });
    return out;
  }

  /// Axes are known of the blocks of definitions alone; without a block, of any of them.
  constexpr bool has_axis(std::string_view block, std::string_view axis) const {
    if (!block.empty() && !defines(block)) return true;
    bool out = false;
    each_target([&](int at, const tensor_info& t) {
      if (block.empty() || t.name == block)
        out = out || any_below(nodes, at, [&](int below) {
                return nodes[below].kind == node_kind::axis && nodes[below].name == axis;
              });
    });
    return out;
  }
};

/// The first name of an expression that a kernel does not have.
struct foreign_name {
  std::string_view block, axis;
  bool found = false;
};

template <const auto& Kernel, class Expression>
constexpr foreign_name find_foreign_name() {
  const outline kernel{Kernel.nodes, Kernel.node_count, Kernel.params, Kernel.param_count};
  foreign_name out;
  const auto look = [&](const space::detail::name_use& use) {
    if (out.found) return;
    out.found =
        use.axis.empty() ? !kernel.has_block(use.block) : !kernel.has_axis(use.block, use.axis);
    if (out.found) {
      out.block = use.block;
      out.axis = use.axis;
    }
  };
  space::detail::names_of<Expression>::visit({}, look);
  return out;
}

template <const auto& Kernel, class Expression>
struct foreign_block {
  static constexpr std::string_view value = find_foreign_name<Kernel, Expression>().block;
};
template <const auto& Kernel, class Expression>
struct foreign_axis {
  static constexpr std::string_view value = find_foreign_name<Kernel, Expression>().axis;
};
/// @endcond

}  // namespace dsl

/// The space of an expression, with the names of blocks and axes compared with a kernel by the
/// compiler:
///
///     tuned op{matmul, {.space = space_for<matmul>(on<"C">(tile<i, 2> >> vectorize<i[1]>))}};
///
/// `on` may name the block of each tensor that the kernel defines, and any block whose name is that
/// of one of its tensors, an underscore, and more: "C_epilogue", "X_pad", "C_global" are made by
/// the front end and by rules and primitives while a schedule grows, and are looked up when the
/// step runs. So are the axes of such blocks; those of a definition are its own.
///
/// `Kernel` is a constexpr variable of namespace scope whose lambda has no captures.
template <const auto& Kernel, space::detail::expression Expression>
space::design_space space_for(Expression e) {
  constexpr dsl::foreign_name foreign = dsl::find_foreign_name<Kernel, Expression>();
  if constexpr (foreign.found && foreign.axis.empty()) {
    using block = meta::shown<meta::name_from<dsl::foreign_block<Kernel, Expression>>>;
    TILEWRIGHT_MISTAKE(
        dsl::kernel_has_block,
        "tilewright: on<...> names a block that the kernel does not have; blocks are "
        "named after the tensors it defines",
        block);
    return {};
  } else if constexpr (foreign.found) {
    using axis = meta::shown<meta::name_from<dsl::foreign_axis<Kernel, Expression>>>;
    TILEWRIGHT_MISTAKE(dsl::block_has_axis,
                       "tilewright: a step names an axis that the block does not have", axis);
    return {};
  } else {
    return space::design_space(std::move(e));
  }
}

}  // namespace tilewright
