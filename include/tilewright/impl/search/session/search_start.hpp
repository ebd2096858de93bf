// What searches in a session, and what it is given to search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/cost/prior_file.hpp>
#include <tilewright/cost/residual.hpp>
#include <tilewright/impl/cost/gpu/gpu_estimate.hpp>
#include <tilewright/impl/search/strategies/starting_model.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/drawn_trace.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/search/trace_limits.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search::detail {

/// The workload outlives the task.
inline search_task task_of(const workload& w, const std::vector<schedule>& sketches,
                           finisher finish) {
  search_task out;
  out.function = w.function;
  // what nothing uses is not replayed for every candidate
  for (const schedule& s : sketches)
    out.sketches.push_back(s.trace().simplified().without_decisions());
  out.finish = std::move(finish);
  if (w.machine.gpu && out.finish)
    out.draw = [&w](const trace& sketch, support::random& random) {
      return drawn_within_limits(sketch, w.function, *w.machine.gpu, random);
    };
  if (w.space)
    out.generate = [&w](std::uint64_t seed) {
      return w.space.member(w.function, {w.machine, w.exec->threads}, seed);
    };
  return out;
}

/// Nothing is measured while candidates are proposed, so that all cores are free.
inline evolution_options evolution_of(const workload& w, const session_options& o,
                                      bool has_postprocs) {
  evolution_options out;
  if (!o.changes.empty()) out.changes = o.changes;
  out.threads = target::host().cores;
  // on a CPU nearly all that this sees is refused at once by a replay, too
  if (w.machine.gpu && has_postprocs)
    out.refused_early = [&w](const trace& t) {
      return refused_by_decisions(t, w.function, w.machine.gpu);
    };
  return out;
}

/// What ranks candidates. On GPUs an estimate of the time comes first, and what is learned is what it misses; the
/// shipped trees, which were trained on times of CPUs, have no part in that, but a prior that TILEWRIGHT_PRIOR names.
inline std::shared_ptr<cost::model> ranking_model(const workload& w, const database& db,
                                                  std::uint64_t seed,
                                                  const std::function<bool()>& late,
                                                  std::vector<std::string>& remarks) {
  const cost::prior none;
  std::shared_ptr<cost::model> learns =
      starting_model(db, w.key, seed, late, remarks, w.machine.gpu ? none : cost::shipped_prior());
  if (!w.machine.gpu) return learns;
  return std::make_shared<cost::residual_model>(
      std::make_shared<cost::gpu_estimate>(*w.machine.gpu), std::move(learns));
}

/// How candidates are found: as the options say, else by evolution with a model that has learned
/// from the other records of the database; a scorer of the user's own ranks what a search without
/// a model proposes.
/// @param late says when there is no more time to learn from records
inline std::unique_ptr<strategy> strategy_of(const workload& w, const session_options& o,
                                             const database& db, bool has_postprocs,
                                             const std::function<bool()>& late,
                                             std::vector<std::string>& remarks) {
  if (o.method) return o.method(o.seed);
  if (o.model.score) return local_search();
  if (!cost::shipped_prior().problem.empty())
    remarks.push_back("the search starts without its prior: " + cost::shipped_prior().problem);
  return evolutionary(ranking_model(w, db, o.seed, late, remarks),
                      evolution_of(w, o, has_postprocs));
}

/// The candidates that the scorer puts first; all, where it has no preference or there are no more.
inline std::vector<candidate> best_scored(const scorer& by, std::vector<candidate> all,
                                          std::size_t count) {
  if (!by.score || all.size() <= count) return all;
  const std::vector<double> scores = by.score(all);
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  support::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<candidate> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(std::move(all[order[i]]));
  return out;
}

}  // namespace tilewright::search::detail
