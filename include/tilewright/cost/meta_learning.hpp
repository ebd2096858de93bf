// Training a network so that it adapts fast: MetaTune's meta-learning (arXiv 2102.04199, section 4).
//
// The convolutions of a pretrained graph network stay as they are; its dense layers are trained on
// episodes. An episode is a few programs of one workload or several, to adapt to, and others of the
// same ones that judge the adapted layers. What the paper leaves open is said at the options. The
// definitions need Eigen: learning.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/graph_network.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

/// How the slope of an episode by the weights before adapting is taken.
enum class meta_method : std::uint8_t {
  fomaml,  // as if adapting moved all weights alike: the slope at the adapted weights
  maml,    // exact, through all steps of adapting (Finn et al., ICML 2017)
  reptile  // none is taken: the weights move towards the adapted ones (Nichol et al., 2018)
};
/// "fomaml", "maml", "reptile"
std::string_view name(meta_method m);

struct meta_options {
  meta_method method = meta_method::fomaml;
  objective goal = objective::pairwise;
  double inner_rate = 1e-2;  // of a step of adapting, plain gradient descent
  int inner_steps = 5;
  double outer_rate = 7e-4;  // of Adam
  std::size_t tasks = 8;     // episodes of an outer step
  std::size_t ways = 1;      // workloads of an episode
  std::size_t shots = 16;    // programs of each to adapt to
  std::size_t queries = 32;  // others of each that judge; as many as there are
  int iterations = 1000;     // outer steps, at most
  int patience = 200;        // steps without a better mean loss that end it
  std::uint64_t seed = 42;
};

/// Trains the dense layers of `model`, which has been pretrained, on measured programs of many
/// workloads; tuning starts from them. Failed programs, and workloads with fewer than shots + 2
/// programs, are left out; without any workload nothing changes. The weights of the best mean loss
/// are kept.
/// @returns the loss of the adapted layers, mean of the last steps, after each outer step
std::vector<double> meta_train(graph_model& model, std::span<const sample> measured,
                               const meta_options& options = {});

}  // namespace tilewright::cost
