// Tokens of Python-like text, for every parser of the library (scripts, traces, literal values).
//
// Use: make a `token_stream` over the text, which must outlive it, and consume:
//
//     token_stream in("b0 = sch.get_block(name=\"C\")\n");
//     std::string_view out = in.expect_name("a random variable").text;   // b0
//     in.expect("=");
//     in.expect("sch"), in.expect("."), ...
//     if (in.accept("(")) while (!in.accept(")")) { ...; if (!in.at(")")) in.expect(","); }
//     in.expect_newline();
//
// Lines end in a `newline` token; a deeper line is preceded by `indent`, a shallower one by one
// `dedent` per level. Inside brackets line ends and indentation do not count; comments and empty
// lines never do. Literal values of any shape: `parse_attr(in)` of ir/text/literal.hpp. Errors:
// `in.fail("what is needed")`. The stream does not know Python's grammar; it bounds nothing but the
// nesting of brackets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {

/// Place in a text; lines and columns count from 1, columns in bytes.
struct source_position {
  int line = 1;
  int column = 1;
};

/// Text that does not follow its grammar, or names what does not exist.
class parse_error : public argument_error {
 public:
  /// what() is `line L, column C: expected EXPECTED, found FOUND`.
  parse_error(source_position at, std::string expected, const std::string& found);
  int line() const noexcept { return at_.line; }
  int column() const noexcept { return at_.column; }
  const std::string& expected() const noexcept { return expected_; }

 private:
  source_position at_;
  std::string expected_;
};

enum class token_kind : std::uint8_t {
  name,
  integer,
  real,
  string,
  symbol,
  newline,
  indent,
  dedent,
  end
};

/// Piece of a text. `text` is the spelling in the source: a string keeps its quotes, see
/// `decode_string`.
struct token {
  token_kind kind = token_kind::end;
  std::string_view text;
  source_position at;
};

/// Value of a string token, escapes resolved.
/// @throws parse_error for an escape that is none of \\ \' \" \n \t \r \0 \xhh
std::string decode_string(const token& t);
/// Value of an integer token, decimal or 0x; the sign is the parser's business.
/// @throws parse_error when it does not fit into 64 bits
std::uint64_t decode_integer(const token& t);
/// Value of a real (or integer) token, correctly rounded.
double decode_real(const token& t);
float decode_float(const token& t);

/// Cursor over the tokens of a text.
class token_stream {
 public:
  /// @throws parse_error for bytes that start no token, unfinished strings, unbalanced brackets and
  ///         indentation that matches no outer line
  explicit token_stream(std::string_view text);

  const token& peek(std::size_t ahead = 0) const;
  token next();
  /// True when the coming token is the name or symbol spelled so.
  bool at(std::string_view spelling) const;
  bool at(token_kind kind) const { return peek().kind == kind; }
  /// Consumes the coming token if it is spelled so.
  bool accept(std::string_view spelling);
  bool accept(token_kind kind);
  /// @throws parse_error when the coming token is another
  token expect(std::string_view spelling);
  token expect_name(std::string_view what = "a name");
  token expect_string(std::string_view what = "a string");
  /// Consumes an integer with an optional minus sign.
  std::int64_t expect_integer(std::string_view what = "an integer");
  void expect_newline();
  /// Whether the last token that was consumed ended a statement by a semicolon, so that the next
  /// statement stands on the same line.
  bool behind_semicolon() const {
    if (position_ == 0) return false;
    const token& last = tokens_[position_ - 1];
    return last.kind == token_kind::newline && last.text == ";";
  }
  bool at_end() const { return peek().kind == token_kind::end; }
  /// Number of tokens consumed, and the way back to such a place.
  std::size_t mark() const { return position_; }
  void rewind(std::size_t mark) { position_ = mark; }

  /// @throws parse_error at the coming token, naming it as what was found
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail(const token& found, std::string_view expected) const;

 private:
  std::vector<token> tokens_;  // ends in token_kind::end
  std::size_t position_ = 0;
};

}  // namespace tilewright::ir
