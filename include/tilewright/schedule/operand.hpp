// Arguments of primitives that are more than a number: buffers of a block, index maps with random
// variables in them, values that pad a buffer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ir/index_map.hpp>
#include <tilewright/schedule/rv.hpp>

namespace tilewright {

/// A buffer that a block accesses: by its place among the reads or the writes, or by its name,
/// which must then be unique among both. In a trace `("read", 0)`, or `"A"`.
struct buffer_selector {
  enum class list : std::uint8_t { read, write, named };
  list in = list::read;
  int index = 0;
  std::string name;

  buffer_selector() = default;
  buffer_selector(list l, int i) : in(l), index(i) {}
  buffer_selector(std::string n) : in(list::named), name(std::move(n)) {}  // NOLINT
  buffer_selector(const char* n) : in(list::named), name(n) {}             // NOLINT
  friend bool operator==(const buffer_selector&, const buffer_selector&) = default;
};
inline buffer_selector read_buffer(int index) { return {buffer_selector::list::read, index}; }
inline buffer_selector written_buffer(int index) { return {buffer_selector::list::write, index}; }

/// An index map as it is recorded: some of its free variables stand for integers of the schedule.
struct map_argument {
  ir::index_map map;
  std::vector<std::pair<ir::var, expr_rv>> variables;

  map_argument() = default;
  map_argument(ir::index_map m) : map(std::move(m)) {}  // NOLINT
  map_argument(ir::index_map m, std::vector<std::pair<ir::var, expr_rv>> v)
      : map(std::move(m)), variables(std::move(v)) {}
  /// From text: `{"lambda i, j: (i // t, j, i % t)", {{"t", tile}}}`.
  /// @throws ir::parse_error
  map_argument(std::string_view text,
               std::initializer_list<std::pair<std::string_view, expr_rv>> values = {});
  map_argument(const char* text) : map_argument(std::string_view(text)) {}  // NOLINT
  friend bool operator==(const map_argument& a, const map_argument& b);
};

/// The map with `values[k]` for variable k.
ir::index_map bound(const map_argument& m, const std::vector<std::int64_t>& values);

/// What to put where a new layout has room that no element takes: nothing is said, a number of the
/// buffer's type, or an expression of the new indices.
struct padding {
  std::variant<std::monostate, std::int64_t, double, ir::index_map> value;
  bool empty() const noexcept { return value.index() == 0; }
};

}  // namespace tilewright
