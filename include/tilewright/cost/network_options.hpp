// How the networks of cost models are trained: alike, whatever they look at.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/config.hpp>
#include <tilewright/cost/gbt.hpp>

namespace tilewright::cost {

struct network_options {
  objective goal = objective::pairwise;  // of training
  int epochs = 60;                       // of pretraining
  int tuning_steps = 40;                 // from the pretrained weights, on what was measured
  double rate = 1e-3;                    // of Adam
  double tuning_rate = 3e-3;
  double decay = 1e-6;           // of weights
  double clip = 0.5;             // of the norm of a gradient
  std::size_t batch = 64;        // programs of one workload in a step
  std::size_t whole_from = 128;  // measured programs from which more than the last layers is tuned
  std::size_t most_data = 2048;  // measured programs; older ones are forgotten
  double retrain_share = 0.2;    // of new data that lets it tune again
  /// Share of the way that the weights tuning starts from go towards the tuned ones each time
  /// (momentum adaptation of Pruner, ASPLOS 2025); 0: they stay as they were pretrained.
  double momentum = 0;
  std::uint64_t seed = 42;
};

}  // namespace tilewright::cost
