// Which sketch of a space runs when nothing was measured.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// The first of the sketches that post-processing accepts, post-processed; else the program.
inline schedule first_of(const std::vector<schedule>& sketches, const space::design_space& space,
                         const space::context& where, const ir::function& f, std::uint64_t seed) {
  for (const schedule& sketch : sketches) {
    try {
      schedule out = sketch;
      space.finish(out, where);
      return out;
    } catch (const schedule_error&) {  // the next one may do
    }
  }
  return schedule(f, seed);
}

}  // namespace tilewright::search::detail
