// What loops say of how they are to be run: rooms that write these notes and rooms that follow them
// stand apart.
#pragma once

namespace tilewright::ir {

/// Annotation of a loop: how many iterations ahead gathers inside of it are fetched; 0: none.
inline constexpr const char* prefetch_note = "tilewright.prefetch";

/// Annotation of a vectorized loop: 1 asks for non-temporal stores.
inline constexpr const char* stream_note = "tilewright.stream";

/// Annotation of a vectorized loop: lines of what it loads are asked for so many vectors ahead; 0: not.
inline constexpr const char* stream_ahead_note = "tilewright.stream_ahead";

/// Annotation of a loop on blocks of threads: how many of them shall be on a multiprocessor at once; 0: as
/// many as come of it.
inline constexpr const char* resident_blocks_note = "tilewright.resident_blocks";

/// Annotation of a loop: loops inside of it are written out while that makes no more statements than this.
inline constexpr const char* unroll_note = "pragma_auto_unroll_max_step";

/// Annotation of a loop that has the one before, as TVM writes both: 1 asks for statements, 0 leaves it to the
/// code generator. Passes do the same for both.
inline constexpr const char* explicit_unroll_note = "pragma_unroll_explicit";

}  // namespace tilewright::ir
