// Boxes of buffers: what a statement touches, widened over loops, united, compared.
#pragma once

#include <vector>

#include <tilewright/arith/interval.hpp>

namespace tilewright::arith {

/// One range per dimension. A dimension about which nothing is known has null min and extent.
using box = std::vector<ir::range>;

/// Upper bound of `b` while the variables of `relaxed` run.
box relax(const box& b, const loop_domains& relaxed, const analyzer& known);
/// The same for a region; a dimension about which nothing is known becomes the buffer's whole
/// extent.
ir::buffer_region relax(const ir::buffer_region& r, const loop_domains& relaxed,
                        const analyzer& known);

/// Smallest box that holds both.
box unite(const box& a, const box& b, const analyzer& known);
/// Common part; its extents may be 0 but not negative.
box intersect(const box& a, const box& b, const analyzer& known);
/// True only if `inner` always lies inside `outer`.
bool covers(const box& outer, const box& inner, const analyzer& known);
/// True only if the boxes never have an element in common.
bool disjoint(const box& a, const box& b, const analyzer& known);
/// `r` cut to the shape of its buffer.
ir::buffer_region clip(const ir::buffer_region& r, const analyzer& known);

/// Unites `r` into the region of the same buffer in `list`, or appends it.
void add_region(std::vector<ir::buffer_region>& list, ir::buffer_region r, const analyzer& known);

/// What `access_regions` takes into account.
struct access_options {
  /// Conditions (realize predicates, ifs, if_then_else) cut the boxes they guard; without it a tile
  /// keeps its constant extent at the edge.
  bool use_conditions = true;
};

/// Appends what `body` reads and writes, one region per buffer in order of first access, in terms
/// of the variables free in `body`. Loops inside are widened over; a block realize contributes the
/// regions it declares with its iteration variables bound; buffers allocated inside are left out;
/// an index that contains a load gives the whole dimension. Buffers that are both written and read
/// occur in both lists.
void access_regions(const ir::stmt& body, std::vector<ir::buffer_region>& reads,
                    std::vector<ir::buffer_region>& writes);
void access_regions(const ir::stmt& body, std::vector<ir::buffer_region>& reads,
                    std::vector<ir::buffer_region>& writes, const analyzer& known,
                    const access_options& options = {});

}  // namespace tilewright::arith
