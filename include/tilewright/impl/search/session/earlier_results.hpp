// What the database knows of a workload when a session begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/failing_traces.hpp>
#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/impl/search/session/parent_list.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search::detail {

/// Replays stored traces. What was seen before is left out, and what is replayed is seen.
class earlier_results {
 public:
  earlier_results(const workload& w, const database& db, std::uint64_t seed,
                  std::set<support::hash128>& seen, std::vector<std::string>& remarks)
      : w_(w), db_(db), near_(nearest_record(db, w)), seed_(seed), seen_(seen), remarks_(remarks) {}

  /// What was measured, the fastest first, until it is late and `least` of them were replayed.
  void read_measured(std::size_t least, const std::function<bool()>& late) {
    constexpr std::size_t most_recalled = 512;
    for (const record& r : db_.top(w_.key, most_recalled)) {
      if (known.size() >= least && late()) break;
      if (auto c = recalled(r.trace)) {
        parents.push_back({c->scheduled.trace(), r.best()});
        known.push_back(std::move(*c));
        seconds.push_back(r.best());
      }
    }
  }
  /// What failed and would fail again here, until it is late, and then what failed for good at the nearest extents.
  void read_failed(const provenance& here, const std::function<bool()>& late) {
    know_failing(failing_traces(db_.failed(w_.key), here), true, late);
    if (near_) know_failing(failing_elsewhere(db_.failed(near_->key), here), false, late);
  }
  /// What is known of workloads beside this one, where it fits: schedules that fewer threads found for it, and
  /// that of the nearest extents.
  std::vector<candidate> read_near(const finisher& finish) {
    constexpr std::size_t most = 4;  // of fewer threads
    std::vector<candidate> out;
    if (known.size() < begun)
      for (candidate& c : spread_over_threads(w_, db_, most, seed_))
        if (seen_.insert(c.identity).second) out.push_back(std::move(c));
    if (auto c = nearest_extents(finish)) out.push_back(*std::move(c));
    return out;
  }

  std::vector<candidate> known;
  std::vector<double> seconds;  // [known], infinity where one failed
  std::vector<parent> parents;  // of those that did not fail

 private:
  static constexpr std::size_t begun =
      32;  // measurements; what is behind them has met other schedules already

  std::optional<candidate> nearest_extents(const finisher& finish) {
    if (!near_) return std::nullopt;
    try {
      auto c = replay(by_name(trace::parse(near_->trace), w_.function), w_.function, seed_, nullptr,
                      finish);
      if (c && seen_.insert(c->identity).second) return c;
    } catch (const error&) {  // made for other extents: it need not fit
    }
    return std::nullopt;
  }
  void know_failing(const std::vector<std::string>& traces, bool here,
                    const std::function<bool()>& late) {
    for (const std::string& text : traces) {
      if (late()) break;
      if (auto c = recalled(text, here)) {
        known.push_back(std::move(*c));
        seconds.push_back(std::numeric_limits<double>::infinity());
      }
    }
  }
  /// A stored trace, from now on seen; nothing where it was before.
  /// @param here whether it comes from these extents, and so has to replay
  std::optional<candidate> recalled(const std::string& text, bool here = true) {
    try {
      std::optional<candidate> c =
          replay(by_name(trace::parse(text), w_.function), w_.function, seed_);
      if (c && seen_.insert(c->identity).second) return c;
    } catch (const error& e) {
      if (here) remarks_.push_back(std::string("a stored trace does not replay: ") + e.what());
    }
    return std::nullopt;
  }

  const workload& w_;
  const database& db_;
  std::optional<record> near_;
  std::uint64_t seed_;
  std::set<support::hash128>& seen_;
  std::vector<std::string>& remarks_;
};

}  // namespace tilewright::search::detail
