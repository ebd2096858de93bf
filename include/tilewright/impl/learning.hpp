// The definitions of learning.hpp, which need Eigen; all others are in src.hpp.
#pragma once

#include <tilewright/impl/cost/gaussian_process.ipp>
#include <tilewright/impl/cost/graph_network.ipp>
#include <tilewright/impl/cost/meta_learning.ipp>
#include <tilewright/impl/cost/mlp.ipp>
#include <tilewright/impl/cost/trace_network.ipp>
#include <tilewright/impl/learning.ipp>
#include <tilewright/impl/search/strategies/adaptive.ipp>
#include <tilewright/impl/search/strategies/bayesian.ipp>
#include <tilewright/impl/search/strategies/ppo.ipp>
#include <tilewright/impl/search/trace_coordinates.ipp>
