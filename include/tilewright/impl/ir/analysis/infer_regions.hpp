// Regions of blocks whose script does not list them.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir::detail {

/// Fills the reads, the writes or both from the accesses of body and `init`. Indices that are
/// affine in the loops of the body are relaxed over them; a dimension with another index counts
/// whole. Accesses of a matched buffer count as its source; a block with `init` does not read what
/// it writes.
void infer_regions(block_node& b, bool reads, bool writes);

}  // namespace tilewright::ir::detail
