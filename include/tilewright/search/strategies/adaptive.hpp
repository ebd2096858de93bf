// Strategy: what another one proposes, thinned out by clusters (Chameleon's adaptive sampling, Ahn
// et al., ICLR 2020).
//
// Programs that lie side by side tell each other's time. The other strategy is asked for more than
// is wanted; k-means over the coordinates of the traces finds groups, and what lies nearest to the
// middle of each is measured. There are as many groups as make the programs lie clearly nearer to
// their middles, so that a batch may be smaller than was asked for. What is left waits for the next
// round.
#pragma once

#include <cstddef>
#include <memory>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

struct adaptive_options {
  std::size_t oversample = 4;  // proposals of the other strategy for each that is wanted
  double knee = 0.02;          // share of the first loss that one more group has to save
  int sweeps = 8;              // of k-means
};

/// @param inner what proposes; not null
std::unique_ptr<strategy> adaptive(std::unique_ptr<strategy> inner,
                                   const adaptive_options& options = {});

}  // namespace tilewright::search
