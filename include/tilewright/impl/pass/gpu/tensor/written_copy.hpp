// Copies that are left to the copy engine, as they are written, and the boxes of tensors that they are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/tensor_box.hpp>

namespace tilewright::pass::detail::tensor_copies {

/// Elements of a dimension that one box takes at most, and bytes of a row that is swizzled.
inline constexpr std::int64_t widest_side = 256, swizzled_bytes = 128;

/// A copy as it is written, between a tensor in global memory and shared memory.
struct written_copy {
  std::vector<const loop_node*> loops;  // outermost first
  const store_node* to = nullptr;
  expr from;  // the load
  std::vector<expr>
      holds;            // conditions under which it is made; zeros are stored elsewhere, or nothing
  bool leaves = false;  // from shared memory to the tensor

  const buffer& tensor() const { return leaves ? to->buffer : from->buffer; }
  const std::vector<expr>& in_tensor() const { return leaves ? to->indices : from->args; }
  const buffer& shared() const { return leaves ? from->buffer : to->buffer; }
  const std::vector<expr>& in_shared() const { return leaves ? from->args : to->indices; }
};

[[noreturn]] inline void refuse(const written_copy& c, const std::string& why) {
  throw build_error(
      "the copy of " + c.from->buffer->name + " to " + c.to->buffer->name +
      " is left to the device's copy engine (tilewright.tensor_copy), which cannot make "
      "it: " +
      why + "; leave the annotation out, then all threads copy");
}

inline written_copy written_in(const stmt& body) {
  written_copy out;
  stmt s = body;
  for (;;) {
    if (const loop_node* l = as_loop(s)) {
      out.loops.push_back(l);
      s = l->body;
    } else if (const if_node* branch = as_if(s); branch && !branch->else_body) {
      for (const expr& term : conjuncts(branch->condition)) out.holds.push_back(term);
      s = branch->then_body;
    } else {
      break;
    }
  }
  out.to = as_store(s);
  if (!out.to)
    throw build_error(
        "a copy that is left to the device's copy engine (tilewright.tensor_copy) holds more than "
        "one "
        "store; leave the annotation out, then all threads copy");
  const auto [value, condition] = async_copies::copied_by(*out.to);
  out.from = value;
  if (value->op != op::load)
    throw build_error(
        "what is copied to " + out.to->buffer->name +
        " is computed on the way, and the device's copy engine computes nothing; leave "
        "tilewright.tensor_copy out, then all threads copy");
  if (condition)
    for (const expr& term : conjuncts(condition)) out.holds.push_back(term);
  out.leaves = storage_rank(value->buffer->scope) == 1 && storage_rank(out.to->buffer->scope) == 0;
  if (out.leaves && condition) refuse(out, "it stores zeros where nothing is to be copied");
  return out;
}

/// The box that a copy is: what of the tensor each loop walks along, and where it begins.
struct copied_box {
  target::tensor_box tensor;            // the box's own sides yet open
  std::vector<const loop_node*> along;  // [dimensions, outermost first] null: one element
  std::vector<expr> begin;              // [dimensions, outermost first]
};

/// @param others  what the kernel stores to, or loads, of a copy that leaves
inline copied_box box_of(const written_copy& c, const buffer_set& others) {
  const buffer& b = c.tensor();
  if (storage_rank(b->scope) != 0 || storage_rank(c.shared()->scope) != 1)
    refuse(c, "it copies between global and shared memory alone");
  if (others.count(b))
    refuse(c, std::string("the kernel ") + (c.leaves ? "loads " : "stores to ") + b->name);
  if (b->type != c.shared()->type) refuse(c, "the types of elements differ");
  if (b->elem_offset && !is_int(b->elem_offset, 0))
    refuse(c, b->name + " begins at an offset in its memory");
  for (const loop_node* l : c.loops)
    if (constant_extent(*l) < 1 || !is_int(l->min, 0))
      refuse(c, "the length of a loop is no constant");
  copied_box out;
  out.tensor.type = b->type;
  std::vector<std::int64_t> strides(b->shape.size(), bytes(b->type));
  for (std::size_t d = b->shape.size(); d-- > 0;) {
    const bool known = is_int(b->shape[d]) && (b->strides.empty() || is_int(b->strides[d]));
    if (!known)
      refuse(c, "extents and strides of " + b->name + " are no constants; bind all of them");
    if (!b->strides.empty())
      strides[d] = as_int(b->strides[d]) * bytes(b->type);
    else if (d + 1 < b->shape.size())
      strides[d] = strides[d + 1] * as_int(b->shape[d + 1]);
    out.tensor.extents.push_back(as_int(b->shape[d]));
    if (d + 1 < b->shape.size()) out.tensor.strides.push_back(strides[d]);
  }
  if (!b->strides.empty() && !b->shape.empty() && strides.back() != bytes(b->type))
    refuse(c, "rows of " + b->name + " are not dense");
  std::vector<const loop_node*> used;
  for (const expr& index : c.in_tensor()) {
    arith::linear rest = arith::to_linear(arith::simplify(index));
    const loop_node* along = nullptr;
    for (const loop_node* l : c.loops) {
      if (!uses_var(index, l->var)) continue;
      if (rest.coefficient(l->var) != 1 || along || support::contains(used, l))
        refuse(c, "what is copied is no box of " + b->name);
      along = l;
      used.push_back(l);
    }
    if (along)
      erase_if(rest.terms, [&](const auto& t) { return arith::same_value(t.first, along->var); });
    out.begin.push_back(arith::from_linear(rest));
    out.along.push_back(along);
    for (const loop_node* l : c.loops)
      if (uses_var(out.begin.back(), l->var)) refuse(c, "what is copied is no box of " + b->name);
  }
  for (const loop_node* l : c.loops)
    if (constant_extent(*l) > 1 && !support::contains(used, l))
      refuse(c, "loop " + l->var->name + " copies the same elements again");
  return out;
}

/// Conditions that hold within the tensor alone are the engine's own: it writes zeros outside.
inline void check_conditions(const written_copy& c) {
  const buffer& b = c.tensor();
  for (const expr& term : c.holds) {
    const expr holds = term->op == op::call && term->name == "likely" ? term->args[0] : term;
    bool known = false;
    for (std::size_t d = 0; d < b->shape.size() && holds->args.size() == 2; ++d) {
      const expr wide = cast(dtype::i64, c.in_tensor()[d]), end = cast(dtype::i64, b->shape[d]);
      const auto same = [&](const expr& below, const expr& above, std::int64_t more) {
        // below + more <= above, as index >= 0 or index + 1 <= extent
        const expr gap = arith::simplify(cast(dtype::i64, above) - cast(dtype::i64, below) -
                                         integer(dtype::i64, more));
        const auto is = [&](const expr& other) {
          const arith::linear x = arith::to_linear(arith::simplify(gap - other));
          return x.terms.empty() && x.constant == 0;
        };
        return is(end - wide - integer(dtype::i64, 1)) || is(wide);
      };
      const expr &x = holds->args[0], &y = holds->args[1];
      known = known || (holds->op == op::lt && same(x, y, 1)) ||
              (holds->op == op::le && same(x, y, 0)) || (holds->op == op::gt && same(y, x, 1)) ||
              (holds->op == op::ge && same(y, x, 0));
    }
    if (!known) refuse(c, "it is made under a condition that does not end with " + b->name);
  }
}

}  // namespace tilewright::pass::detail::tensor_copies
