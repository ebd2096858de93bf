// What other searches have measured, as experience for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::search {

/// Measured programs of a database, made again from their traces.
struct recorded_programs {
  std::list<candidate> made;          // samples point into it
  std::vector<cost::sample> samples;  // oldest first
};
/// The newest `most` records of all workloads but `but` that hold for its instruction set and thread
/// count, whose program is in the database and whose trace replays. `over` is polled: where it is
/// true, what was read by then has to do.
recorded_programs programs_of(const database& db, const record_key& but, std::size_t most,
                              const std::function<bool()>& over = {});

/// Teaches `model` the records of all workloads but `but` that hold for its instruction set and
/// thread count; the newest `most` of those whose program is in the database and whose trace
/// replays. `over` is polled: where it is true, what was read by then has to do.
/// @returns the number of programs that it was taught
std::size_t learn_records(cost::model& model, const database& db, const record_key& but,
                          std::size_t most = 600, const std::function<bool()>& over = {});

/// The trees of `start`, adapted to the records of `db`.
std::shared_ptr<cost::model> experienced_model(const database& db, const record_key& but,
                                               std::uint64_t seed,
                                               const std::function<bool()>& over = {},
                                               const cost::prior& start = cost::shipped_prior());

/// How a prior ranks candidates of one workload; larger is better. Without trees: at random.
std::vector<double> estimated_scores(const std::vector<candidate>& all,
                                     const cost::prior& start = cost::shipped_prior());

/// Whether a schedule that was found for other extents had better run than the default one, both of
/// one workload of which nothing was measured: where a prior ranks it higher by more than it errs
/// between two good schedules. Without trees: it is, as it was measured somewhere.
bool is_worth_adapting(const candidate& stored, const candidate& standard,
                       const cost::prior& start = cost::shipped_prior());

}  // namespace tilewright::search
