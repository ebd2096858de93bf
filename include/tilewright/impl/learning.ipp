#pragma once

#include <tilewright/cost/ensemble.hpp>
#include <tilewright/cost/graph_network.hpp>
#include <tilewright/cost/mlp.hpp>
#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/trace_network.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/search/strategies/adaptive.hpp>
#include <tilewright/search/strategies/bayesian.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/ppo.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE bool register_learning() {
  cost::add_model_kind({"graph_network", "MetaTune's network over the loops of a program",
                        [](std::uint64_t seed) -> std::unique_ptr<cost::model> {
                          cost::graph_network_options options;
                          options.seed = seed;
                          return std::make_unique<cost::graph_model>(options);
                        }});
  cost::add_model_kind({"mlp", "TenSet's perceptron over the stores of a program",
                        [](std::uint64_t seed) -> std::unique_ptr<cost::model> {
                          cost::mlp_options options;
                          options.seed = seed;
                          return std::make_unique<cost::mlp_model>(options);
                        }});
  cost::add_model_kind({"trace_network", "TLP's network over the primitives of a trace",
                        [](std::uint64_t seed) -> std::unique_ptr<cost::model> {
                          cost::network_options options;
                          options.seed = seed;
                          return std::make_unique<cost::trace_model>(options);
                        }});
  cost::add_model_kind(
      {"ensemble", "shipped trees and the network, weighted by how well they ranked of late",
       [](std::uint64_t seed) -> std::unique_ptr<cost::model> {
         return std::make_unique<cost::ensemble_model>(std::vector<std::shared_ptr<cost::model>>{
             cost::make_model("prior", seed), cost::make_model("graph_network", seed)});
       }});
  add_strategy_kind(
      {"bayesian", "batch Bayesian optimization, with a model as the mean", "trees",
       [](std::shared_ptr<cost::model> model) { return bayesian(std::move(model)); }});
  add_strategy_kind(
      {"ppo", "a policy that turns decisions, its proposals thinned out by clusters", "trees",
       [](std::shared_ptr<cost::model> model) { return adaptive(ppo(std::move(model))); }});
  add_strategy_kind({"adaptive", "evolution, its proposals thinned out by clusters", "trees",
                     [](std::shared_ptr<cost::model> model) {
                       return adaptive(evolutionary(std::move(model)));
                     }});
  return true;
}

}  // namespace tilewright::search
