// Random variables: what a schedule hands out for blocks, loops and integers.
//
// A variable is a number into the symbol table of its schedule, so it stays valid in copies of the
// schedule, survives rewrites of the program, and means the same in a trace. TVM's names: BlockRV,
// LoopRV, ExprRV.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <tilewright/config.hpp>

namespace tilewright {

/// What a random variable stands for; the letter is its prefix in a printed trace.
enum class rv_class : char { block = 'b', loop = 'l', integer = 'v' };

/// A random variable of any class.
struct rv {
  rv_class kind = rv_class::block;
  std::uint32_t number = 0;  // position in the symbol table
  friend bool operator==(const rv&, const rv&) = default;
};

struct block_rv {
  std::uint32_t number = 0;
  operator rv() const noexcept { return {rv_class::block, number}; }  // NOLINT
  friend bool operator==(const block_rv&, const block_rv&) = default;
};
struct loop_rv {
  std::uint32_t number = 0;
  operator rv() const noexcept { return {rv_class::loop, number}; }  // NOLINT
  friend bool operator==(const loop_rv&, const loop_rv&) = default;
};
struct expr_rv {
  std::uint32_t number = 0;
  operator rv() const noexcept { return {rv_class::integer, number}; }  // NOLINT
  friend bool operator==(const expr_rv&, const expr_rv&) = default;
};

/// Stands for the one factor of a split that follows from the others.
struct infer_t {};
inline constexpr infer_t infer{};

/// An integer known when the schedule runs: a literal, an integer variable, an expression over
/// these
/// (`v3 // 4` in a trace, `floordiv(v3, 4)` in C++), or `infer`.
class factor {
 public:
  enum class op : std::uint8_t {
    inferred,
    literal,
    variable,
    add,
    sub,
    mul,
    floordiv,
    floormod,
    eq,
    ne,
    lt,
    le,
    gt,
    ge
  };

  factor() = default;
  factor(infer_t) {}                                                                     // NOLINT
  factor(int value) : op_(op::literal), value_(value) {}                                 // NOLINT
  factor(std::int64_t value) : op_(op::literal), value_(value) {}                        // NOLINT
  factor(expr_rv v) : op_(op::variable), value_(static_cast<std::int64_t>(v.number)) {}  // NOLINT
  factor(op o, factor a, factor b);

  op kind() const noexcept { return op_; }
  /// Value of a literal or number of a variable.
  std::int64_t value() const noexcept { return value_; }
  const factor& left() const noexcept { return operands_->first; }
  const factor& right() const noexcept { return operands_->second; }
  friend bool operator==(const factor& a, const factor& b);

 private:
  op op_ = op::inferred;
  std::int64_t value_ = 0;
  std::shared_ptr<const std::pair<factor, factor>> operands_;
};

inline factor operator+(expr_rv a, factor b) { return {factor::op::add, a, std::move(b)}; }
inline factor operator-(expr_rv a, factor b) { return {factor::op::sub, a, std::move(b)}; }
inline factor operator*(expr_rv a, factor b) { return {factor::op::mul, a, std::move(b)}; }
inline factor operator+(factor a, factor b) {
  return {factor::op::add, std::move(a), std::move(b)};
}
inline factor operator-(factor a, factor b) {
  return {factor::op::sub, std::move(a), std::move(b)};
}
inline factor operator*(factor a, factor b) {
  return {factor::op::mul, std::move(a), std::move(b)};
}
/// Rounds towards minus infinity, like `//` in a trace.
inline factor floordiv(factor a, factor b) {
  return {factor::op::floordiv, std::move(a), std::move(b)};
}
inline factor floormod(factor a, factor b) {
  return {factor::op::floormod, std::move(a), std::move(b)};
}
/// @name Comparisons: 1 or 0
/// @{
inline factor eq(factor a, factor b) { return {factor::op::eq, std::move(a), std::move(b)}; }
inline factor ne(factor a, factor b) { return {factor::op::ne, std::move(a), std::move(b)}; }
inline factor lt(factor a, factor b) { return {factor::op::lt, std::move(a), std::move(b)}; }
inline factor le(factor a, factor b) { return {factor::op::le, std::move(a), std::move(b)}; }
inline factor gt(factor a, factor b) { return {factor::op::gt, std::move(a), std::move(b)}; }
inline factor ge(factor a, factor b) { return {factor::op::ge, std::move(a), std::move(b)}; }
/// @}

}  // namespace tilewright
