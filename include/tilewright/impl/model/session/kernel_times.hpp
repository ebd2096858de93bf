// Times of a network's kernels as a database knows them.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::network::detail {

/// Which records count: times on the threads that a kernel runs on, or on fewer. The latter rank alternatives
/// as long as nothing was tuned for these; both are not added up.
enum class timed_on { its_threads, fewer_threads };

/// Seconds of a kernel; nothing where they are not known.
inline std::optional<double> seconds_of(const search::workload& w, const search::database& db,
                                        timed_on threads) {
  if (threads == timed_on::fewer_threads) {
    const std::vector<search::record> found = search::detail::records_of_fewer_threads(w, db, 1);
    return found.empty() ? std::nullopt : std::optional(found.front().best());
  }
  const std::optional<search::record> found = db.chosen(w.key);
  return found ? std::optional(found->best()) : std::nullopt;
}

/// Of all kernels of a program; infinite where one is not known.
inline double seconds_of(const executable& program, const search::database& db, timed_on threads) {
  double out = 0;
  for (std::size_t k = 0; k < program.launches().size(); ++k)
    out +=
        seconds_of(program.task(k), db, threads).value_or(std::numeric_limits<double>::infinity());
  return out;
}

}  // namespace tilewright::network::detail
