// Maps of indices, `lambda i, j: (i // 4, j, i % 4)`: what the layout primitives take.
//
// A map is data: how it acts on the shape of a buffer and whether it has an inverse is decided
// where it is applied, since that needs the extents.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/expr.hpp>
#include <tilewright/ir/text/tokenize.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ir {

/// Results as expressions of variables; other variables may occur in them and stand for themselves.
struct index_map {
  std::vector<var> inputs;
  std::vector<expr> outputs;
  std::vector<std::size_t> separators;       // positions in `outputs` before which a new physical
                                             // dimension starts; carried along, not interpreted
  std::shared_ptr<const index_map> inverse;  // given by the user; null: none
};

/// What a map of `rank` indices with these results is called with: `make_index_map(2, [](const
/// auto& v) { return std::vector{floordiv(v[0], 4), v[1], floormod(v[0], 4)}; })`. Inputs are i32.
index_map make_index_map(std::size_t rank,
                         support::function_ref<std::vector<expr>(const std::vector<var>&)> results);
/// A map from its text; every name in it is an input.
/// @throws parse_error with line, column and what was expected
index_map make_index_map(std::string_view text);

/// The results for given indices.
/// @throws argument_error when their number differs from that of the inputs
std::vector<expr> map_indices(const index_map& map, const std::vector<expr>& indices);
/// The same map with inputs of another integer type, literals following; also of its inverse.
index_map with_index_type(const index_map& map, dtype type);

/// Equal up to the names of the inputs; free variables match only themselves.
bool equal(const index_map& a, const index_map& b);

/// `lambda i, j: (i // 4, j, i % 4,)`, and `tvm.tir.IndexMap.from_func(lambda ...,
/// inverse_index_map=lambda ...)` for a map with an inverse.
std::string print(const index_map& map);

/// Meaning of a name that is no parameter of the lambda; null when it has none.
using name_resolver = std::function<var(std::string_view)>;

/// Consumes a map: a lambda, or one in `T.index_map(...)` or in `IndexMap.from_func(...)`. Results
/// are a tuple, a list or one expression. With `ranges`, a result may be a pair `(begin, end)`, and
/// every other counts as `(e, e + 1)`.
/// @throws parse_error; `in` is of no use afterwards
index_map parse_index_map(token_stream& in, const name_resolver& outer = {}, bool ranges = false);

}  // namespace tilewright::ir
