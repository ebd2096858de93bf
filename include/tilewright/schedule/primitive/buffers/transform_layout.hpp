// transform_layout: another physical layout for a buffer.
#pragma once

#include <cstdint>

#include <tilewright/schedule/operand.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Stores element (i, j, ...) of a buffer at map(i, j, ...): all accesses, the regions of blocks
/// and the declaration change; a parameter of the function changes its shape.
///
/// ```
/// B = alloc_buffer((16, 14))
/// with block("B"): B[vi, vj] = A[vi, vj]
/// ->  (lambda i, j: (j // 4, i, j % 4), padded)
/// B = alloc_buffer((4, 16, 4))
/// with block("B"): B[vj // 4, vi, vj % 4] = A[vi, vj]
/// ```
/// Divisions that do not come out even leave places that no element takes. They get the pad value:
/// - when nobody in the function writes the buffer, its caller must have put it there: a block of
///   assumptions at the start of the function says so;
/// - when a block writes it in a serial row-major nest of loops, around the block or inside of it,
///   that does nothing else, loads nothing but for the stored values and of the buffer the stored
///   element alone, the nest runs over the new axes and stores
///   `if_then_else(padding, pad value, value)`; blocks without variables inside of it belong to it;
/// - else a block after the last writer writes the padding.
///
/// Requires:
/// 1. the block accesses that buffer: the index is in range, a name is unique;
/// 2. the buffer is accessed by loads and stores only: it is no part of another one, no part of
///    it is matched, nobody takes its address; the buffer has no strides and offset of its own;
/// 3. the map takes as many indices as the buffer has dimensions, and its results start at 0;
/// 4. the map can be inverted; with `assume_injective_transform` it need not be provable, and is
///    refuted only where enumerating a small buffer shows two elements at one place;
/// 5. where the map leaves places without element, there is a pad value, or
///    `assume_injective_transform`, with which nothing is written there;
/// 6. the pad value is one value of the buffer's type and loads nothing; a number that is no
///    expression must be an integer for a buffer of integers, and a real number for one of floats;
/// 7. no symbolic extent is known from the shape of the parameter alone.
/// @throws schedule_error
ir::function transform_layout(const ir::function& f, std::uint64_t block,
                              const buffer_selector& buffer, const ir::index_map& map,
                              const padding& pad_value = {},
                              bool assume_injective_transform = false);

}  // namespace tilewright::primitive
