// Models and strategies that learn with linear algebra: a graph network over loops, a Gaussian
// process, Bayesian optimization, policies. A program that includes this header needs Eigen's; it
// then finds their names, as "graph_network" and "bayesian", where models and strategies are chosen
// by name.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/cost/gaussian_process.hpp>
#include <tilewright/cost/graph_network.hpp>
#include <tilewright/cost/meta_learning.hpp>
#include <tilewright/cost/mlp.hpp>
#include <tilewright/cost/trace_network.hpp>
#include <tilewright/search/strategies/adaptive.hpp>
#include <tilewright/search/strategies/bayesian.hpp>
#include <tilewright/search/strategies/ppo.hpp>
#include <tilewright/search/trace_coordinates.hpp>
#include <tilewright/tilewright.hpp>

namespace tilewright::search {

/// Adds the models and strategies of this header to the tables, once.
/// @returns true
bool register_learning();

namespace detail {
inline const bool learning_is_registered = register_learning();
}  // namespace detail

}  // namespace tilewright::search

#if defined(TILEWRIGHT_IMPLEMENT) || !defined(TILEWRIGHT_DECLARE_ONLY)
#include <tilewright/impl/learning.hpp>
#endif
