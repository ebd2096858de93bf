// A space expression as the C++ that writes it.
//
// Each step writes itself to an `expression_text`, one item of a sequence; what holds other steps
// opens a group, has them write themselves, and closes it around their sequence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/space/operand.hpp>

namespace tilewright::space::detail {

class expression_text {
 public:
  expression_text();

  /// `primitive<operands>(more)`
  void step(std::string_view primitive, operand_refs operands,
            const std::vector<step_argument>& more = {});
  /// What the next step makes is called so.
  void let(operand_refs names);
  /// A step that is written as it stands here.
  void item(std::string text);

  void open();
  /// The sequence of the group between these two texts is an item of the group around.
  void close(std::string_view before = {}, std::string_view after = {});
  /// The last `count` items become one, the choice between them.
  void choice(std::size_t count);

  /// The sequence of what was written.
  std::string text() const;

 private:
  struct part {
    std::string text;
    bool names = false;    // begins with let
    bool chooses = false;  // `a | b`
  };
  void add(part p);
  static part sequence(const std::vector<part>& parts);

  std::vector<std::vector<part>> groups_;  // one at least
  std::string let_;
};

/// "auto_inline{}"; of a type without a name, or a function, that there is one.
std::string callable_text(std::string_view type, bool has_members);
/// The type as the compiler writes it.
template <class T>
constexpr std::string_view type_text() {
  const std::string_view all = __PRETTY_FUNCTION__;
  const std::size_t from = all.find("T = ") + 4, semicolon = all.find(';', from);
  return all.substr(from, (semicolon < all.size() ? semicolon : all.size() - 1) - from);
}
template <class F>
std::string callable_text() {
  return callable_text(type_text<F>(), !std::is_empty_v<F>);
}

/// A real number as C++ writes it.
std::string real_text(double value);
/// "{1, 2, 1}"
std::string list_text(const std::vector<std::int64_t>& list);
std::string list_text(const std::vector<double>& list);

}  // namespace tilewright::space::detail
