// Schedules that are known to be good before a session begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/search/candidate.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search::detail {

/// They are measured before others, and stay until the last round.
class known_candidates {
 public:
  /// The traces outlive this.
  explicit known_candidates(const std::vector<std::string>& traces) : traces_(traces) {}

  bool contains(const candidate& c) const { return identities_.contains(c.identity); }

  /// Puts those that replay before `others`, from now on seen; without what was seen before.
  void put_before(std::vector<candidate>& others, const workload& w, std::uint64_t seed,
                  std::set<support::hash128>& seen) {
    std::vector<candidate> known;
    for (const std::string& text : traces_) {
      try {
        std::optional<candidate> c = replay(trace::parse(text), w.function, seed);
        if (!c) continue;
        identities_.insert(c->identity);
        if (seen.insert(c->identity).second) known.push_back(std::move(*c));
      } catch (const error&) {  // a trace of another version
      }
    }
    std::move(others.begin(), others.end(), std::back_inserter(known));
    others = std::move(known);
  }

 private:
  const std::vector<std::string>& traces_;
  std::set<support::hash128> identities_;
};

}  // namespace tilewright::search::detail
