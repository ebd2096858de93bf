// The analyzer's working representation of an index expression.
//
// A schedule is replayed in microseconds, with hundreds of simplifications on the way. A form keeps
// its terms inline and takes coefficients with overflow checks; `linear` is its public, plain twin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <forward_list>
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

/// One summand: term * coefficient. The handle of the term stands elsewhere, in an expression or
/// with a `term_keeper`, and has to outlive the form: counting owners took half of the time of a
/// question.
struct summand {
  const ir::expr* handle;
  std::int64_t coefficient;
  const ir::expr& term() const noexcept { return *handle; }
};

/// Keeps new expressions alive while forms name them.
class term_keeper {
 public:
  const ir::expr& keep(ir::expr e) { return kept_.emplace_front(std::move(e)); }

 private:
  std::forward_list<ir::expr> kept_;
};

/// Summands, the first few without allocation.
class summands {
 public:
  summands() = default;
  summands(const summands& other) : size_(other.size_), heap_(other.heap_) { copy_local(other); }
  summands(summands&& other) noexcept : size_(other.size_), heap_(std::move(other.heap_)) {
    copy_local(other);
    other.size_ = 0;
    other.heap_.clear();
  }
  summands& operator=(const summands& other) {
    size_ = other.size_;
    heap_ = other.heap_;
    copy_local(other);
    return *this;
  }
  summands& operator=(summands&& other) noexcept {
    size_ = other.size_;
    heap_.swap(other.heap_);
    copy_local(other);
    return *this;
  }
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
  static constexpr std::size_t inline_size = 8;
  summand* data() noexcept { return size_ <= inline_size ? local_ : heap_.data(); }
  const summand* data() const noexcept { return size_ <= inline_size ? local_ : heap_.data(); }
  void copy_local(const summands& other) noexcept {
    if (size_ <= inline_size) std::copy_n(other.local_, size_, local_);
  }
  std::size_t size_ = 0;
  summand local_[inline_size];
  std::vector<summand> heap_;  // all of them, when they are more than `local_` holds
};

/// constant + sum of summands. `valid` is false once a coefficient has overflowed: the form then
/// says nothing. `data` is set when a load or a call takes part, so that wrapping has to be
/// reckoned with.
struct form {
  summands terms;
  std::int64_t constant = 0;
  bool valid = true;
  bool data = false;

  bool is_constant() const noexcept { return valid && terms.empty(); }
};

/// @name Arithmetic of forms; the result is invalid when a coefficient overflows
/// @{
void add_constant(form& to, std::int64_t value);
void add_term(form& to, const ir::expr& term, std::int64_t coefficient);
void add_term(form& to, const ir::expr&& term, std::int64_t coefficient) = delete;
/// to += f * factor
void add(form& to, const form& f, std::int64_t factor = 1);
void scale(form& f, std::int64_t factor);
form difference(const form& a, const form& b);
/// Index of `term` in `f`, or -1.
int find_term(const form& f, const ir::expr& term);
/// Greatest common divisor of the coefficients; 0 when there is no term.
std::int64_t common_factor(const form& f);
/// @}

/// The form of an expression without any rewriting: sums, multiples, casts between i32 and i64.
form plain_form(const ir::expr& e);
form plain_form(const ir::expr&& e) = delete;

/// The form of `term` as it stands.
form single_term(const ir::expr& term);
form single_term(const ir::expr&& term) = delete;

/// The expression of a form; `like` itself where it already has that shape.
ir::expr expression(const form& f, dtype type, const ir::expr& like = {});

/// True when something below `e` may wrap: only the arithmetic of variables is known not to.
bool may_wrap(const ir::expr& e);

}  // namespace tilewright::arith
