// Strategy: coordinate descent on measured times, without a model (Droplet Search, Canesche et al.,
// 2024).
//
// Around the fastest program lie those that differ in one decision by one step: a factor of a tile
// moved to another level, the next or the last value of a list, another place of a block. What is
// faster by more than the noise becomes the centre, and the direction that led there is tried in
// longer steps first. Where all programs around a centre were measured, the descent goes on from
// the fastest centre that is left, and at last from fresh draws. Strategies are told one time a
// program, so that the share `noise` stands where the paper has a test of two samples.
#pragma once

#include <cstddef>
#include <memory>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

struct droplet_options {
  std::size_t first = 8;  // draws before the first descent, where nothing is known
  double noise = 0.01;    // share by which a time must be shorter to be believed
  int longer = 3;         // steps tried beyond one that was faster
};

std::unique_ptr<strategy> droplet(const droplet_options& options = {});

}  // namespace tilewright::search
