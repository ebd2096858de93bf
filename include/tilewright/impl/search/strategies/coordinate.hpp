// Steps along one decision of a trace: what coordinate descent and policies move by.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/search/mutators/neighbours.hpp>
#include <tilewright/search/candidate.hpp>

namespace tilewright::search::detail {

/// What instruction `i` may decide one step beside what it did.
inline std::vector<decision> decisions_beside(const trace& t, std::size_t i,
                                              const ir::function& f) {
  const trace::step& s = t[i];
  if (s.choice.empty()) return {};
  if (tile_size::is_tile(s)) return tile_size::neighbours(t, i, f);
  std::vector<decision> out;
  if (is_kind(s, "sample_compute_location")) {
    for (const std::int64_t place : other_locations(t, i, f)) out.push_back({place});
    return out;
  }
  if (!is_kind(s, "sample_categorical")) return out;
  const auto values = static_cast<std::int64_t>(weights_of(*s.what).size());
  for (const std::int64_t next : {s.choice[0] - 1, s.choice[0] + 1})
    if (next >= 0 && next < values) out.push_back({next});
  return out;
}

/// A number of a decision: which of the choices of a trace, and which factor of it.
struct knob {
  std::size_t choice = 0;  // position in `choices(t)`
  std::size_t factor = 0;
};

/// The numbers of a trace that may be turned: all factors of tiles but the outermost one, which
/// follows from the others, and every other decision.
inline std::vector<knob> knobs_of(const trace& t) {
  std::vector<knob> out;
  const std::vector<std::size_t> at = choices(t);
  for (std::size_t c = 0; c < at.size(); ++c) {
    const std::size_t factors = t[at[c]].choice.size();
    for (std::size_t k = factors > 1 ? 1 : 0; k < factors; ++k) out.push_back({c, k});
  }
  return out;
}

/// The trace with one number a step larger or smaller, the others left alone as far as that can be;
/// nothing where it is at its end.
inline std::optional<trace> turned(const trace& t, const knob& k, bool up, const ir::function& f) {
  const std::vector<std::size_t> at = choices(t);
  if (k.choice >= at.size()) return std::nullopt;
  const std::size_t i = at[k.choice];
  const decision& now = t[i].choice;
  if (k.factor >= now.size()) return std::nullopt;
  const decision* best = nullptr;
  std::pair<std::size_t, std::int64_t> least;
  const std::vector<decision> all = decisions_beside(t, i, f);
  for (const decision& d : all) {
    const std::int64_t moved = up ? d[k.factor] - now[k.factor] : now[k.factor] - d[k.factor];
    if (moved <= 0) continue;
    std::size_t others = 0;  // numbers that change beside this one, but for the inferred one
    for (std::size_t j = 1; j < d.size(); ++j) others += j != k.factor && d[j] != now[j] ? 1 : 0;
    const std::pair<std::size_t, std::int64_t> here{others, moved};
    if (!best || here < least) {
      best = &d;
      least = here;
    }
  }
  if (!best) return std::nullopt;
  return t.with_decision(i, *best);
}

}  // namespace tilewright::search::detail
