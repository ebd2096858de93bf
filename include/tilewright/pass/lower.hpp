// From a scheduled function to the form that code generators take.
//
// The lowered form. The body holds loop, seq, store, if_else, let, evaluate and allocate nodes; no
// blocks. A code generator may rely on these:
//  1. Loops are serial, parallel, vectorized or unrolled; `min` and `extent` may be any expressions
//  unless
//     said otherwise, and `min` need not be 0.
//  2. vectorized: literal min and extent, the extent a power of two and at most the target's lanes
//  of the
//     narrowest type stored inside, or twice that where elements are divided by one divisor; the body has no loop and no allocate: stores, ifs, lets,
//     sequences of them. Conditions may depend on the lane.
//  3. unrolled: literal min and extent; meant to be emitted `extent` times with the variable a
//  constant.
//  4. parallel: no parallel loop stands inside another one. Iterations are independent.
//  5. allocate: `buffer.scope` says where the buffer lives, see pass/plan_workspace.hpp: "local" is
//  a stack
//     slot of literal shape (all constant indices after unrolling where it matters, so that it
//     becomes SSA values), "workspace" and "worker" lie in the call's workspace. Shapes are
//     literal, rows contiguous (`strides` as declared in the buffer, else row-major).
//  6. Parameters are untouched. Their strides may be variables, bound from the call.
//  7. Contents of a buffer are undefined at its allocate; every iteration of a loop around it gets
//  a
//     fresh one. An accumulator may be filled from memory that nothing wrote yet; such values are
//     never used.
// Function attributes: "tilewright.lowered" = 1 and those of plan_workspace.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/pass/prepare_weights.hpp>

namespace tilewright::target {
struct cpu;
}

namespace tilewright::pass {

/// The scheduled function `f` as loops for `target`; the meaning is that of ir::interpret up to
/// reassociation across the iterations of declared reductions.
/// @throws build_error for what cannot be lowered: an allocation without constant bound, a loop
/// bound to
///         GPU threads
ir::function lower(const ir::function& f, const target::cpu& target);

/// The same in two parts where parameters are bound (prepare_weights.hpp): what every call runs, and
/// what is run once before.
/// @throws as `lower`
prepared lower_prepared(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
