// What a schedule is apart from its history: the program, the symbol table, the random stream.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/rv.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright {

/// What a random variable stands for now.
struct symbol {
  rv_class kind = rv_class::block;
  std::int64_t value =
      0;         // block: its id; integer: its value; loop without variable: a marker below
  ir::var loop;  // loop: its variable

  static symbol of_block(std::uint64_t id);
  static symbol of_loop(ir::var v);
  static symbol of_integer(std::int64_t value);
  static symbol of_marker(std::int64_t marker);
};

/// Values of a loop symbol that is no loop, as sample_compute_location gives them: compute_at reads
/// them as "leave the block where it is" and "inline it".
inline constexpr std::int64_t root_location = -1;
inline constexpr std::int64_t inline_location = -2;
/// Value of an integer symbol that stands for `infer`, from sampling a loop of symbolic extent. In
/// a decision it is written -1.
inline constexpr std::int64_t inferred_value = std::numeric_limits<std::int64_t>::min();

/// An immutable function, what the random variables of a schedule stand for, and the random stream.
struct schedule_state {
  ir::function function;
  std::vector<symbol> symbols;  // [random variables]
  support::random random{42};

  /// @throws argument_error when the variable is not of this schedule
  const symbol& at(rv v) const;
  std::uint64_t block(rv v) const;
  /// The loop's variable; null for a location marker.
  const ir::var& loop(rv v) const;
  /// Value of a factor; `inferred_value` for `infer`.
  /// @throws argument_error on a division by zero, an overflow, or arithmetic with `infer`
  std::int64_t value(const factor& f) const;
};

}  // namespace tilewright
