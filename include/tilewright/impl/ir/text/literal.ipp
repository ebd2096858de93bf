#pragma once

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include <tilewright/ir/text/literal.hpp>

namespace tilewright::ir {
namespace detail {

template <class Float>
std::string shortest_decimal(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

inline void print_attr(std::string& out, const attr& value);

inline void print_dict(std::string& out, const attr::dict& values) {
  out += '{';
  for (const auto& [key, value] : values) {
    if (out.back() != '{') out += ", ";
    out += quote(key);
    out += ": ";
    print_attr(out, value);
  }
  out += '}';
}

inline void print_list(std::string& out, const attr::list& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    print_attr(out, values[i]);
  }
  out += ']';
}

inline void print_attr(std::string& out, const attr& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
    out += std::to_string(*integer);
  } else if (const auto* real = std::get_if<double>(&value.value)) {
    out += std::isfinite(*real) ? print_real(*real) : "float(\"" + print_real(*real) + "\")";
  } else if (const auto* text = std::get_if<std::string>(&value.value)) {
    out += quote(*text);
  } else if (const auto* list = std::get_if<attr::list>(&value.value)) {
    print_list(out, *list);
  } else {
    print_dict(out, std::get<attr::dict>(value.value));
  }
}

/// Reads literal values; `depth` counts open lists and maps.
class attr_parser {
 public:
  attr_parser(token_stream& in, const std::function<bool(std::string_view)>& is_buffer)
      : in_(in), is_buffer_(is_buffer) {}

  attr value(int depth) {
    if (depth > 64) in_.fail("at most 64 levels of lists");
    switch (in_.peek().kind) {
      case token_kind::string: return text();
      case token_kind::integer:
      case token_kind::real: return number();
      case token_kind::name: return named(depth);
      default: break;
    }
    if (in_.at("-")) return number();
    if (in_.accept("[")) return list("]", depth);
    if (in_.accept("(")) return list(")", depth);
    if (in_.accept("{")) return dict(depth);
    in_.fail("a number, a string, a list or a map");
  }

 private:
  attr text() {
    std::string out = decode_string(in_.next());
    while (in_.at(token_kind::string)) out += decode_string(in_.next());
    return out;
  }

  attr number() {
    const std::size_t start = in_.mark();
    const bool negative = in_.accept("-");
    if (in_.at(token_kind::real)) {
      const double magnitude = decode_real(in_.next());
      return negative ? -magnitude : magnitude;
    }
    in_.rewind(start);
    return in_.expect_integer("a number");
  }

  attr named(int depth) {
    if (in_.accept("True")) return 1;
    if (in_.accept("False")) return 0;
    if (in_.accept("None")) return attr::list{};  // nothing
    if (in_.accept("float")) return special();
    if (in_.peek(1).text == ".") return typed(depth);
    if (is_buffer_ && is_buffer_(in_.peek().text)) return std::string(in_.next().text);
    in_.fail("a number, a string, a list or a map");
  }

  /// float("inf"), float("-inf"), float("nan")
  attr special() {
    in_.expect("(");
    const token t = in_.expect_string("\"inf\", \"-inf\" or \"nan\"");
    const std::string spelling = decode_string(t);
    const double infinity = std::numeric_limits<double>::infinity();
    attr out;
    if (spelling == "inf")
      out = infinity;
    else if (spelling == "-inf")
      out = -infinity;
    else if (spelling == "nan")
      out = std::numeric_limits<double>::quiet_NaN();
    else
      in_.fail(t, "\"inf\", \"-inf\" or \"nan\"");
    in_.expect(")");
    return out;
  }

  /// T.int64(3), T.bool(True), T.float32(1.0)
  attr typed(int depth) {
    const token space = in_.next();
    const bool known_space = space.text == "T" || space.text == "tir" || space.text == "tirx" ||
                             space.text == "Ts" || space.text == "S" || space.text == "s_tir";
    if (!known_space) in_.fail(space, "a number, a string, a list or a map");
    in_.expect(".");
    const token type = in_.expect_name("a type");
    if (type.text == "target") {  // T.target("llvm") is what it holds
      in_.expect("(");
      attr held = value(depth + 1);
      if (!in_.accept(",") || !in_.accept("host")) return in_.expect(")"), held;
      in_.expect("=");
      attr host = value(depth + 1);
      in_.expect(")");
      return attr::dict{{"host", std::move(host)}, {"kind", std::move(held)}};
    }
    const auto known = dtype_from_name(type.text);
    if (!known) in_.fail(type, "a type");
    in_.expect("(");
    attr out = value(depth + 1);
    if (std::holds_alternative<std::string>(out.value) ||
        std::holds_alternative<attr::list>(out.value) ||
        std::holds_alternative<attr::dict>(out.value))
      in_.fail(type, "a number of that type");
    if (is_float(*known) && std::holds_alternative<std::int64_t>(out.value))
      out = static_cast<double>(std::get<std::int64_t>(out.value));
    in_.expect(")");
    return out;
  }

  attr list(std::string_view close, int depth) {
    attr::list out;
    while (!in_.at(close)) {
      out.push_back(value(depth + 1));
      if (!in_.accept(",") && !in_.at(close)) in_.fail(close == "]" ? "',' or ']'" : "',' or ')'");
    }
    in_.expect(close);
    return out;
  }

  attr dict(int depth) {
    attr::dict out;
    while (!in_.at("}")) {
      std::string key = decode_string(in_.expect_string("a string as key"));
      in_.expect(":");
      out.insert_or_assign(std::move(key), value(depth + 1));
      if (!in_.accept(",") && !in_.at("}")) in_.fail("',' or '}'");
    }
    in_.expect("}");
    return out;
  }

  token_stream& in_;
  const std::function<bool(std::string_view)>& is_buffer_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::string print_real(double value) { return detail::shortest_decimal(value); }
TILEWRIGHT_INLINE std::string print_real(float value) { return detail::shortest_decimal(value); }

TILEWRIGHT_INLINE std::string quote(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 32 || byte == 127) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

TILEWRIGHT_INLINE std::string print_attr(const attr& value) {
  std::string out;
  detail::print_attr(out, value);
  return out;
}

TILEWRIGHT_INLINE std::string print_attr(const annotations& values) {
  std::string out;
  detail::print_dict(out, values);
  return out;
}

TILEWRIGHT_INLINE attr parse_attr(token_stream& in,
                                  const std::function<bool(std::string_view)>& is_buffer) {
  return detail::attr_parser(in, is_buffer).value(0);
}

TILEWRIGHT_INLINE attr parse_attr(std::string_view text) {
  token_stream in(text);
  attr out = parse_attr(in);
  in.accept(token_kind::newline);
  if (!in.at_end()) in.fail("the end of the text");
  return out;
}

}  // namespace tilewright::ir
