// set_axis_separator: which dimensions of a buffer share a physical axis.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/operand.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Says at which dimensions of a buffer a further physical axis begins.
///
/// ```
/// B = alloc_buffer((128, 128))         ->   B = alloc_buffer((128, 128), axis_separators=[1])
/// ```
/// The separators replace those that were there; an empty list takes them away. They change no
/// result: who lays out memory of several axes, as textures have, flattens the dimensions between
/// two separators into one. A parameter changes its declaration. What is matched to a part of the
/// buffer follows: with as many dimensions it gets the same separators, else as many of them, all at
/// 0, as TVM has it.
///
/// Requires:
/// 1. the block accesses that buffer: the index is in range, a name is unique;
/// 2. the buffer is a parameter or a block allocates it: it is no part of another one;
/// 3. the separators are from 0 to the number of dimensions, and none is below the one before it.
/// @throws schedule_error; nothing is changed then
ir::function set_axis_separator(const ir::function& f, std::uint64_t block,
                                const buffer_selector& buffer,
                                const std::vector<std::int64_t>& axis_separators);

}  // namespace tilewright::primitive
