// Numbers as text and back, the same in every program.
//
// The C library writes and reads floats as the locale of the host program says ("0,5"), and streams
// follow a global locale of C++. What this library stores, exchanges and prints does not.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// `value` to `digits` significant digits, with an exponent where that is shorter: %.{digits}g.
inline std::string general_text(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general,
                                 digits < 32 ? digits : 32);
  return {text, end.ptr};
}

/// `value` with `decimals` digits behind the point, at most 32: %.{decimals}f.
inline std::string fixed_text(double value, int decimals) {
  char text[384];  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed,
                                 decimals < 32 ? decimals : 32);
  return {text, end.ptr};
}

/// `value` in lower-case hexadecimal digits, with zeros in front up to `width`.
inline std::string hex_text(unsigned value, std::size_t width) {
  char text[16];
  const std::string digits(text, std::to_chars(text, text + sizeof text, value, 16).ptr);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

/// The number that the whole of `text` is; nothing where it is none of type T.
template <class T>
std::optional<T> read_number(std::string_view text) {
  T out{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// ASCII letters and digits, whatever letters the locale knows besides.
inline bool is_ascii_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace tilewright::support
