// What earlier blocks of a scope leave of a region.
#pragma once

#include <vector>

#include <tilewright/impl/dependence/cover/constant_boxes.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/scope.hpp>

namespace tilewright::dependence::cover {

struct remainder {
  bool produced = false;           // an earlier block writes some of it
  std::vector<const_box> rest;     // what nobody certainly writes
  std::vector<const_box> unknown;  // written by blocks of which nothing is certain
};

/// Of what that block of the scope reads, by all earlier blocks, or by those below a loop.
remainder left_unwritten(const block_scope& scope, std::size_t reader,
                         const ir::buffer_region& region, sums needed,
                         const ir::var* loop = nullptr);

}  // namespace tilewright::dependence::cover
