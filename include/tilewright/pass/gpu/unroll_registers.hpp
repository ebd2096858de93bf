// Which loops of a kernel are written out: those that choose among a thread's registers, and those that
// the schedule asks for.
//
//   for k in range(8):                        for k in range(8):
//     for i in range(4):               ->       for i in unroll(4):
//       c[i] = c[i] + S[k, i]                     c[i] = c[i] + S[k, i]
//
// Registers have no addresses: an array whose elements a loop goes through lies in memory unless the loop
// is written out. `pragma_auto_unroll_max_step` of a loop, which "meta_schedule.unroll_explicit" becomes, asks
// for the loops around and below it that come to no more statements than that. Loops around barriers are long and stay.
// A compiler takes minutes for a body of ten thousand statements, does not listen to a deadline meanwhile, and
// finds no registers for it: beyond `max_statements` loops stay, arrays are memory, and candidates are
// refused for it. Loops that have to stay are noted, since a compiler writes out loops of its own accord.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

struct register_limits {
  std::int64_t max_extent = 256;       // of a loop that chooses registers
  std::int64_t max_statements = 2048;  // stores and calls of a loop, written out
};

/// Annotation of serial loops of a kernel: nobody may write them out.
inline constexpr const char* rolled_note = "tilewright.rolled";

/// Works on kernels with barriers (pass/gpu/place_barriers.hpp): changes kinds and notes of loops alone.
ir::function unroll_registers(const ir::function& f, const register_limits& limits = {});

}  // namespace tilewright::pass
