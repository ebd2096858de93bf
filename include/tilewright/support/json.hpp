// JSON as it is exchanged between tuning databases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::support {

struct json_member;

/// A parsed JSON value. Members that do not fit the kind are empty.
struct json {
  enum class kind { null, boolean, integer, number, text, list, object };
  kind is = kind::null;
  bool boolean = false;
  std::int64_t integer = 0;  // a number without fraction and exponent that fits
  double number = 0;         // any number
  std::string text;
  std::vector<json> items;
  std::vector<json_member> members;  // in the order of the text

  // Defined where the type is complete: clang instantiates the destructor of the lists otherwise.
  json();
  json(const json& other);
  json(json&& other) noexcept;
  json& operator=(const json& other);
  json& operator=(json&& other) noexcept;
  ~json();

  /// The member of that name, or null where there is none.
  const json* find(std::string_view name) const;
};

/// A member of an object. (A pair would not do: clang asks it for its traits while `json` is
/// incomplete.)
struct json_member {
  std::string name;
  json value;
};

/// @throws argument_error with the position of what is wrong; nesting deeper than 200 is refused
json parse_json(std::string_view text);

/// `text` as a JSON string, quotes included.
std::string json_text(std::string_view text);

}  // namespace tilewright::support
