#pragma once

#include <charconv>

#include <tilewright/support/error.hpp>
#include <tilewright/support/json.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::support {
namespace detail {

class json_reader {
 public:
  explicit json_reader(std::string_view text) : text_(text) {}

  json whole() {
    json out = value(0);
    skip();
    if (at_ != text_.size()) fail("the end of the text");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw argument_error("JSON: expected " + expected + " at character " + std::to_string(at_ + 1));
  }
  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  json value(int depth) {
    if (depth > 200) fail("less nesting");
    json out;
    switch (peek()) {
      case '{': read_object(out, depth); return out;
      case '[': read_list(out, depth); return out;
      case '"':
        out.is = json::kind::text;
        out.text = string();
        return out;
      default: break;
    }
    if (take_word("null")) return out;
    const bool yes = take_word("true");
    if (yes || take_word("false")) {
      out.is = json::kind::boolean;
      out.boolean = yes;
      return out;
    }
    read_number(out);
    return out;
  }

  void read_object(json& out, int depth) {
    out.is = json::kind::object;
    take('{');
    if (take('}')) return;
    do {
      if (peek() != '"') fail("a name");
      std::string name = string();
      if (!take(':')) fail("':'");
      out.members.push_back({std::move(name), value(depth + 1)});
    } while (take(','));
    if (!take('}')) fail("'}'");
  }

  void read_list(json& out, int depth) {
    out.is = json::kind::list;
    take('[');
    if (take(']')) return;
    do out.items.push_back(value(depth + 1));
    while (take(','));
    if (!take(']')) fail("']'");
  }

  void read_number(json& out) {
    const char *first = text_.data() + at_, *last = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(first, last, out.number);
    if (error != std::errc{} || (*first != '-' && (*first < '0' || *first > '9'))) fail("a value");
    out.is = json::kind::number;
    const auto [whole_end, whole_error] = std::from_chars(first, last, out.integer);
    if (whole_error == std::errc{} && whole_end == end) out.is = json::kind::integer;
    at_ += static_cast<std::size_t>(end - first);
  }

  std::string string() {
    std::string out;
    ++at_;
    for (;;) {
      if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) fail("'\"'");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
        continue;
      }
      const char escaped = at_ < text_.size() ? text_[at_++] : '\0';
      switch (escaped) {
        case '"':
        case '\\':
        case '/': out += escaped; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': append_code_point(out, code_point()); break;
        default: fail("an escaped character");
      }
    }
  }

  std::uint32_t hexadecimal() {
    std::uint32_t out = 0;
    const char* first = text_.data() + at_;
    if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, out, 16).ptr != first + 4)
      fail("four digits");
    at_ += 4;
    return out;
  }
  std::uint32_t code_point() {
    const std::uint32_t high = hexadecimal();
    if (high < 0xd800 || high > 0xdbff || !take_word("\\u")) return high;
    const std::uint32_t low = hexadecimal();
    if (low < 0xdc00 || low > 0xdfff) fail("the second half of a pair");
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }
  static void append_code_point(std::string& out, std::uint32_t c) {
    const auto byte = [&](std::uint32_t v) { out += static_cast<char>(v); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
      byte(0xc0 | (c >> 6));
    } else if (c < 0x10000) {
      byte(0xe0 | (c >> 12));
      byte(0x80 | ((c >> 6) & 0x3f));
    } else {
      byte(0xf0 | (c >> 18));
      byte(0x80 | ((c >> 12) & 0x3f));
      byte(0x80 | ((c >> 6) & 0x3f));
    }
    byte(0x80 | (c & 0x3f));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE json::json() = default;
TILEWRIGHT_INLINE json::json(const json& other) = default;
TILEWRIGHT_INLINE json::json(json&& other) noexcept = default;
TILEWRIGHT_INLINE json& json::operator=(const json& other) = default;
TILEWRIGHT_INLINE json& json::operator=(json&& other) noexcept = default;
TILEWRIGHT_INLINE json::~json() = default;

TILEWRIGHT_INLINE const json* json::find(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

TILEWRIGHT_INLINE json parse_json(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);  // a byte-order mark
  return detail::json_reader(text).whole();
}

TILEWRIGHT_INLINE std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) {
          out += c;
          break;
        }
        out += "\\u" + hex_text(static_cast<unsigned char>(c), 4);
    }
  }
  return out + "\"";
}

}  // namespace tilewright::support
