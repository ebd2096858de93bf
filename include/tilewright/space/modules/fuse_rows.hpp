// Module: where the blocks of a chain are computed, row by row or each at a place of its own
// (MetaSchedule: random compute location).
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Moves the producers of an output block below the deepest of its loops, the innermost one left
/// out, at which all of them are legal. As a second choice, every producer is placed on its own:
/// each combination of the places that compute_at accepts is a sketch. The places are structural,
/// not random variables of the trace, because the loops that later steps name depend on them.
/// ```
/// peak[i], e[i, j], total[i], Y[i, j] each in a nest   ->   for i: peak, e[.., j], total, Y
/// ```
/// Where a consumer reads several elements of a producer, as a stencil of a stencil does, the
/// alternatives are strips of many rows, whose first rows are computed again, and nests apart.
///
/// A long vector behind sums, as means of windows are, is computed in parts that stay in a cache, with the
/// sums and with what needs it: `for n_0: for n_1: total ..., for n_1: mean ..., for n_1: deviations ...`.
///
/// The loop at which they meet may run over a drawn number of rows at a time, `for i_0: for i_1: peak
/// ..., for i_1: total ..., for i_1, j: Y`, so that one row's reductions do not wait for another's.
/// Where an outer loop is the one along which the output is contiguous, as for the rows of a
/// column-major matrix, the rows are taken a few vectors at a time: `for i_0: ... for j, i_1: Y`.
/// So are the columns where the chain reduces along columns: `for j_0: ... for i, j_1: Y`. No block
/// goes to a place where it would compute the same again.
void fuse_rows(schedule& s, const std::string& output, const context& where, chooser& choices);

}  // namespace tilewright::space
