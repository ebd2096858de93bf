// The sketches of a space, and which of them runs when nothing was measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/impl/search/session/likely_algorithm.hpp>
#include <tilewright/impl/search/session/trace_algorithm.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/term_order.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// The sketches of a space; the program alone where it has none, or fails, which is a remark.
inline std::vector<schedule> sketches_of(const space::design_space& space,
                                         const space::context& where, const ir::function& f,
                                         std::uint64_t seed, std::vector<std::string>& remarks) {
  std::vector<schedule> out;
  try {
    if (space) out = space.sketches(f, where, seed);
  } catch (const schedule_error& e) {
    remarks.push_back(std::string("the space failed: ") + e.what());
  }
  if (out.empty()) out.emplace_back(f, seed);
  return out;
}

/// The sketches in the order in which they are tried where nothing was measured: those of the algorithm that is expected
/// to be the fastest come first.
inline std::vector<const schedule*> by_expectation(const std::vector<schedule>& sketches,
                                                   const space::context& where,
                                                   const ir::function& f) {
  std::vector<const schedule*> out, others;
  const bool several = where.cpu && ir::has_alternatives(f);
  const std::string likely = several ? likely_algorithm(f, *where.cpu) : f.name;
  for (const schedule& s : sketches)
    (likely == f.name || chosen_algorithm(s.trace()).name == likely ? out : others).push_back(&s);
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

/// The first of the sketches that post-processing accepts, post-processed; else the program.
inline schedule first_of(const std::vector<schedule>& sketches, const space::design_space& space,
                         const space::context& where, const ir::function& f, std::uint64_t seed) {
  for (const schedule* sketch : by_expectation(sketches, where, f)) {
    try {
      schedule out = *sketch;
      space.finish(out, where);
      check_term_order(out, f);
      return out;
    } catch (const schedule_error&) {  // the next one may do
    }
  }
  return schedule(f, seed);
}

}  // namespace tilewright::search::detail
