// Rows of results that go past the caches.
//
//   for j in vectorized(4096, stream 1): Y[i, j] = X[i, j] + 1
//
// A result that is larger than the last cache has left it before anybody reads it, but a store to a line
// that is not there loads the line first. Stores of a stream are non-temporal: they write whole lines
// and load none. They need whole aligned vectors, and where rows begin is known when code runs; so
// the code generator takes such a loop as one: elements up to an aligned one, vectors, and the rest.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

/// What a loop asks for by `stream_note` and `stream_ahead_note` (ir/loop_notes.hpp), and how it is made.
struct stream {
  bool nontemporal = false;
  std::int64_t ahead = 0;  // vectors
  std::int64_t lanes = 0;  // of a vector

  explicit operator bool() const { return lanes > 0; }
};

/// The stream that a vectorized loop is: it has constant bounds, asks for something, and stores one
/// element an iteration, side by side and at least eight vectors of 16 to 64 bytes. Else lanes are 0,
/// and split_vectors takes the loop as any other.
stream stream_of(const ir::loop_node& loop, const target::cpu& target);

}  // namespace tilewright::pass
