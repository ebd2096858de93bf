// Module: operands that the function computes are stored as the columns of a register tile read
// them.
#pragma once

#include <cstddef>
#include <string>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Whether another layout of the operand would put the elements for columns along the variable
/// `columns` side by side: a buffer of the function that an element-wise block writes and this block
/// alone reads, where one dimension moves along the columns, in steps of any constant length; another
/// dimension than the last only of elements that are transposed in registers, of four bytes or more.
bool is_arrangeable(const schedule& s, const std::string& block, const access_profile& read,
                    std::size_t columns);

/// Chooses the layout of operands whose elements for adjacent columns do not lie side by side. The
/// dimension that moves along the columns becomes the last one, and where it moves in steps, each
/// phase of the steps becomes a row:
/// ```
/// P[c, h, w] = X[c, h - 1, w - 1];  Y[k, p, q] += P[c, 2 * p + r, 2 * q + s] * F[k, c, r, s]
/// ->  P[c, h, w0, w1] = X[c, h - 1, 2 * w1 + w0 - 1]
///     Y[k, p, q] += P[c, 2 * p + r, s % 2, q + s // 2] * F[k, c, r, s]
/// ```
/// An argument or such a buffer that is multiplied with its own transpose is stored once for both loads:
/// ```
/// C[i, j] += X[i, t] * X[j, t]  ->  XT[t, i] = X[i, t];  C[i, j] += XT[t, i] * XT[t, j]
/// ```
/// Structural choices: an operand whose vectors can be loaded and shuffled together stays as it is
/// or not; an argument that moves in steps, or that meets its own transpose, is copied into such a buffer or
/// not.
/// @param columns the variable along which the block's output is contiguous
void arranged_operands(schedule& s, const std::string& block, std::size_t columns,
                       chooser& choices);

}  // namespace tilewright::space
