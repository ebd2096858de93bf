// What replays have given, so that no trace is replayed twice, nor up to a refusal that is known, nor its
// beginning where another trace began alike.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tilewright/search/candidate.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search::detail {

/// Why a trace did not replay, and at which of its instructions where one refused.
struct replay_refusal {
  std::string why;
  std::optional<std::size_t> instruction;
};

/// As `search::replay`.
std::optional<candidate> replay_or_refuse(const trace& t, const ir::function& f, std::uint64_t seed,
                                          replay_refusal& refusal, const finisher& finish);

/// What replays of traces of one function gave. All follows from the decisions: a trace whose
/// decisions have been replayed gives the same candidate, one that begins as a refused trace up
/// to the refusal is refused, and one that begins as another trace passes the same schedules. Any
/// thread may ask, add and replay.
class replay_memory {
 public:
  struct answer {
    bool refused = false;
    std::optional<candidate> known;
  };

  /// What is known of the trace, of that sketch; nothing where a decision is missing.
  answer find(const support::hash128& sketch, const trace& t) {
    const std::lock_guard lock(guard_);
    answer out;
    const std::optional<support::hash128> whole =
        walk(sketch, t, t.size(), [&](const support::hash128& prefix) {
          out.refused = refused_.count(prefix) > 0;
          return !out.refused;
        });
    if (!whole || out.refused) return out;
    if (const auto there = replayed_.find(*whole); there != replayed_.end())
      out.known = there->second;
    return out;
  }

  /// @param at the instruction that was refused; all decisions before it were given
  void add_refusal(const support::hash128& sketch, const trace& t, std::size_t at) {
    const auto last = walk(sketch, t, at, [](const support::hash128&) { return true; });
    if (!last || *last == sketch) return;
    const std::lock_guard lock(guard_);
    if (refused_.size() < most_refusals) refused_.insert(*last);
  }
  void add(const support::hash128& sketch, const trace& t, const candidate& c) {
    const auto whole = walk(sketch, t, t.size(), [](const support::hash128&) { return true; });
    if (!whole) return;
    const std::lock_guard lock(guard_);
    if (replayed_.size() >= most_candidates) replayed_.clear();
    replayed_.try_emplace(*whole, c);
  }

  /// As `replay_or_refuse` without a finisher, for a trace whose variables are numbered as a schedule
  /// numbers them: begins at the last draw before which some replay of this sketch has stood with the
  /// same decisions.
  std::optional<candidate> replay(const support::hash128& sketch, const trace& t,
                                  const ir::function& f, std::uint64_t seed,
                                  replay_refusal& refusal);
  /// Instructions that these replays have not run, since others had.
  std::size_t skipped() {
    const std::lock_guard lock(guard_);
    return skipped_;
  }

 private:
  static constexpr std::size_t most_refusals = 1 << 16, most_candidates = 1 << 11,
                               most_places = 1 << 10;

  /// A replay before one of its draws.
  struct place {
    schedule before;
    double log_prior;
  };
  struct draw {
    std::size_t instruction;
    support::hash128 before;  // the sketch and the decisions before it
  };

  static bool draws(const trace::step& s) { return s.what->kind->choice != decision_shape::none; }

  static support::hash128 with_decision(const support::hash128& before, std::size_t instruction,
                                        const decision& chosen) {
    support::hasher h;
    h.add(before.hi);
    h.add(before.lo);
    h.add(static_cast<std::uint64_t>(instruction));
    for (const std::int64_t d : chosen) h.add(static_cast<std::uint64_t>(d));
    return h.finish();
  }

  /// The draws up to the first one whose decision is missing.
  static std::vector<draw> draws_of(const support::hash128& sketch, const trace& t) {
    std::vector<draw> out;
    support::hash128 prefix = sketch;
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (!draws(t[i])) continue;
      out.push_back({i, prefix});
      if (t[i].choice.empty()) break;
      prefix = with_decision(prefix, i, t[i].choice);
    }
    return out;
  }

  /// The place before that draw; null: it is not known. Places that were asked for stay longest.
  std::shared_ptr<const place> place_before(const draw& d) {
    const std::lock_guard lock(guard_);
    if (const auto at = places_.find(d.before); at != places_.end()) {
      skipped_ += d.instruction;
      return at->second;
    }
    const auto at = older_places_.find(d.before);
    if (at == older_places_.end()) return nullptr;
    const std::shared_ptr<const place> out = at->second;
    keep(d, out);
    skipped_ += d.instruction;
    return out;
  }

  void keep(const draw& d, const std::shared_ptr<const place>& p) {
    if (places_.size() >= most_places) older_places_ = std::exchange(places_, {});
    places_.try_emplace(d.before, p);
  }

  /// Calls `visit` with the sketch and the decisions up to each draw before instruction `end`, until
  /// it says false; the last of these, or nothing where a decision is missing.
  template <class Visit>
  static std::optional<support::hash128> walk(const support::hash128& sketch, const trace& t,
                                              std::size_t end, const Visit& visit) {
    support::hash128 prefix = sketch;
    for (std::size_t i = 0; i < end; ++i) {
      if (!draws(t[i])) continue;
      if (t[i].choice.empty()) return std::nullopt;
      prefix = with_decision(prefix, i, t[i].choice);
      if (!visit(prefix)) break;
    }
    return prefix;
  }

  std::mutex guard_;
  std::unordered_set<support::hash128> refused_;
  std::unordered_map<support::hash128, candidate> replayed_;
  std::unordered_map<support::hash128, std::shared_ptr<const place>> places_, older_places_;
  std::size_t skipped_ = 0;
};

}  // namespace tilewright::search::detail
