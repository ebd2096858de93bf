// Alpha-equivalence of programs.
//
// Names never count: not those of functions, blocks, buffers or variables; nor do block ids. Bound
// variables (parameters, symbolic extents, loops, iteration variables, lets) match by where they
// are bound, buffers by where they are allocated, or by their first use in a function, where type,
// shape, strides, offset, scope and alignment must agree. Variables and buffers that are free in an
// expression or a statement match only themselves. The same relation as
// a number that lasts is ir/key.hpp.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

bool equal(const function& a, const function& b);
bool equal(const stmt& a, const stmt& b);
bool equal(const expr& a, const expr& b);

}  // namespace tilewright::ir
