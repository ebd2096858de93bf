// Several algorithms for one result: a function may carry others that compute the same.
//
// They stand as text in an attribute of the first one, so that they travel with it through files
// and processes. They are no part of what it computes: `equal` and the workload key leave them out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ir {

/// Attribute of a function: the texts of its alternatives.
inline constexpr const char* alternatives_attribute = "tilewright.alternatives";

/// Attribute of a function: what results of its algorithms may differ by, over the larger of a result and the
/// root mean square of all results. It is part of what the function computes: programs that allow it
/// have records of their own.
inline constexpr const char* error_attribute = "tilewright.error";

/// `first` with other algorithms beside it. Requires: 1. names differ; 2. parameters agree in
/// number, type and shape, and in their order.
/// @throws argument_error naming the function and the parameter
function with_alternatives(function first, const std::vector<function>& others);

/// The function itself without its alternatives, then these; only the function where it has none.
std::vector<function> alternatives(const function& f);

/// `change` done to the function and to its alternatives.
function map_alternatives(const function& f,
                          support::function_ref<function(const function&)> change);

/// True when the function carries alternatives.
bool has_alternatives(const function& f);

}  // namespace tilewright::ir
