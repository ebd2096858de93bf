// Strategy: a policy that turns the decisions of traces, learned by proximal policy optimization
// (Chameleon, Ahn et al., ICLR 2020; PPO: Schulman et al., 2017).
//
// The state is the point of a trace; the action says for each number of its decisions whether it
// becomes smaller, stays or becomes larger by a step; the reward is what a cost model thinks better
// of the new program, in standard deviations of its scores, and a fixed loss where the step is
// refused. Every sketch has a policy of its own: one hidden layer, a distribution over three
// actions for each number, and a value. What was met and not measured is proposed in the order of
// the model's scores; with `adaptive` around it the two make Chameleon. The definitions need Eigen:
// learning.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include <tilewright/cost/model.hpp>
#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

struct ppo_options {
  std::size_t walkers = 12;  // traces that walk in a round
  int steps = 6;             // of each of them
  double elders = 0.5;       // share of the walkers that start from the fastest measured programs
  double discount = 0.9;     // of rewards that come later
  double clip = 0.2;         // of the ratio between the new and the old policy
  double entropy = 0.01;     // weight of staying undecided
  int epochs = 3;            // over what was walked in a round
  double rate = 3e-3;        // of Adam
  double refusal = -0.5;     // reward of a step that a primitive refuses
  double stay = 3;           // first logit of leaving a number alone
};

/// @param model what rewards
std::unique_ptr<strategy> ppo(std::shared_ptr<cost::model> model, const ppo_options& options = {});

}  // namespace tilewright::search
