// Literal values (numbers, strings, lists, maps) as Python writes them: attributes, annotations,
// the arguments and decisions of traces.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/text/tokenize.hpp>

namespace tilewright::ir {

/// Shortest decimal text that reads back as `value`; always with a point or an exponent, `inf`,
/// `nan`.
std::string print_real(double value);
std::string print_real(float value);
/// `text` in double quotes, escaped.
std::string quote(std::string_view text);

/// Python text of a value: `[1, 2.0, "x", {"key": 3}]`. An infinity or NaN is written
/// `float("inf")`.
std::string print_attr(const attr& value);
std::string print_attr(const annotations& values);

/// Consumes one literal value: numbers, strings, True and False (as 1 and 0), lists, tuples (as
/// lists) and maps with string keys, `float("inf")`, and typed numbers such as `T.int64(3)`. Where
/// `is_buffer` knows a name, it stands for its text.
/// @throws parse_error for anything else, and for nesting deeper than 64
attr parse_attr(token_stream& in, const std::function<bool(std::string_view)>& is_buffer = {});
/// The same for a text that holds nothing else.
attr parse_attr(std::string_view text);

}  // namespace tilewright::ir
