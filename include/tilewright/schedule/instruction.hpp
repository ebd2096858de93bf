// Instructions: one application of a primitive with its arguments, and the table of all kinds.
//
// A kind is one line of the table in impl/schedule/instruction_table.ipp: a name, the names of the
// parameters, and the function. Types of parameters, the adapter that calls the function, printing
// and parsing follow from the function's signature.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/operand.hpp>
#include <tilewright/schedule/rv.hpp>
#include <tilewright/schedule/state.hpp>
#include <tilewright/support/ref.hpp>

namespace tilewright {

/// The random choice of a sampling instruction: one index, or a list of factors. Empty: none.
using decision = std::vector<std::int64_t>;

/// Value of an annotation: constant, an integer variable of the schedule, or a list or map in which
/// such variables occur.
struct annotation_value {
  using list = std::vector<annotation_value>;
  using dict = std::map<std::string, annotation_value>;
  std::variant<ir::attr, factor, list, dict> value;

  template <class T>
  requires std::constructible_from<ir::attr, T> annotation_value(T v)  // NOLINT
      : annotation_value(std::in_place, ir::attr(std::move(v))) {}
  annotation_value(std::in_place_t, ir::attr constant);
  annotation_value(expr_rv v);  // NOLINT
  annotation_value(factor f);   // NOLINT
  annotation_value(list l);     // NOLINT
  annotation_value(dict d);     // NOLINT
  annotation_value(const annotation_value&);
  annotation_value(annotation_value&&) noexcept;
  annotation_value& operator=(const annotation_value&);
  annotation_value& operator=(annotation_value&&) noexcept;
  ~annotation_value();
  friend bool operator==(const annotation_value& a, const annotation_value& b);
};

namespace detail {
/// Types whose values are all integers of 64 bits.
template <class T>
concept small_integer =
    !std::same_as<T, bool> && (std::integral<T> || std::is_enum_v<T>)&&requires(const T& v) {
  std::int64_t{v};
};
template <class T>
concept short_real = std::same_as<T, float> || std::same_as<T, double>;
}  // namespace detail

/// Argument of an instruction; monostate for an optional one that was left out.
struct argument
    : std::variant<std::monostate, rv, std::vector<rv>, std::vector<factor>, bool, std::int64_t,
                   std::string, std::vector<std::int64_t>, std::vector<double>, annotation_value,
                   double, factor, buffer_selector, map_argument> {
  argument();
  argument(std::monostate);                  // NOLINT
  argument(rv v);                            // NOLINT
  argument(std::vector<rv> list);            // NOLINT
  argument(std::vector<factor> list);        // NOLINT
  argument(std::string text);                // NOLINT
  argument(std::vector<std::int64_t> list);  // NOLINT
  argument(std::vector<double> list);        // NOLINT
  argument(annotation_value note);           // NOLINT
  argument(factor f);                        // NOLINT
  argument(buffer_selector buffer);          // NOLINT
  argument(map_argument map);                // NOLINT
  argument(std::in_place_t, bool v);
  argument(std::in_place_t, std::int64_t v);
  argument(std::in_place_t, double v);
  template <std::same_as<bool> T>
  argument(T v) : argument(std::in_place, v) {}  // NOLINT
  template <detail::small_integer T>
  argument(T v) : argument(std::in_place, static_cast<std::int64_t>(v)) {}  // NOLINT
  template <detail::short_real T>
  argument(T v) : argument(std::in_place, static_cast<double>(v)) {}  // NOLINT
  argument(const argument&);
  argument(argument&&) noexcept;
  argument& operator=(const argument&);
  argument& operator=(argument&&) noexcept;
  ~argument();
  friend bool operator==(const argument& a, const argument& b);
};

enum class argument_type : std::uint8_t {
  block,
  loop,
  block_or_loop,
  loop_or_blocks,
  blocks,
  loops,
  factors,
  boolean,
  integer,
  string,
  integers,
  reals,
  note,
  value,         // an integer, or an expression over integers of the schedule
  buffer,        // of a block: ("read", 0)
  index_map,     // lambda i, j: (i // 4, j, i % 4)
  index_ranges,  // lambda i, j: [(i, i + 1), (0, 8)]
  padding        // None, a number or an index map
};

/// Parameter of a kind. A positional one is printed without its name; one with a default may be
/// left out where a trace is parsed.
struct parameter {
  std::string_view name;
  argument_type type = argument_type::block;
  bool positional = false;
  bool hidden_when_empty = false;
  std::optional<std::string_view> fallback;  // of a boolean (0, 1), an integer or a string
};

/// What running an instruction gives. Nothing is committed yet.
struct outcome {
  std::optional<ir::function> function;  // nothing: the program stays
  std::vector<symbol> outputs;
  decision choice;                        // sampling: drawn, given, or given and repaired
  std::optional<support::random> random;  // sampling: the stream after the draw
};

enum class output_shape : std::uint8_t { none, one, many };
enum class decision_shape : std::uint8_t { none, one, many };

/// A primitive as traces know it.
struct instruction_kind {
  std::string_view name;   // as printed after "sch."
  std::string_view alias;  // also accepted where a trace is parsed; may be empty
  std::vector<parameter> parameters;
  output_shape outputs = output_shape::none;
  rv_class output_class = rv_class::block;
  decision_shape choice = decision_shape::none;
  bool pure = false;  // may be dropped when nobody uses what it gives
  outcome (*apply)(const schedule_state&, const std::vector<argument>&, const decision&) = nullptr;
};

/// All kinds.
std::span<const instruction_kind> instruction_kinds();
/// The kind of that name or alias; null when there is none.
const instruction_kind* find_instruction_kind(std::string_view name);

/// The argument with every random variable replaced: number n becomes `numbers[n]`.
/// @throws argument_error when a variable has no entry
argument renumber(const argument& a, std::span<const std::uint32_t> numbers);
/// Appends the random variables that occur in `a`.
void collect_rvs(const argument& a, std::vector<rv>& out);

/// One recorded application; immutable and shared between traces.
struct instruction : support::counted {
  const instruction_kind* kind = nullptr;
  std::vector<argument> args;  // one per parameter of the kind
  std::vector<rv> outputs;
};

}  // namespace tilewright
