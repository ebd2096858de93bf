// Expressions and mistakes of the front end as text, for messages.
#pragma once

#include <string>

#include <tilewright/expr/check/checks.hpp>

namespace tilewright::dsl {

/// "sum", "argmax", "fold", ...
const char* reduction_name(reduction r);

/// The expression at `at` roughly as the user wrote it: "X(n, p * 2 + r - 1)".
std::string show(const node* nodes, int at);

/// "p in [0, 32), r in [0, 3)" for the axes of the scope that occur below `at`.
std::string show_ranges(const node* nodes, int at, const axis_scope& scope);

/// The sentence for a mistake, without the kernel's name.
std::string describe(const finding& problem, const node* nodes);

}  // namespace tilewright::dsl
