// What the steps of a space expression are about: names, loops of axes, numbers and texts, and
// arithmetic on what was drawn.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/meta/axis.hpp>
#include <tilewright/meta/loop_level.hpp>
#include <tilewright/meta/name.hpp>
#include <tilewright/schedule/instruction.hpp>

namespace tilewright::space {
namespace detail {

/// What a step has made, `t`, and one of several values, `t[1]`; `t[-1]` is the last one. The name is
/// in the type.
template <class Name>
struct variable_item {
  using variable_name = Name;
  int index = 0;
};
template <class Name>
struct variable_of {
  using variable_name = Name;
  constexpr variable_of() {}
  constexpr variable_item<Name> operator[](int index) const { return {index}; }
};
struct block_at_hand {};

/// An argument of a step that the compiler sees, as each of `split<i, infer, 4>`.
struct operand {
  enum class role : unsigned char { level, variable, text, number, inferred, here };
  static constexpr std::size_t capacity = 48;
  static constexpr int all = std::numeric_limits<int>::min();  // levels of an axis, values

  role is = role::number;
  char text[capacity]{};
  std::size_t length = 0;   // characters of text
  std::int64_t number = 0;  // itself, or which level or value

  template <std::size_t N>
  requires(N <= capacity) constexpr operand(const char (&literal)[N])  // NOLINT
      : is(role::text) {
    write({literal, N - 1});
  }
  template <std::integral T>
  constexpr operand(T value) : number(static_cast<std::int64_t>(value)) {}    // NOLINT
  constexpr operand(infer_t) : is(role::inferred) {}                          // NOLINT
  constexpr operand(block_at_hand) : is(role::here) {}                        // NOLINT
  constexpr operand(meta::loop_level l) : is(role::level), number(l.level) {  // NOLINT
    write(l.axis());
  }
  template <class Axis>
  requires dsl::is_axis<Axis>
  constexpr operand(Axis) : is(role::level), number(all) {  // NOLINT
    write(meta::text_of<typename Axis::name>);
  }
  template <class Name>
  constexpr operand(variable_of<Name>) : is(role::variable), number(all) {  // NOLINT
    write(meta::text_of<Name>);
  }
  template <class Name>
  constexpr operand(variable_item<Name> x) : is(role::variable), number(x.index) {  // NOLINT
    write(meta::text_of<Name>);
  }

  constexpr std::string_view view() const { return {text, length}; }
  constexpr void write(std::string_view from) {
    length = from.size();
    for (std::size_t c = 0; c < length; ++c) text[c] = from[c];
  }
};

/// Operands of a step, which live as long as the program.
struct operand_refs {
  const operand* const* data = nullptr;
  std::size_t size = 0;
  constexpr const operand& operator[](std::size_t n) const { return *data[n]; }
};

/// What a sampling begins with instead of a draw.
struct given_decision {
  decision value;
  friend bool operator==(const given_decision&, const given_decision&) = default;
};

struct arithmetic;
/// An argument behind the operands of a step, in parentheses. What it holds, one of the four, is
/// `argument_value` in the library: a std::variant here would cost every file that includes this one.
class step_argument {
 public:
  step_argument(const operand& o);                        // NOLINT
  step_argument(std::shared_ptr<const arithmetic> tree);  // NOLINT
  step_argument(argument given);                          // NOLINT
  step_argument(given_decision decided);                  // NOLINT

  struct held;
  const held& operator*() const noexcept { return *held_; }

 private:
  std::shared_ptr<const held> held_;
};
struct arithmetic {
  factor::op op = factor::op::add;
  step_argument left, right;
};

/// Arithmetic on random variables: `t[0] * 2`. The operands stay in the type, for their names.
template <class Left, class Right>
struct computed {
  std::shared_ptr<const arithmetic> node;
};
template <class T>
inline constexpr bool is_computed = false;
template <class Left, class Right>
inline constexpr bool is_computed<computed<Left, Right>> = true;
template <class T>
concept random_number = is_computed<T> || requires {
  typename T::variable_name;
};

template <class T>
concept step_value = random_number<T> || std::same_as<T, given_decision> ||
    std::is_constructible_v<operand, T> || std::is_convertible_v<const T&, std::string_view> ||
    std::is_constructible_v<argument, const T&>;
template <class T>
step_argument to_argument(const T& value) {
  if constexpr (is_computed<T>)
    return value.node;
  else if constexpr (std::same_as<T, given_decision>)
    return value;
  else if constexpr (std::is_constructible_v<operand, T>)
    return operand(value);
  else if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return argument(std::string(std::string_view(value)));
  else
    return argument(value);
}
template <factor::op Op, class Left, class Right>
computed<Left, Right> compute(const Left& a, const Right& b) {
  return {std::make_shared<const arithmetic>(arithmetic{Op, to_argument(a), to_argument(b)})};
}

/// @name Arithmetic and comparisons of random variables and integers
/// @{
template <class A, class B>
concept computable = (random_number<A> && (random_number<B> || std::integral<B>)) ||
                     (std::integral<A> && random_number<B>);
template <class A, class B>
requires computable<A, B>
auto operator+(const A& a, const B& b) { return compute<factor::op::add>(a, b); }
template <class A, class B>
requires computable<A, B>
auto operator-(const A& a, const B& b) { return compute<factor::op::sub>(a, b); }
template <class A, class B>
requires computable<A, B>
auto operator*(const A& a, const B& b) { return compute<factor::op::mul>(a, b); }
template <class A, class B>
requires computable<A, B>
auto floordiv(const A& a, const B& b) { return compute<factor::op::floordiv>(a, b); }
template <class A, class B>
requires computable<A, B>
auto floormod(const A& a, const B& b) { return compute<factor::op::floormod>(a, b); }
template <class A, class B>
requires computable<A, B>
auto operator<=(const A& a, const B& b) { return compute<factor::op::le>(a, b); }
template <class A, class B>
requires computable<A, B>
auto operator<(const A& a, const B& b) { return compute<factor::op::lt>(a, b); }
template <class A, class B>
requires computable<A, B>
auto operator>=(const A& a, const B& b) { return compute<factor::op::ge>(a, b); }
template <class A, class B>
requires computable<A, B>
auto operator>(const A& a, const B& b) { return compute<factor::op::gt>(a, b); }
template <class A, class B>
requires computable<A, B>
auto eq(const A& a, const B& b) { return compute<factor::op::eq>(a, b); }
template <class A, class B>
requires computable<A, B>
auto ne(const A& a, const B& b) { return compute<factor::op::ne>(a, b); }
/// @}

/// The first mistakes of an expression, by the name that each is about; empty: there is none.
struct mistake_list {
  std::string_view unknown;     // a variable that no step before has made
  std::string_view twice;       // one that two steps make
  std::string_view short_axis;  // an axis that does not have the level
};

/// What an expression has made so far, as the compiler walks over its steps: variables, and how
/// many levels the axes of the block at hand have; and the first mistakes that it met.
struct environment {
  static constexpr std::size_t capacity = 128;
  std::string_view known[capacity]{};
  std::size_t count = 0;
  struct level_count {
    std::string_view axis;
    int levels = 0;
  } tiled[capacity]{};
  std::size_t tiled_count = 0;
  mistake_list mistakes;

  /// string_view compares letter by letter at compile time.
  static constexpr bool equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && __builtin_memcmp(a.data(), b.data(), a.size()) == 0;
  }
  constexpr bool knows(std::string_view name) const {
    for (std::size_t n = 0; n < count; ++n)
      if (equal(known[n], name)) return true;
    return false;
  }
  constexpr void use(std::string_view name) {
    if (mistakes.unknown.empty() && !knows(name)) mistakes.unknown = name;
  }
  constexpr void make(std::string_view name) {
    if (!knows(name))
      known[count++] = name;
    else if (mistakes.twice.empty())
      mistakes.twice = name;
  }
  constexpr void use_level(std::string_view axis, std::int64_t level) {
    for (std::size_t n = tiled_count; n-- > 0;)
      if (equal(tiled[n].axis, axis)) {
        if (mistakes.short_axis.empty() && tiled[n].levels != 0 && level >= tiled[n].levels)
          mistakes.short_axis = axis;
        return;
      }
  }
  /// The axis has that many levels; 0: nobody knows how many.
  constexpr void tile(std::string_view axis, int levels) { tiled[tiled_count++] = {axis, levels}; }
  constexpr void note_mistakes(const environment& other) {
    if (mistakes.unknown.empty()) mistakes.unknown = other.mistakes.unknown;
    if (mistakes.twice.empty()) mistakes.twice = other.mistakes.twice;
    if (mistakes.short_axis.empty()) mistakes.short_axis = other.mistakes.short_axis;
  }
};

template <class T>
struct variables_of {
  static constexpr void walk(environment& e) {
    if constexpr (requires { typename T::variable_name; })
      e.use(meta::text_of<typename T::variable_name>);
    else if constexpr (requires { T::walk(e); })
      T::walk(e);
  }
};
template <class Left, class Right>
struct variables_of<computed<Left, Right>> {
  static constexpr void walk(environment& e) {
    variables_of<Left>::walk(e);
    variables_of<Right>::walk(e);
  }
};

}  // namespace detail

/// A random variable of a space expression, a block, a loop, an integer, or several, by its name:
/// `constexpr variable<"tiles"> tiles;`. A step that makes it: `let<tiles> = ...`.
template <fixed_string Name>
using variable = detail::variable_of<meta::to_name<Name>>;

/// `sample_perfect_tile<i, 2>(with_decision(8, 64))`: what a sampling gives in the sketch, in the
/// place of a draw: the factors of a tile, the index of a candidate, or a place. Search may change
/// it, as TVM's `decision=`.
template <std::integral... T>
detail::given_decision with_decision(T... values) {
  return {{static_cast<std::int64_t>(values)...}};
}

/// The block that `on`, `post_order` or the end of the program gives: `decompose_reduction<here,
/// k[0]>`.
inline constexpr detail::block_at_hand here{};

}  // namespace tilewright::space
