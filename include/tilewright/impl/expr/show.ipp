#pragma once

#include <charconv>

#include <tilewright/expr/show.hpp>

namespace tilewright::dsl {
namespace detail {

inline const char* infix(ir::op o) {
  switch (o) {
    case ir::op::add: return " + ";
    case ir::op::sub: return " - ";
    case ir::op::mul: return " * ";
    case ir::op::div:
    case ir::op::floordiv: return " / ";
    case ir::op::mod:
    case ir::op::floormod: return " % ";
    case ir::op::eq: return " == ";
    case ir::op::ne: return " != ";
    case ir::op::lt: return " < ";
    case ir::op::le: return " <= ";
    case ir::op::gt: return " > ";
    case ir::op::ge: return " >= ";
    case ir::op::logical_and: return " & ";
    case ir::op::logical_or: return " | ";
    default: return nullptr;
  }
}

/// Binding strength of the printed form; leaves and calls bind strongest.
inline int strength(const node& n) {
  if (n.kind != node_kind::operation || !infix(n.op)) return 10;
  switch (n.op) {
    case ir::op::mul:
    case ir::op::div:
    case ir::op::mod:
    case ir::op::floordiv:
    case ir::op::floormod: return 9;
    case ir::op::add:
    case ir::op::sub: return 8;
    case ir::op::logical_and: return 4;
    case ir::op::logical_or: return 3;
    default: return 6;
  }
}

inline std::string show_list(const node* nodes, const children& child, int from) {
  std::string out;
  for (int k = from; k < child.count; ++k) {
    if (k > from) out += ", ";
    out += show(nodes, child.at[k]);
  }
  return out;
}

inline std::string show_operation(const node* nodes, int at) {
  const node& n = nodes[at];
  const children child = children_of(nodes, at);
  if (const char* sign = infix(n.op)) {
    const auto side = [&](int c, int least) {
      const std::string text = show(nodes, c);
      return strength(nodes[c]) < least ? "(" + text + ")" : text;
    };
    return side(child.at[0], strength(n)) + sign + side(child.at[1], strength(n) + 1);
  }
  switch (n.op) {
    case ir::op::integer:
      if (n.type == dtype::boolean) return n.integer ? "true" : "false";
      return std::to_string(n.integer);
    case ir::op::real: {
      char text[32];
      const auto end = std::to_chars(text, text + sizeof text, n.real);
      return std::string(text, end.ptr);
    }
    case ir::op::min: return "min(" + show_list(nodes, child, 0) + ")";
    case ir::op::max: return "max(" + show_list(nodes, child, 0) + ")";
    case ir::op::select: return "select(" + show_list(nodes, child, 0) + ")";
    case ir::op::logical_not: return "!(" + show_list(nodes, child, 0) + ")";
    case ir::op::cast:
      return "cast<" + std::string(name(n.type)) + ">(" + show_list(nodes, child, 0) + ")";
    default: return std::string(n.name) + "(" + show_list(nodes, child, 0) + ")";
  }
}

}  // namespace detail

TILEWRIGHT_INLINE const char* reduction_name(reduction r) {
  switch (r) {
    case reduction::sum: return "sum";
    case reduction::prod: return "prod";
    case reduction::max: return "max";
    case reduction::min: return "min";
    case reduction::any: return "any";
    case reduction::all: return "all";
    case reduction::argmax: return "argmax";
    case reduction::argmin: return "argmin";
    case reduction::user: return "fold";
  }
  return "";
}

TILEWRIGHT_INLINE std::string show(const node* nodes, int at) {
  const node& n = nodes[at];
  const children child = children_of(nodes, at);
  switch (n.kind) {
    case node_kind::axis: return std::string(n.name);
    case node_kind::extent: return std::string(n.name);
    case node_kind::operation: return detail::show_operation(nodes, at);
    case node_kind::load:
    case node_kind::store:
      return std::string(n.tensor->name) + "(" + detail::show_list(nodes, child, 0) + ")";
    case node_kind::reduce: {
      std::string out = reduction_name(n.reduction);
      out += "<";
      for (int k = 0; k < n.axes; ++k) out += (k ? ", " : "") + show(nodes, child.at[k]);
      return out + ">(" + detail::show_list(nodes, child, n.axes) + ")";
    }
    case node_kind::placeholder: return "part" + std::to_string(n.integer);
    case node_kind::expect: return "expects(" + show(nodes, child.at[0]) + ")";
    case node_kind::define:
      return show(nodes, child.at[0]) + " = " + show(nodes, child.at[child.count - 1]);
  }
  return {};
}

TILEWRIGHT_INLINE std::string show_ranges(const node* nodes, int at, const axis_scope& scope) {
  std::string out;
  for (int k = 0; k < scope.count; ++k) {
    const axis_range& axis = scope.axes[k];
    const bool used = any_below(nodes, at, [&](int x) {
      return nodes[x].kind == node_kind::axis && nodes[x].name == axis.name;
    });
    if (!used) continue;
    if (!out.empty()) out += ", ";
    out += std::string(axis.name) + " in [0, " + std::to_string(axis.extent) + ")";
  }
  return out;
}

TILEWRIGHT_INLINE std::string describe(const finding& problem, const node* nodes) {
  const std::string subject(problem.subject), first(problem.first), second(problem.second);
  switch (problem.what) {
    case fault::none: return {};
    case fault::unbound_axis:
      return "axis " + subject + " in the definition of " + first +
             " is neither on the left side nor reduced; add it to one of them";
    case fault::reduced_and_left:
      return "axis " + subject + " is on the left side of " + first +
             " and reduced; take another axis for the reduction";
    case fault::reduced_twice:
      return "axis " + subject + " is reduced by nested reductions in " + first + "; rename one";
    case fault::reduced_axis_unused:
      return "the reduced axis " + subject + " in the definition of " + first +
             " does not occur in the reduced value; drop it or use it";
    case fault::no_extent:
      return "axis " + subject + " in the definition of " + first +
             " indexes no dimension plainly, so its extent is unknown; write axis<\"" + subject +
             "\", 3>";
    case fault::extents_differ:
      return "axis " + subject + " runs over " + std::to_string(problem.a) + " in " + first +
             " and over " + std::to_string(problem.b) + " in " + second +
             "; make them equal, or index a part as " + subject + " + 0";
    case fault::out_of_bounds: {
      const children index = children_of(nodes, problem.at);
      const int at = index.at[problem.a];
      const bool store = nodes[problem.at].kind == node_kind::store;
      return show(nodes, problem.at) + ": index " + std::to_string(problem.a) + ", " +
             show(nodes, at) + " with " + show_ranges(nodes, at, problem.scope) + ", runs over [" +
             std::to_string(problem.low) + ", " + std::to_string(problem.high) + "], but " +
             subject + " has extent " + std::to_string(problem.b) + " there" +
             (store ? "" : "; read it through zero_outside, clamp_outside or mirror_outside");
    }
    case fault::not_bounded: {
      const int at = children_of(nodes, problem.at).at[problem.a];
      return show(nodes, problem.at) + ": nothing bounds index " + std::to_string(problem.a) +
             ", " + show(nodes, at) +
             "; write a sum of axes, or read it through zero_outside, clamp_outside or "
             "mirror_outside";
    }
    case fault::divides_by_zero:
      return "the divisor in " + show(nodes, problem.at) + " in the definition of " + subject +
             " can be zero";
    case fault::read_before_definition:
      return "tensor " + subject +
             " is read before it is defined; add its definition to "
             "blocks(...), or move it up";
    case fault::never_defined:
      return "output " + subject + " has no definition; write " + subject + "(axes) = value";
    case fault::not_a_parameter:
      return "tensor " + subject + " is no parameter of the kernel; declare it temp, or add it";
    case fault::name_used_twice: return "two tensors are called " + subject + "; rename one";
    case fault::unknown_dimension:
      return "dimension " + subject + (first.empty() ? "" : " of " + first) +
             " occurs in no parameter, so that no call binds it";
    case fault::indirect_store:
      return "the left side of " + subject + " needs sums of axes and constants as indices";
    case fault::reads_target_elsewhere:
      return "the definition of " + subject +
             " reads other elements of it, a recurrence, which needs an order of its steps; a "
             "kernel has "
             "none: read a temp, or an argument that holds the step before, and loop over steps "
             "around "
             "the call";
    case fault::expectation: {
      std::string out = "it expects " + show(nodes, problem.at) + ", but";
      std::string seen;
      for (int k = problem.at - nodes[problem.at].size + 1; k <= problem.at; ++k) {
        const std::string name(nodes[k].name);
        if (nodes[k].kind != node_kind::extent || seen.find(name + " is") != std::string::npos)
          continue;
        seen +=
            (seen.empty() ? " " : ", ") + name + " is " + std::to_string(problem.dims.find(name));
      }
      return out + seen;
    }
    case fault::walks_no_axis:
      return show(nodes, problem.at) + ": index " + std::to_string(problem.a) +
             " of the sparse tensor " + subject + " is no plain axis; write A(i, k)";
    case fault::walks_left_axis:
      return "axis " + subject + " walks what is stored of " + first +
             " and is not reduced; write sum<" + subject + ">(" + first +
             "(..) * ..), or declare the result stored_like " + first;
    case fault::walks_two_patterns:
      return "axis " + subject + " walks what is stored of both " + first + " and " + second +
             "; write intersect(..) or unite(..) around the value, or looked_up(" + first + ")(..)";
    case fault::needs_what_is_absent:
      return show(nodes, problem.at) + " needs the elements that " + subject +
             " does not store; write a sum over " + first + " with " + subject + " as a factor";
    case fault::counts_what_is_absent:
      return show(nodes, problem.at) + " counts the elements that " + subject +
             " does not store; write a minimum over " + first + " of " + subject +
             " + x where they are infinity, a maximum where they are -infinity, or where_stored(" +
             subject + ")(..)";
    case fault::has_no_pattern:
      return subject + " is stored like " + first +
             ", which is no input with a compressed dimension, or in bsr, ell, dcsr or parts of "
             "these, after the same dimensions";
    case fault::merges_one_pattern:
      return "axis " + subject + " walks what " + first +
             " alone stores; intersect and unite merge several sparse tensors";
    case fault::merges_differently:
      return "axis " + subject + " walks what is stored of " + first + " and of " + second +
             " in different ways; put all into one intersect(..) or one unite(..), or read "
             "looked_up(" +
             second + ")(..)";
    case fault::needs_compressed_rows:
      return subject + " is read by intersect, unite or looked_up, which need compressed rows";
    case fault::too_many_axes: return "the definition of " + first + " has more than 24 axes";
  }
  return {};
}

}  // namespace tilewright::dsl
