// The tensor form of a block: rewritten, by primitives alone, so that a tensor intrinsic fits into it
// (TensorIR, section 4.2; TVM: TransformForTensorization).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::space {

/// Which iteration variables of a block become those of an intrinsic's description.
///
/// Variables correspond when they are of one kind and index the same operands: those of a
/// convolution that index its result and its image, n, h and w, are the rows of a matrix product.
struct tensor_mapping {
  /// [variables of the description] those of the block that are fused into it, outermost first.
  std::vector<std::vector<std::size_t>> fused;
  /// The other variables of the block, in order.
  std::vector<std::size_t> outer;
};

/// The mapping of a block onto a description; nothing where operands differ in number or type, or
/// some variable of the description has no or an ambiguous counterpart.
std::optional<tensor_mapping> propose_mapping(const ir::block_node& block,
                                              const intrin::intrinsic& what);

/// How much is rewritten.
enum class tensor_form : std::uint8_t {
  as_is,      // nothing: loops of the block are those of the description
  packed,     // one loop of the block for each one of the description; operands of two and more
              // dimensions are copied, one tile of the intrinsic after the other
  windowed,   // the same with padding; operands of one dimension keep their other indices, as those
              // of windows, and get the loop's variable as their last index
  reindexed,  // every operand and the result are copied, indices fused and padded
  reindexed_packed,  // the same, and the tiles of operands are packed
};

/// Splits the loops that the intrinsic computes off the block, in the given form, makes a block
/// `<name>_o` of them, and annotates it `meta_schedule.auto_tensorize` = the intrinsic's name.
/// ```
/// reindexed, with a 16 x 16 x 16 product:
/// Y[n, h, w, k] += X[n, h + r, w + s, c] * F[r, s, c, k]
///   ->  X_reindex[n * H * W + h * W + w, r * S * C + s * C + c] = X[..]; F_reindex[.., k] = F[..]
///       Y_reindex[i, j] += X_reindex[i, l] * F_reindex[l, j], extents padded to multiples of 16
///       Y[..] = Y_reindex[..]
/// ```
/// @param tiles  reindexed: multiples of this many of the intrinsic's extents, one number for each of its variables, are what
///               extents are padded to; empty: 1 each
/// Nothing happens, and nothing is returned, where the intrinsic would not fit into the result, once
/// operands are in the scopes that its description names.
std::optional<block_rv> give_tensor_form(schedule& s, const std::string& block,
                                         const intrin::intrinsic& what, tensor_form form,
                                         const std::vector<std::int64_t>& tiles = {});

}  // namespace tilewright::space
