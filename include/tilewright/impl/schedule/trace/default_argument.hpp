// What an argument is that was left out.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/schedule/instruction.hpp>

namespace tilewright::detail {

/// The argument of a parameter that nobody has given; nothing where it must be given.
inline std::optional<argument> default_argument(const parameter& p) {
  if (p.hidden_when_empty || (p.positional && p.type == argument_type::loops))
    return std::vector<rv>{};
  if (p.fallback && p.type == argument_type::padding) return argument{};
  if (!p.fallback) return std::nullopt;
  if (p.type == argument_type::string) return std::string(*p.fallback);
  std::int64_t number = 0;
  std::from_chars(p.fallback->data(), p.fallback->data() + p.fallback->size(), number);
  if (p.type == argument_type::boolean) return number != 0;
  return number;
}

}  // namespace tilewright::detail
