// The schedule by which a kernel of a network runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network::detail {

/// The schedule that was chosen, or what becomes of that for fewer threads, or the default one.
inline schedule chosen_schedule(const search::workload& w, const search::database& db,
                                std::uint64_t seed) {
  std::string why;
  if (const auto hit = db.chosen(w.key)) try {
      if (auto c = search::replay(search::by_name(trace::parse(hit->trace), w.function), w.function,
                                  seed, &why))
        return std::move(c->scheduled);
    } catch (const argument_error&) {  // a trace of another version
    }
  std::vector<search::candidate> spread = search::detail::spread_over_threads(w, db, 1, seed);
  if (!spread.empty()) return std::move(spread.front().scheduled);
  return search::default_schedule(w.function, w.space, {w.machine, w.exec->threads}, seed);
}

}  // namespace tilewright::network::detail
