// Strategy: batch Bayesian optimization over the choices of traces (MetaTune, arXiv 2102.04199,
// section 3; what the paper leaves open is said at the options).
//
// Throughput is f(x) = a * model(program) + b + g(x): a cost model as the mean, rescaled to the
// measurements by least squares in every round, and a Gaussian process over the coordinates of the
// trace for what it misses. A good model leaves little to g, a useless one gets a = 0. Candidates
// are ranked by the expected improvement over the best posterior mean, times the probability of
// being valid, which a second process learns from failures; a batch is chosen greedily, each pick
// by what the picks before it leave to gain. The definitions need Eigen: learning.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include <tilewright/cost/gaussian_process.hpp>
#include <tilewright/cost/model.hpp>
#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

/// What a pick of a batch is worth to the picks after it.
enum class fantasy {
  believer,      // the posterior mean: variance shrinks, means stay
  liar,          // the worst value measured so far: the most diverse batch
  penalization,  // nothing is pretended; improvement fades around the picks
  joint  // improvement of the batch as a whole (qEI), over samples of what its picks turn out to be
};

/// What the process is fitted to; the paper leaves both readings open.
enum class fitted_to {
  measurements,  // the times; the model is the mean
  /// What the model says of some programs, so that the search needs it for few of the others: in the place
  /// of annealing, as AutoTVM's inner search. Without a model the times.
  scores
};

struct bayesian_options {
  std::size_t first = 8;          // random candidates before anything is believed
  std::size_t drawn = 96;         // fresh members of the space in a pool
  std::size_t changed = 96;       // changes of the fastest measured programs in a pool
  std::size_t parents = 16;       // fastest measured programs that are changed
  int rounds = 2;                 // of changes of what looks best in the pool
  std::size_t leaders = 12;       // that are changed in such a round
  std::size_t most_points = 256;  // of the process: the fastest quarter, and the latest others
  double random_share = 0.05;     // of a batch
  double margin = 0.01;           // of improvement, in standard deviations of the data
  search::fantasy fantasy = search::fantasy::believer;
  search::fitted_to process_of = search::fitted_to::measurements;
  std::size_t scored = 64;    // drawn programs that the model scores in a round for the process
  std::size_t samples = 128;  // of a batch, where its improvement is joint
  cost::gaussian_process_options process;
};

/// @param model the mean; null: a constant
std::unique_ptr<strategy> bayesian(std::shared_ptr<cost::model> model = nullptr,
                                   const bayesian_options& options = {});

/// Logarithm of the expected improvement of a normal variable of that mean and deviation over
/// `best`; exact where the improvement itself underflows. Minus infinity for deviation 0 below
/// `best`.
double log_expected_improvement(double mean, double deviation, double best);

}  // namespace tilewright::search
