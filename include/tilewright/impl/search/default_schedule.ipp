// The schedule that runs when nothing was measured; declared in session.hpp.
#pragma once

#include <tilewright/impl/search/session/first_sketch.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE schedule default_schedule(const ir::function& f, const space::design_space& s,
                                            const space::context& where, std::uint64_t seed) {
  try {
    if (s) {
      return detail::first_of(s.sketches(f, where, seed), s, where, f, seed);
    }
  } catch (const schedule_error&) {  // a space that does not fit the program
  }
  return schedule(f, seed);
}

}  // namespace tilewright::search
