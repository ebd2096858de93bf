// Module: a reduction whose output is written transposed, so that any spatial axis may be the
// columns of its register tile.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// The spatial variables that could be the columns of the block's register tile, the most promising
/// first; none for a block that has no such tile.
///
/// The variable along which the output is contiguous is one where `needs_register_tiling` holds, and
/// the only one where its vectors are full and no operand is read in windows along it. Any other has
/// to stand alone in the index of one dimension of the output, every operand has to be loaded as
/// vectors along it, broadcast along it, or staged into a panel that is contiguous along it, and
/// another variable has to share an operand that varies along it.
std::vector<std::size_t> column_axes(const schedule& s, const std::string& block,
                                     const context& where);

/// Lays the block's result out with the dimension of variable `columns` last; nothing where it is. A
/// result that the
/// caller sees is computed in a buffer of its own, and a copy after the block writes it transposed:
/// ```
/// for k, q, c: Y[k, q] += X[c, 2 * q] * F[k, c]
/// ->  for k, q, c: Y_global[q, k] += X[c, 2 * q] * F[k, c]
///     for k, q: Y[k, q] = Y_global[q, k]
/// ```
/// @param columns one of `column_axes`
/// @throws schedule_error where the result is used in a way that fixes its layout
void transposed_output(schedule& s, const std::string& block, std::size_t columns);

}  // namespace tilewright::space
