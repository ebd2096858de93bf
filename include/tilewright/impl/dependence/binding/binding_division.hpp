// Dividing the bindings of a block between outer and inner loops: what blockize and tensorize need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/dependence/scope.hpp>

namespace tilewright::dependence {

/// value = outer * extent of the inner domain + inner. A part that is missing has extent 1 and
/// value 0.
struct divided_iter {
  ir::expr outer;
  ir::range outer_dom;
  ir::expr inner;
  ir::range inner_dom;
};

/// The bindings and the predicate of a block as those of two nested blocks.
struct division {
  std::vector<divided_iter> iters;
  ir::expr outer_predicate, inner_predicate;
};

/// Divides the bindings of the child between the loops before position `first` and those from it
/// on: either all are quasi-affine and the inner loops are the lower digits of each, or each
/// binding uses loops of one part only and there is no predicate. Conjuncts of the predicate must
/// be about one part each.
/// @param preserve_unit_iters  loops of extent 1 stay in the values
/// @returns nothing when that cannot be done; `why` then says what stands against it
std::optional<division> divide_bindings(const child_block& child, std::size_t first,
                                        bool preserve_unit_iters, std::string& why);

}  // namespace tilewright::dependence
