// Copies from global to shared memory in the background: cp.async in the IR.
//
//   tw_copy_async(S[..], A[..], n)       copies n elements, 4, 8 or 16 bytes, some time before the wait for its group;
//                                        the first element copied to, then the first one copied from
//   tw_copy_or_zero(S[..], A[..], c, n)  the same where the condition c holds, zeros where it does not
//   tw_commit_copies()                   what the thread has started since the last one is a group
//   attribute async_wait, n: body        all groups but the last n have landed; the body says what that is,
//                                        and is not executed
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::async_copies {

using namespace tilewright::ir;

inline constexpr const char* wait_key = "async_wait";
inline constexpr const char *copy_name = "tw_copy_async", *padded_name = "tw_copy_or_zero";

inline stmt commit() { return make_evaluate(call(dtype::i32, "tw_commit_copies", {})); }
inline stmt wait(std::int64_t pending, stmt landed) {
  return make_attribute(text("copies"), wait_key, integer(dtype::i32, pending), std::move(landed));
}

/// How many elements of memory lie before the accessed one.
inline expr offset_of(const buffer& b, const std::vector<expr>& indices) {
  expr at = b->elem_offset && storage_rank(b->scope) == 0 ? b->elem_offset : integer(dtype::i64, 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (b->strides.empty())
      at = at * cast(dtype::i64, b->shape[d]) + cast(dtype::i64, indices[d]);
    else
      at = at + cast(dtype::i64, indices[d]) * cast(dtype::i64, b->strides[d]);
  }
  return at;
}

/// Whether an access of `count` elements from `at` on begins at a multiple of their bytes.
inline bool is_aligned(const buffer& b, const expr& at, std::int64_t count) {
  if (b->alignment % (count * bytes(b->type)) != 0) return false;
  const auto whole = [&](const arith::linear& sum) {
    return sum.constant % count == 0 &&
           support::all(sum.terms, [&](const auto& t) { return t.second % count == 0; });
  };
  return whole(arith::to_linear(at)) || whole(arith::to_linear(arith::simplify(at)));
}

/// The loop's variable at one of its iterations.
inline expr at_lane(const expr& e, const loop_node& lanes, std::int64_t i) {
  return substitute(e, {{lanes.var, integer(lanes.var.type(), i)}});
}

/// Whether each iteration of the loop accesses the element behind the one before.
inline bool are_neighbours(const expr& at, const loop_node& lanes) {
  const arith::linear sum = arith::to_linear(at);
  if (sum.coefficient(lanes.var) == 1 && support::all(sum.terms, [&](const auto& t) {
        return arith::same_value(t.first, lanes.var) || !uses_var(t.first, lanes.var);
      }))
    return true;
  const expr first = at_lane(at, lanes, 0);
  for (std::int64_t i = 1; i < constant_extent(lanes); ++i)
    if (!is_int(arith::simplify(at_lane(at, lanes, i) - first), i)) return false;
  return true;
}

inline bool is_zero(const expr& e) {
  return (e->op == op::real && e->real == 0 && !std::signbit(e->real)) || is_int(e, 0);
}

/// What is copied, and the condition under which it is; otherwise zeros are stored.
struct copied {
  expr value, condition;
};
inline copied copied_by(const store_node& to) {
  const expr& v = to.value;
  const bool padded = (v->op == op::if_then_else || v->op == op::select) && is_zero(v->args[2]) &&
                      !reads_memory(v->args[0]);
  return padded ? copied{v->args[1], v->args[0]} : copied{v, {}};
}

/// The copy in the background that the statement is: a store, or a loop on vectors around one; null when
/// it is none.
inline stmt as_copy(const stmt& s) {
  const loop_node* lanes = as_loop(s);
  if (lanes && (lanes->loop != loop_kind::vectorized || !is_int(lanes->min, 0))) return {};
  const store_node* to = as_store(lanes ? lanes->body : s);
  if (!to) return {};
  const auto [from, condition] = copied_by(*to);
  if (from->op != op::load || from.type() != to->buffer->type ||
      storage_rank(to->buffer->scope) != 1 || storage_rank(from->buffer->scope) != 0 ||
      (condition && lanes && uses_var(condition, lanes->var)))
    return {};
  const std::int64_t count = lanes ? constant_extent(*lanes) : 1,
                     size = count * bytes(to->buffer->type);
  if (size != 4 && size != 8 && size != 16) return {};
  for (const auto& [b, indices] :
       {std::pair(to->buffer, to->indices), std::pair(from->buffer, from->args)}) {
    const expr at = offset_of(b, indices);
    if (lanes && !are_neighbours(at, *lanes)) return {};
    if (!is_aligned(b, lanes ? at_lane(at, *lanes, 0) : at, count)) return {};
  }
  const auto first = [&](const buffer& b, std::vector<expr> at) {
    if (lanes)
      for (expr& e : at) e = at_lane(e, *lanes, 0);
    return load(b, std::move(at));
  };
  std::vector<expr> arguments{first(to->buffer, to->indices), first(from->buffer, from->args)};
  if (condition) arguments.push_back(condition);
  arguments.push_back(integer(dtype::i32, count));
  const char* const name = condition ? padded_name : copy_name;
  return make_evaluate(call(dtype::i32, name, std::move(arguments)));
}

/// Copies of the statement in the background, as many as can be.
class background_copier : public mutator {
 public:
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    if (tensor_copies::is_description(s)) return s;
    stmt copy = as_copy(s);
    return copy ? copy : mutator::mutate(s);
  }
};
inline stmt in_background(const stmt& s) { return background_copier{}.mutate(s); }

}  // namespace tilewright::pass::detail::async_copies
