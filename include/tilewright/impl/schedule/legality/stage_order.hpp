// When the order of blocks may change: the part of "the scope is a stage pipeline" that concerns
// one block.
//
// TVM asks the whole scope to be a pipeline before it moves any block. Moving a block changes the
// order only between it and the blocks it shares buffers with, so only those are looked at here.
#pragma once

#include <cstddef>

#include <tilewright/impl/schedule/analysis/scope.hpp>

namespace tilewright::primitive {

/// Whether reading the inputs of a block later, after the writers of them that come before it,
/// gives the same values: 0, or the number of what stands against it.
/// 1. The scope holds other statements than loops, sequences and blocks, or the block is below an
/// if.
/// 2. A later block writes what the block reads.
/// 3. A block that shares loops with it writes what it reads, and is neither complete nor a
/// reduction.
/// 4. What it reads from blocks that share loops with it is not all written in the same iteration.
int input_hazard(const block_scope& scope, std::size_t child);

/// A block that reads or writes what `child` writes and comes before it; -1 when there is none.
int earlier_user(const block_scope& scope, std::size_t child);

/// A later block that reads in a common loop what `child` has not finished there: parts of its sum,
/// or what other iterations write; -1 when there is none. TVM does not ask, and takes
/// such blocks.
int early_reader(const block_scope& scope, std::size_t child);

/// A block that reads results of `child` which its inputs do not give any more: earlier blocks rewrite
/// these in a loop that they share with `child`, and the reader is outside of that loop, or reads
/// results of other iterations; -1 when there is none.
int late_reader(const block_scope& scope, std::size_t child);

/// Text for a number of `input_hazard`.
const char* hazard_text(int hazard);

}  // namespace tilewright::primitive
