// work_on: which of several algorithms is scheduled.
#pragma once

#include <string>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// Goes on with one of the algorithms that the function carries (ir/alternatives.hpp), which may be
/// itself; the others are dropped. It keeps the function's name, so that code for either is called
/// alike.
/// ```
/// direct(X, F, Y), beside it gemm(X, F, Y)   ->   the body of gemm
/// ```
/// A function without others is worked on whatever it is called.
///
/// Requires: 1. an algorithm has the name.
/// @throws schedule_error
ir::function work_on(const ir::function& f, const std::string& func_name);

}  // namespace tilewright::primitive
