// Cuts vectorized loops to the vectors of the machine.
//
//   for j in vectorized(19):            for u in unroll(2):
//     C[j] = ...                 ->       for l in vectorized(8):
//                                           C[u*8 + l] = ...
//                                       for l in vectorized(2):
//                                         C[16 + l] = ...
//                                       C[18] = ...
//
// Where the machine has masks, a tail of several such vectors is one with lanes off, and rows of
// buffers that the function allocates become whole vectors long (impl/pass/masked_tails.hpp).
//
// The number of lanes is that of the widest type stored or loaded as a float; twice that where
// elements are divided by one divisor and a CPU divides slowly, since what its products need is tested
// once for all lanes. Up to
// `unrolled_vectors` whole vectors are written out; more become a serial loop over groups of four.
// Streams (pass/vector/streams.hpp) are left whole.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

/// Whole vectors of one vectorized loop that are written out without a loop.
inline constexpr std::int64_t unrolled_vectors = 16;

/// Expects vectorized loops without loops inside (sink_vectors).
ir::function split_vectors(const ir::function& f, const target::cpu& target);

/// Lanes in which `body` is computed.
int lanes_of(const ir::stmt& body, const target::cpu& target);

}  // namespace tilewright::pass
