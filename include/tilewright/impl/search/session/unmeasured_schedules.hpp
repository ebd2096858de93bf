// Schedules for a call where nothing was measured, as many as it takes until one can be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// Calls `take` with schedules until it returns true, and says whether it did: the default one, then the sketches
/// of the space as they stand. Post-processing writes loops out, for which a GPU may have too few registers.
template <class Take>
bool take_unmeasured(const workload& w, std::uint64_t seed, const Take& take) {
  const space::context where{w.machine, w.exec->threads};
  if (take(default_schedule(w.function, w.space, where, seed))) return true;
  try {
    for (const schedule& s : w.space.sketches(w.function, where, seed))
      if (take(s)) return true;
  } catch (const schedule_error&) {  // a space that does not fit the program
  }
  return false;
}

/// Code of the default schedule, or on a GPU of the first sketch that `make` builds, which takes its place in `first`.
/// @throws build_error when there is none
template <class Make>
built build_unmeasured(schedule& first, const std::vector<schedule>& sketches, const workload& w,
                       const Make& make) {
  built out = make(first);
  const std::string refused = out.error;
  for (std::size_t k = 0; !out && w.machine.gpu && k < sketches.size(); ++k) {
    first = sketches[k];
    out = make(first);
  }
  if (!out) throw build_error("the default schedule cannot be compiled: " + refused);
  return out;
}

}  // namespace tilewright::search::detail
