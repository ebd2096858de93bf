// Post-processor: bound weights lie as they are walked.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Copies each bound weight that one block reads into a buffer whose dimensions are the loops that
/// walk it, outermost first; lowering computes the copy once (pass/prepare_weights.hpp).
/// ```
/// for i, j0, k0, k1, j1: C[..] += A[..] * W[k0 * 4 + k1, j0 * 16 + j1]
/// ->  W_global[j0, k0, k1, j1] = W[..] once;  C[..] += A[..] * W_global[j0, k0, k1, j1]
/// ```
/// Applies where the indices are digits of constant loops that cover the weight, and where their
/// order is not that of the weight already. Weights that a block copies, as a rule that stages
/// operands has it, are left alone: the panels are packed already.
struct rewrite_layout {
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
