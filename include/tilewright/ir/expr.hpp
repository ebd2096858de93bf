// Expressions and buffers of the tensor IR.
//
// Semantics, stated once. Integers wrap at their width. `floordiv` and `floormod` round towards
// minus infinity, as Python does; integer division by zero is undefined and no transformation may
// introduce one: the interpreter reports it, compiled code divides by 1 instead. Floats are IEEE;
// nothing is reassociated except across the iterations of a declared reduction, and a multiply
// followed by an add may be contracted; neither in a function that keeps the order of its terms
// (ir/term_order.hpp). `max(a, b)` of floats is a where a > b, else b, and so b where
// either is NaN; `min` alike; a reduction by them over a NaN depends on the order. The calls `maximum`
// and `minimum` are NaN where either operand is, in any order. Which of two zeros an extreme gives is
// not said. f16 and bf16 are computed in f32 and rounded to nearest even
// after each operation that is stored or cast; so are floats of 8 bits and less. A value whose type is
// a vector is computed lane by lane, all lanes before any is stored. `select` evaluates both branches, `if_then_else` only
// the chosen one. `logical_and` and `logical_or` do not promise short-circuiting. A load out of the
// bounds of its buffer is an error that the interpreter reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>
#include <tilewright/support/ref.hpp>

namespace tilewright::ir {

/// What an expression node computes from its arguments.
enum class op : std::uint8_t {
  var,      // name; identity is the node
  integer,  // literal of an integer or boolean type
  real,     // literal of a float type
  add,
  sub,
  mul,
  div,  // float division; on integers it truncates towards zero
  mod,  // remainder of the truncating division
  floordiv,
  floormod,
  min,
  max,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_not,
  select,        // (condition, if true, if false), both evaluated
  if_then_else,  // (condition, if true, if false), one evaluated
  cast,          // (value) to the node's type
  load,          // buffer element at args
  call,          // intrinsic function `name` of args
  text,          // string literal `name`, an argument of calls; its type is handle
  data,          // pointer to the memory of `buffer`; its type is handle
  let            // (variable, value, body): the body with the variable bound to the value
};

struct expr_node;
struct buffer_node;
using buffer = support::ref<const buffer_node>;

/// Shared handle to an immutable expression.
class expr {
 public:
  expr() = default;
  expr(int value);              // NOLINT: an i32 literal
  expr(std::int64_t value);     // NOLINT: an i64 literal
  expr(double value) = delete;  // a float literal needs its type: real(f32, 1.0)
  explicit expr(support::ref<const expr_node> node) : node_(std::move(node)) {}

  const expr_node* operator->() const noexcept { return node_.get(); }
  const expr_node& operator*() const noexcept { return *node_; }
  const expr_node* get() const noexcept { return node_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(node_); }
  /// Identity of the node; structural comparison is `equal` in ir/equal.hpp.
  bool same(const expr& other) const noexcept { return node_ == other.node_; }
  dtype type() const noexcept;

 private:
  support::ref<const expr_node> node_;
};

/// A variable is an expression whose op is `op::var`; loops, iteration variables, scalar
/// parameters.
using var = expr;

struct expr_node : support::counted {
  ir::op op = ir::op::integer;
  dtype type = dtype::i32;
  bool reads_memory = false;  // loads an element or calls a function, here or in an operand
  std::int64_t integer = 0;   // op::integer; unsigned 64-bit values as their bit pattern
  double real = 0;            // op::real
  std::string name;           // op::var, op::call, op::text
  ir::buffer buffer;          // op::load, op::data
  std::vector<expr> args;
};

inline dtype expr::type() const noexcept { return node_->type; }

/// A tensor in memory; identity is the node, never the name.
struct buffer_node : support::counted {
  std::string name;
  dtype type = dtype::f32;
  std::vector<expr> shape;    // [rank], elements
  std::vector<expr> strides;  // [rank], elements; empty means row-major and contiguous
  expr elem_offset;           // elements from the data pointer; null means 0
  std::string scope = "global";
  int alignment = 64;     // bytes
  int offset_factor = 0;  // elem_offset is a multiple of it; 0: unknown
  // Dimensions from which on indices are flattened into one more physical axis.
  std::vector<int> axis_separators;
  bool broadcasts = false;  // a dimension of extent 1 may be given a stride of 0
  expr data;                // pointer that an alias is laid over; null: memory of its own
};

/// @name Leaves
/// @{
var make_var(std::string name, dtype type = dtype::i32);
expr integer(dtype type, std::int64_t value);
expr real(dtype type, double value);
expr boolean(bool value);
/// Literal of any type: `value` is converted.
expr literal(dtype type, double value);
/// Identity of max and min: the smallest and the largest finite value (infinities for floats that
/// have them).
expr lowest_value(dtype type);
expr highest_value(dtype type);
buffer make_buffer(std::string name, dtype type, std::vector<expr> shape,
                   std::string scope = "global");
/// @}

/// @name Vectors
/// Calls of "tir.Broadcast" and "tir.Ramp"; lanes are a literal, or a literal times T.vscale().
/// @{
/// `value` in every lane of a type like `like`; a vector is returned as it is.
expr broadcast(const expr& value, dtype like);
/// base, base + stride, ...
expr ramp(const expr& base, const expr& stride, int lanes);
/// What a load at these indices gives: of a vector of indices, a vector.
dtype access_type(const buffer& b, const std::vector<expr>& indices);
/// @}

/// @name Operators
/// Literals are folded and x+0, x*1, x*0, x-0, x//1, x%1 are reduced; a literal operand of integer
/// type takes the type of the other operand; otherwise integer operands are widened to the wider
/// type; a scalar meets a vector as a vector. Both operands of a float operator have the same type.
/// Comparisons and logic give boolean.
/// @throws internal_error when the operand types do not fit
/// @{
expr operator+(const expr& a, const expr& b);
expr operator-(const expr& a, const expr& b);
expr operator*(const expr& a, const expr& b);
expr operator-(const expr& a);
expr div(const expr& a, const expr& b);
expr mod(const expr& a, const expr& b);
expr floordiv(const expr& a, const expr& b);
expr floormod(const expr& a, const expr& b);
expr min(const expr& a, const expr& b);
expr max(const expr& a, const expr& b);
expr eq(const expr& a, const expr& b);
expr ne(const expr& a, const expr& b);
expr lt(const expr& a, const expr& b);
expr le(const expr& a, const expr& b);
expr gt(const expr& a, const expr& b);
expr ge(const expr& a, const expr& b);
expr logical_and(const expr& a, const expr& b);
expr logical_or(const expr& a, const expr& b);
expr logical_not(const expr& a);
expr select(const expr& condition, const expr& yes, const expr& no);
expr if_then_else(const expr& condition, const expr& yes, const expr& no);
expr cast(dtype type, const expr& value);
expr load(const buffer& from, std::vector<expr> indices);
/// Intrinsic call: exp log sqrt rsqrt tanh erf sigmoid pow abs floor ceil round maximum minimum ...
/// Implementations of tensor intrinsics use dot4(c, a0..a3, b0..b3) = c + a0 b0 + .. + a3 b3 of
/// 8-bit integers in the type of c (i32 or u32), and dot2(c, a0, a1, b0, b1) = (c + a1 b1) + a0 b0
/// of bf16 numbers in f32.
expr call(dtype type, std::string name, std::vector<expr> args);
/// String literal, as an argument of calls.
expr text(std::string value);
/// Pointer to the memory of a buffer, as an argument of calls.
expr data(const buffer& of);
/// `body` with `v` bound to `value`.
expr let_in(const var& v, const expr& value, const expr& body);
/// The node of `like` with other arguments, built through the folding builders above.
expr with_args(const expr& like, std::vector<expr> args);
/// (a + b - 1) // b for positive b.
expr ceildiv(const expr& a, const expr& b);
/// @}

/// True when `e` is an integer or boolean literal; `as_int` gives its value.
inline bool is_int(const expr& e) noexcept { return e && e->op == op::integer; }
inline bool is_int(const expr& e, std::int64_t value) noexcept {
  return is_int(e) && e->integer == value;
}
inline std::int64_t as_int(const expr& e) noexcept { return e->integer; }
inline bool is_var(const expr& e) noexcept { return e && e->op == op::var; }
inline bool is_true(const expr& e) noexcept { return is_int(e, 1) && e.type() == dtype::boolean; }

/// Result of an integer operator on constants, wrapped to the width of `type`.
std::int64_t fold_integer(op o, dtype type, std::int64_t a, std::int64_t b);
std::int64_t wrap_to(dtype type, std::int64_t value);
std::int64_t floor_divide(std::int64_t a, std::int64_t b);
std::int64_t floor_modulo(std::int64_t a, std::int64_t b);

/// Hash and equality of handles by identity, for maps keyed by variables.
struct expr_identity_hash {
  std::size_t operator()(const expr& e) const noexcept { return std::hash<const void*>{}(e.get()); }
};
struct expr_identity_equal {
  bool operator()(const expr& a, const expr& b) const noexcept { return a.same(b); }
};

}  // namespace tilewright::ir
