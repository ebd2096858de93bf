// How an index map lays out a box: the shape of the image, the way back, and the places that no
// element takes.
#pragma once

#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/index_map.hpp>

namespace tilewright::arith {

struct index_layout {
  std::vector<ir::var> axes;      // one per result: the new indices, named for those that stay as
                                  // they are and axis0, axis1, ... otherwise
  std::vector<ir::expr> shape;    // extents of the axes; empty when they are unknown
  std::vector<ir::expr> inverse;  // the old indices in terms of `axes`; empty when none was found
  ir::expr padding;               // of the axes: no element lies there; literal false when there
                                  // are no such places; null without an inverse

  bool has_inverse() const noexcept { return static_cast<bool>(padding); }
};

/// Applies a map to the box [0, shape). Divisions pad: indices that are split by `// 4` and `% 4`
/// run over the next multiple of 4, and `padding` says which places are beyond (of 14 elements at
/// [i // 4, i % 4]: `axis0 == 3 and 2 <= axis1`). The inverse is total on the image of the padded
/// box.
///
/// Understood are splits and mixed-radix sums (see arith/iter_map.hpp) of constant extents, splits
/// of an index whose symbolic extent is a multiple of what divides it, and sums whose factors are
/// products of symbolic extents. An inverse that the map carries is used if it can be proved to be
/// one. Extents are taken to be positive.
index_layout lay_out(const ir::index_map& map, const std::vector<ir::expr>& shape,
                     const analyzer& known);

/// Image of a box of the old indices: per axis the smallest interval that is certain to hold it;
/// the whole axis where nothing better is known. Exact for points.
std::vector<ir::range> map_box(const ir::index_map& map, const std::vector<ir::range>& ranges,
                               const std::vector<ir::expr>& new_shape, const analyzer& known);

}  // namespace tilewright::arith
