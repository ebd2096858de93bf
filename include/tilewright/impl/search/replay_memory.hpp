// What replays have given, so that no trace is replayed twice, nor up to a refusal that is known.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

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
/// decisions have been replayed gives the same candidate, and one that begins as a refused trace up
/// to the refusal is refused. Any thread may ask and add.
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

 private:
  static constexpr std::size_t most_refusals = 1 << 16, most_candidates = 1 << 11;

  /// Calls `visit` with the sketch and the decisions up to each draw before instruction `end`, until
  /// it says false; the last of these, or nothing where a decision is missing.
  template <class Visit>
  static std::optional<support::hash128> walk(const support::hash128& sketch, const trace& t,
                                              std::size_t end, const Visit& visit) {
    support::hash128 prefix = sketch;
    for (std::size_t i = 0; i < end; ++i) {
      if (t[i].what->kind->choice == decision_shape::none) continue;
      if (t[i].choice.empty()) return std::nullopt;
      support::hasher h;
      h.add(prefix.hi);
      h.add(prefix.lo);
      h.add(static_cast<std::uint64_t>(i));
      for (const std::int64_t d : t[i].choice) h.add(static_cast<std::uint64_t>(d));
      prefix = h.finish();
      if (!visit(prefix)) break;
    }
    return prefix;
  }

  std::mutex guard_;
  std::unordered_set<support::hash128> refused_;
  std::unordered_map<support::hash128, candidate> replayed_;
};

}  // namespace tilewright::search::detail
