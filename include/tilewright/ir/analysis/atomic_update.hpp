// Additions that several threads make to one element of memory.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Annotation of blocks, and key of the attribute around lowered statements: additions are made in one step each, so
/// that any iterations may make them at once, in any order. A statement without threads does what it does without
/// the note.
inline constexpr const char* atomic_note = "tilewright.atomic";

/// Whether the note is among the annotations.
inline bool has_atomic_note(const annotations& notes) {
  return find_note(notes, atomic_note) != nullptr;
}

/// Whether memory adds elements of that type by itself: integers of 32 and 64 bits, f16, f32, f64.
bool has_atomic_addition(dtype type);

/// What a store adds to the element that it finds at its place, `B[i] = B[i] + x`; null for a store that does anything
/// else, or reads more of the buffer.
expr addend(const store_node& s);

/// The one addition that a statement comes to, inside of lets, ifs without else, and attributes; null for other
/// statements, and where something on the way to it reads the buffer.
const store_node* only_addition(const stmt& s);

/// Whether the block has the note and follows it: it has no init, and its body is one addition to memory that threads
/// share, of a type that memory adds.
bool adds_atomically(const block_node& b);

}  // namespace tilewright::ir
