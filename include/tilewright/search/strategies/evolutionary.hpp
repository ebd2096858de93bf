// Strategy: chains of changed traces that a cost model guides (MetaSchedule, section 4).
//
// The population consists of the fastest measured programs and of draws from the prior. Those that
// the model ranks best among them become chains: a step changes its trace or crosses it with another member of the same sketch,
// and is accepted as Metropolis and Hastings do for the distribution P(trace) * exp(score / T), T
// falling from generation to generation; steps count as equally likely both ways. What all chains have met and nobody measured is ranked by
// score; the best are proposed, with random draws among them (half of a batch before anything
// ran, a tenth later; a session has timed its default schedule by then), and a few that lie one
// change beside the fastest measured programs, where a model trained on few records cannot tell
// good from best.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <tilewright/cost/model.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

struct evolution_options {
  std::size_t population = 64;
  double measured_share = 0.4;  // of the population, at most
  double changed = 1 / 3.0;     // of the population: what the model ranks best becomes chains
  int generations = 4;
  double crossover = 0.1;     // share of the steps
  double temperature = 0.5;   // of the first generation, in standard deviations of the scores
  double cooling = 0.5;       // factor from one generation to the next
  double prior = 1;           // exponent of the prior
  double greedy = 0.9;        // share of a batch that the model chooses
  double first_greedy = 0.5;  // the same before anything ran: it may be wrong about this task
  double near = 0.25;         // share of a batch chosen among single changes of the fastest ones
  std::size_t nearest = 2;    // measured programs that count as the fastest ones
  int attempts = 4;           // changes tried for a step until one replays
  int threads = 1;            // that replay; the result does not depend on it
  std::span<const mutator> changes = mutators();
  /// Says why a changed trace need not be replayed; empty: it has to be. Null: all are replayed.
  std::function<std::string(const trace&)> refused_early = {};
  /// Looks at traces before they are replayed, and so has to score them by `sample::trace` alone
  /// (cost/trace_network.hpp): of `sieved` changes of a member the one that it likes best is replayed.
  /// Null: the first one is.
  std::shared_ptr<cost::model> sieve = {};
  std::size_t sieved = 4;
};

/// @param model what ranks; shared, so that the next search can start from what this one learned
std::unique_ptr<strategy> evolutionary(std::shared_ptr<cost::model> model,
                                       const evolution_options& options = {});

}  // namespace tilewright::search
