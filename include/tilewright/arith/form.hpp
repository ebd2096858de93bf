// The analyzer's working representation of an index expression.
//
// A schedule is replayed in microseconds, with hundreds of simplifications on the way. A form keeps its
// terms inline and takes coefficients with overflow checks; `linear` is its public, plain twin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <tilewright/ir/expr.hpp>

namespace tilewright::arith {

/// Covers the values in [lo, hi]; the extreme values of int64 mean that this side is unbounded.
struct bounds {
  static constexpr std::int64_t negative_infinity = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t positive_infinity = std::numeric_limits<std::int64_t>::max();
  std::int64_t lo = negative_infinity;
  std::int64_t hi = positive_infinity;

  bool bounded() const noexcept { return lo != negative_infinity && hi != positive_infinity; }
  bool is_point() const noexcept { return lo == hi; }
  friend bool operator==(const bounds&, const bounds&) = default;
};

/// @name Interval arithmetic; overflow saturates to unbounded
/// @{
bounds add(const bounds& a, const bounds& b);
bounds scale(const bounds& a, std::int64_t factor);
bounds multiply(const bounds& a, const bounds& b);
bounds floor_divide(const bounds& a, std::int64_t positive);
bounds floor_modulo(const bounds& a, std::int64_t positive);
/// All values of a type; unbounded for 64 bits.
bounds bounds_of(dtype type);
/// @}

/// One summand: term * coefficient.
struct summand {
  ir::expr term;
  std::int64_t coefficient = 0;
};

/// Summands, the first few without allocation.
class summands {
 public:
  summands() = default;
  summands(const summands& other);
  summands(summands&& other) noexcept;
  summands& operator=(summands other) noexcept;
  ~summands() = default;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  summand* begin() noexcept { return data(); }
  summand* end() noexcept { return data() + size_; }
  const summand* begin() const noexcept { return data(); }
  const summand* end() const noexcept { return data() + size_; }
  summand& operator[](std::size_t i) noexcept { return data()[i]; }
  const summand& operator[](std::size_t i) const noexcept { return data()[i]; }
  void push_back(summand s);
  void erase(std::size_t i);

 private:
  static constexpr std::size_t inline_size = 4;
  summand* data() noexcept { return heap_.empty() ? local_.data() : heap_.data(); }
  const summand* data() const noexcept { return heap_.empty() ? local_.data() : heap_.data(); }
  std::size_t size_ = 0;
  std::array<summand, inline_size> local_;
  std::vector<summand> heap_;
};

/// constant + sum of summands. `valid` is false once a coefficient has overflowed: the form then says
/// nothing. `data` is set when a load or a call takes part, so that wrapping has to be reckoned with.
struct form {
  summands terms;
  std::int64_t constant = 0;
  bool valid = true;
  bool data = false;

  bool is_constant() const noexcept { return valid && terms.empty(); }
};

}  // namespace tilewright::arith
