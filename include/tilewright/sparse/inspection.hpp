// What a program computes of patterns alone, apart from the rest, so that it is done once for a pattern
// (SparseTIR, ASPLOS 23: preprocessing; inspectors and executors).
#pragma once

#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::sparse {

/// A function in two parts.
struct inspection {
  /// Computes the lists of the pattern's arrays: its parameters are the offsets and indices that it reads, in the order of
  /// the function's, and then the lists.
  ir::function inspector;
  /// Does the rest: its parameters are those of the function, and then the lists.
  ir::function executor;
  std::vector<ir::buffer>
      lists;  // none: nothing depends on patterns alone, and the executor is the function
};

/// What an inspector may read.
enum class inspected {
  patterns,  // offsets and indices
  offsets  // offsets alone: few numbers, so that a call may compare all of them with what they were
};

/// Divides a function on flat storage, scheduled or not, such as one whose elements list their rows (`sparse_fuse`):
/// ```
/// for i, p in range(n): K_parent[indptr[i] + p] = i         inspector(indptr, K_parent)
/// for k, j: S[k] += X[K_parent[k], j] * Y[indices[k], j]    executor(indptr, indices, .., S, K_parent)
/// ```
/// A statement of the root block goes to the inspector when it reads what `from` allows and lists before it alone, and writes
/// buffers of the root block that no other statement writes. Offsets and indices are what the attribute
/// `tilewright.offsets` names. Who calls the parts keeps the lists as long as the pattern stays the same.
/// @throws argument_error when the function has no root block
inspection divide(const ir::function& f, inspected from = inspected::patterns);

}  // namespace tilewright::sparse
