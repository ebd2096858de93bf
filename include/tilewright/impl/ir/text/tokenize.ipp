#pragma once

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <tilewright/ir/text/tokenize.hpp>

namespace tilewright::ir {
namespace detail {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

inline std::string in_ticks(std::string_view text) {
  std::string out(1, '\'');
  out.append(text);
  out += '\'';
  return out;
}
inline std::string in_ticks(char c) { return in_ticks(std::string_view(&c, 1)); }

/// What a person would call the token in an error.
inline std::string describe(const token& t) {
  switch (t.kind) {
    case token_kind::newline: return "the end of the line";
    case token_kind::indent: return "a deeper line";
    case token_kind::dedent: return "the end of the indented lines";
    case token_kind::end: return "the end of the text";
    case token_kind::string: return std::string(t.text.substr(0, 40));
    default: return in_ticks(t.text.substr(0, 40));
  }
}

/// Cuts a text into tokens; one use.
class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text) { out_.reserve(text.size() / 3 + 4); }

  std::vector<token> run() {
    skip_byte_order_mark();
    while (position_ < text_.size()) {
      if (at_line_start_ && brackets_.empty()) start_line();
      scan_one();
    }
    if (!brackets_.empty()) throw parse_error(here(), unclosed(), "the end of the text");
    if (!at_line_start_) push(token_kind::newline, 0);
    for (; levels_.size() > 1; levels_.pop_back()) push(token_kind::dedent, 0);
    push(token_kind::end, 0);
    return std::move(out_);
  }

 private:
  std::string unclosed() const {
    const auto& [bracket, at] = brackets_.back();
    return in_ticks(closing(bracket)) + " for the " + in_ticks(bracket) + " of line " +
           std::to_string(at.line) + ", column " + std::to_string(at.column);
  }
  static char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }
  char look(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  source_position here() const { return {line_, static_cast<int>(position_ - line_start_) + 1}; }
  void push(token_kind kind, std::size_t length) {
    out_.push_back({kind, text_.substr(position_, length), here()});
    position_ += length;
  }
  /// Some editors begin a file with one. It is no column of the first line.
  void skip_byte_order_mark() {
    const std::string_view first = text_.substr(0, 2);
    if (first == "\xff\xfe" || first == "\xfe\xff")
      throw parse_error(here(), "text in UTF-8", "the first bytes of a text in UTF-16");
    if (text_.substr(0, 3) != "\xef\xbb\xbf") return;
    text_.remove_prefix(3);
  }
  void end_line() {
    ++position_;
    ++line_;
    line_start_ = position_;
  }
  /// A semicolon does it as well as the end of a line, which is the one that counts behind it.
  void end_statement(std::string_view by = {}) {
    if (out_.empty() || out_.back().kind != token_kind::newline)
      out_.push_back({token_kind::newline, by, here()});
    else if (by.empty())
      out_.back().text = by;
  }
  void skip_comment() {
    while (position_ < text_.size() && look() != '\n') ++position_;
  }

  /// Measures the indentation and emits indent or dedents, unless the line is empty.
  void start_line() {
    int column = 0;
    for (; look() == ' ' || look() == '\t' || look() == '\r'; ++position_)
      column = look() == '\t' ? (column / 8 + 1) * 8 : look() == ' ' ? column + 1 : column;
    if (position_ == text_.size() || look() == '\n' || look() == '#') return;
    at_line_start_ = false;
    if (column > levels_.back()) {
      levels_.push_back(column);
      return push(token_kind::indent, 0);
    }
    for (; column < levels_.back(); levels_.pop_back()) push(token_kind::dedent, 0);
    if (column != levels_.back())
      throw parse_error(here(), "the indentation of an outer line", "another indentation");
  }

  void scan_one() {
    const char c = look();
    if (position_ == text_.size()) return;
    if (c == '\n') {
      if (brackets_.empty() && !at_line_start_) {
        end_statement();
        at_line_start_ = true;
      }
      end_line();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '#') {
      skip_comment();
    } else if (c == '\\' && (look(1) == '\n' || (look(1) == '\r' && look(2) == '\n'))) {
      position_ += look(1) == '\n' ? 1 : 2;
      end_line();
    } else if ((c == 'r' || c == 'f' || c == 'b') && (look(1) == '"' || look(1) == '\'')) {
      const source_position prefix = here();
      ++position_;  // of a string; what r and b change does not occur here
      scan_string(look());
      if (c == 'f' && out_.back().text.find('{') != std::string_view::npos)
        throw parse_error(prefix, "a string without values in braces", describe(out_.back()));
    } else if (is_name_start(c)) {
      std::size_t length = 1;
      while (is_name_char(look(length))) ++length;
      push(token_kind::name, length);
    } else if (is_digit(c) || (c == '.' && is_digit(look(1)))) {
      scan_number();
    } else if (c == '"' || c == '\'') {
      scan_string(c);
    } else {
      scan_symbol(c);
    }
  }

  void scan_number() {
    std::size_t length = 0;
    token_kind kind = token_kind::integer;
    if (look() == '0' && (look(1) == 'x' || look(1) == 'X')) {
      length = 2;
      const auto hex = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      };
      while (hex(look(length))) ++length;
      if (length == 2) throw parse_error(here(), "hexadecimal digits", "'0x'");
    } else {
      while (is_digit(look(length))) ++length;
      if (look(length) == '.') {
        kind = token_kind::real;
        for (++length; is_digit(look(length));) ++length;
      }
      std::size_t exponent = length;
      if (look(exponent) == 'e' || look(exponent) == 'E') {
        ++exponent;
        if (look(exponent) == '+' || look(exponent) == '-') ++exponent;
        if (is_digit(look(exponent))) {
          kind = token_kind::real;
          for (length = exponent; is_digit(look(length));) ++length;
        }
      }
    }
    if (is_name_char(look(length)))
      throw parse_error(here(), "a number", in_ticks(text_.substr(position_, length + 1)));
    push(kind, length);
  }

  void scan_string(char quote) {
    if (look(1) == quote && look(2) == quote) return scan_long_string(quote);
    for (std::size_t length = 1;; ++length) {
      if (position_ + length >= text_.size() || look(length) == '\n')
        throw parse_error(here(), "a closing quote on the same line", "an unfinished string");
      if (look(length) == '\\' && look(length + 1) != '\n') {
        ++length;
      } else if (look(length) == quote) {
        return push(token_kind::string, length + 1);
      }
    }
  }

  /// Three quotes; the text may have several lines.
  void scan_long_string(char quote) {
    const std::size_t start = position_;
    const source_position at = here();
    for (position_ += 3; position_ < text_.size();) {
      if (look() == quote && look(1) == quote && look(2) == quote) {
        position_ += 3;
        out_.push_back({token_kind::string, text_.substr(start, position_ - start), at});
        return;
      }
      if (look() == '\\') ++position_;
      if (look() == '\n')
        end_line();
      else
        ++position_;
    }
    throw parse_error(at, "three closing quotes", "an unfinished string");
  }

  void scan_symbol(char c) {
    if (c == ';' && brackets_.empty()) {
      end_statement(";");
      ++position_;
      return;
    }
    static constexpr std::array<std::string_view, 22> wide{
        "//=", "<<=", ">>=", "**=", "->", "//", "**", "==", "!=", "<=", ">=",
        "<<",  ">>",  "+=",  "-=",  "*=", "/=", ":=", "%=", "&=", "|=", "^="};
    for (std::string_view symbol : wide)
      if (text_.substr(position_, symbol.size()) == symbol)
        return push(token_kind::symbol, symbol.size());
    if (c == '(' || c == '[' || c == '{') {
      if (brackets_.size() >= max_brackets)
        throw parse_error(here(), "at most " + std::to_string(max_brackets) + " open brackets",
                          "one more");
      brackets_.push_back({c, here()});
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets_.empty() || closing(brackets_.back().first) != c)
        throw parse_error(
            here(), brackets_.empty() ? std::string("an opening bracket before it") : unclosed(),
            in_ticks(c));
      brackets_.pop_back();
    } else if (std::string_view(",:.=+-*/%<>@&|^~;").find(c) == std::string_view::npos) {
      static constexpr char digits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      const bool printable = byte > 32 && byte < 127;
      throw parse_error(
          here(), "a token",
          printable ? in_ticks(c) : std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15]);
    }
    push(token_kind::symbol, 1);
  }

  static constexpr std::size_t max_brackets = 1000;
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
  std::vector<std::pair<char, source_position>> brackets_;  // those that are open, and where
  std::vector<int> levels_{0};
  std::vector<token> out_;
};

}  // namespace detail

TILEWRIGHT_INLINE parse_error::parse_error(source_position at, std::string expected,
                                           const std::string& found)
    : argument_error("line " + std::to_string(at.line) + ", column " + std::to_string(at.column) +
                     ": expected " + expected + ", found " + found),
      at_(at),
      expected_(std::move(expected)) {}

TILEWRIGHT_INLINE std::string decode_string(const token& t) {
  const auto hex = [](char c) {
    if (detail::is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  const std::size_t quotes =
      t.text.size() >= 6 && t.text[1] == t.text[0] && t.text[2] == t.text[0] ? 3 : 1;
  const std::string_view body = t.text.substr(quotes, t.text.size() - 2 * quotes);
  out.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '\\' && i + 1 < body.size() && body[i + 1] == '\n') {
      ++i;
      continue;
    }
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    const char c = ++i < body.size() ? body[i] : '\0';
    switch (c) {
      case '\\':
      case '\'':
      case '"': out += c; continue;
      case 'n': out += '\n'; continue;
      case 't': out += '\t'; continue;
      case 'r': out += '\r'; continue;
      case '0': out += '\0'; continue;
      case 'x':
        if (i + 2 < body.size() && hex(body[i + 1]) >= 0 && hex(body[i + 2]) >= 0) {
          out += static_cast<char>(hex(body[i + 1]) * 16 + hex(body[i + 2]));
          i += 2;
          continue;
        }
        break;
      default: break;
    }
    throw parse_error({t.at.line, t.at.column + static_cast<int>(i)}, "a known escape",
                      detail::in_ticks(body.substr(i - 1, 2)));
  }
  return out;
}

TILEWRIGHT_INLINE std::uint64_t decode_integer(const token& t) {
  const bool hex = t.text.size() > 2 && (t.text[1] == 'x' || t.text[1] == 'X');
  const std::string_view digits = hex ? t.text.substr(2) : t.text;
  std::uint64_t value = 0;
  const auto result =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
    throw parse_error(t.at, "an integer of 64 bits", detail::describe(t));
  return value;
}

namespace detail {
template <class Float>
Float decode_decimal(const token& t) {
  Float value = 0;
  const auto result = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  if (result.ec == std::errc()) return value;
  // Out of range: the exponent's sign, or the lack of one, tells to which side.
  const std::size_t exponent = t.text.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos
                        ? t.text[exponent + 1] == '-'
                        : t.text.front() == '0' || t.text.front() == '.';
  return tiny ? Float{0} : std::numeric_limits<Float>::infinity();
}
}  // namespace detail

TILEWRIGHT_INLINE double decode_real(const token& t) { return detail::decode_decimal<double>(t); }
TILEWRIGHT_INLINE float decode_float(const token& t) { return detail::decode_decimal<float>(t); }

TILEWRIGHT_INLINE token_stream::token_stream(std::string_view text)
    : tokens_(detail::scanner(text).run()) {}

TILEWRIGHT_INLINE const token& token_stream::peek(std::size_t ahead) const {
  const std::size_t last = tokens_.size() - 1;
  return tokens_[position_ + ahead < last ? position_ + ahead : last];
}

TILEWRIGHT_INLINE token token_stream::next() {
  const token t = peek();
  if (position_ + 1 < tokens_.size()) ++position_;
  return t;
}

TILEWRIGHT_INLINE bool token_stream::at(std::string_view spelling) const {
  const token& t = peek();
  return (t.kind == token_kind::name || t.kind == token_kind::symbol) && t.text == spelling;
}

TILEWRIGHT_INLINE bool token_stream::accept(std::string_view spelling) {
  if (!at(spelling)) return false;
  next();
  return true;
}

TILEWRIGHT_INLINE bool token_stream::accept(token_kind kind) {
  if (!at(kind) || at_end()) return false;
  next();
  return true;
}

TILEWRIGHT_INLINE token token_stream::expect(std::string_view spelling) {
  if (!at(spelling)) fail(detail::in_ticks(spelling));
  return next();
}

TILEWRIGHT_INLINE token token_stream::expect_name(std::string_view what) {
  if (!at(token_kind::name)) fail(what);
  return next();
}

TILEWRIGHT_INLINE token token_stream::expect_string(std::string_view what) {
  if (!at(token_kind::string)) fail(what);
  return next();
}

TILEWRIGHT_INLINE std::int64_t token_stream::expect_integer(std::string_view what) {
  const bool negative = accept("-");
  if (!at(token_kind::integer)) fail(what);
  const std::uint64_t magnitude = decode_integer(peek());
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > limit || (magnitude == limit && !negative)) fail("an integer of 64 bits");
  next();
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

TILEWRIGHT_INLINE void token_stream::expect_newline() {
  if (!at(token_kind::newline)) fail("the end of the line");
  next();
}

TILEWRIGHT_INLINE void token_stream::fail(std::string_view expected) const {
  fail(peek(), expected);
}

TILEWRIGHT_INLINE void token_stream::fail(const token& found, std::string_view expected) const {
  throw parse_error(found.at, std::string(expected), detail::describe(found));
}

}  // namespace tilewright::ir
