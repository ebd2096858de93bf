// Programs from text: the TensorIR dialect of TVMScript.
//
// `T.block` may be written `T.sblock`, likewise `T.sblock_alloc_buffer` and `T.sblock_attr`. A
// function with blocks but without a root block gets one, which holds the buffers allocated at the
// top. Missing `T.reads` and `T.writes` are inferred: exact for affine accesses, the whole
// dimension otherwise. Literals without a type take the type of the other operand, else int32
// (int64 if they need it) and float32.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/text/tokenize.hpp>

namespace tilewright::ir {

/// Reads one function: `main`, else the first. Any input is safe: nesting is bounded and nothing in it is trusted. The
/// result still wants `verify` when the text does not come from `print`.
/// @throws parse_error with line, column and what was expected there
function parse(std::string_view text);
/// Reads the function of that name, of a module with several.
/// @throws parse_error as above, argument_error naming those that there are when it has none such
function parse(std::string_view text, std::string_view name);
/// The functions of a script in their order.
/// @throws parse_error as above
std::vector<std::string> function_names(std::string_view text);

/// Consumes one expression in which `variables` may occur by their names.
/// @throws parse_error as above; `in` is of no use afterwards
expr parse_expr(token_stream& in, const std::vector<var>& variables);

}  // namespace tilewright::ir
