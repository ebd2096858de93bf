// Module: reductions with little to run in parallel get partial results (MetaSchedule:
// add-rfactor).
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// True for a reduction over constant loops, long enough to be worth several threads, whose spatial
/// iterations alone do not occupy them.
bool needs_rfactor(const schedule& s, const std::string& block, const context& where);

/// Splits the fused reduction loops of the block and computes one partial result per outer part,
/// which `rfactor` makes spatial; or leaves the block as it is.
/// ```
/// for i, k, l: C[i] += A[i, k, l]   ->   for i, o: for x: C_rf[i, o] += A[i, ...]
///                                        for i, o: C[i] += C_rf[i, o]
/// ```
/// Structural choice: partial results or not. The number of parts is drawn, up to 16 per thread.
void add_rfactor(schedule& s, const std::string& block, const context& where, chooser& choices);

}  // namespace tilewright::space
