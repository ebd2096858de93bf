// Vectors are guarded as a whole where their lanes are.
//
//   for v in vectorized(4):                            if 512 * i + 4 * t < 9408:
//     if 512 * i + 4 * t + v < 9408:           ->        for v in vectorized(4):
//       S[512 * i + 4 * t + v] = A[..]                     S[512 * i + 4 * t + v] = A[..]
//
// So are the zeros that stand for what lies outside:
//
//   for v in vectorized(4):
//     S[4 * t + v] = if_then_else(4 * t + v < 100, A[..], 0)  ->  if_then_else(4 * t < 100, A[..], 0)
//
// A bound that is a multiple of the lanes cuts no vector. Guards of single lanes would make each of them an
// access of its own.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels (pass/gpu/unify_threads.hpp), before copies are made in the background.
ir::function guard_vectors(const ir::function& f);

}  // namespace tilewright::pass
