// Strategy: simulated annealing on the scores of a model (AutoTVM, Chen et al., NeurIPS 2018).
//
// Many chains walk through the space by one changed decision a step; a step to a lower score is
// accepted with a probability that falls with the temperature, from 1 to 0 within a round. The best
// programs that all chains met and nobody measured are proposed, a few random ones among them.
// AutoTVM's steps cost it a score alone, so that it makes 128 chains of 500; here a step is a
// replay, and a round makes fewer of them.
#pragma once

#include <cstddef>
#include <memory>

#include <tilewright/cost/model.hpp>
#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

struct annealing_options {
  std::size_t chains = 24;
  int steps = 12;              // of each chain in a round
  int patience = 6;            // steps without a change of the best programs that end a round
  double temperature = 1;      // of the first step of a round, in standard deviations of scores
  double random_share = 0.05;  // of a batch
};

/// @param model what ranks
std::unique_ptr<strategy> annealing(std::shared_ptr<cost::model> model,
                                    const annealing_options& options = {});

}  // namespace tilewright::search
