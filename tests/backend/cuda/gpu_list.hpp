// Members of a space for GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/search/candidate.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace gpu_list {

using namespace tilewright;

inline const space::context& machine() {
  static const target::gpu gpu = target::named_gpu("sm_80");
  static const space::context where{&gpu, 1};
  return where;
}

/// Members of the list's sketches, finished, `count` of them where so many are found.
inline std::vector<schedule> members(const ir::function& f, int count,
                                     const space::design_space& list,
                                     std::uint64_t first_seed = 1) {
  const std::vector<schedule> sketches = list.sketches(f, machine(), 7);
  std::vector<schedule> out;
  for (std::uint64_t seed = first_seed; out.size() < static_cast<std::size_t>(count) &&
                                        seed < first_seed + 200 * static_cast<std::uint64_t>(count);
       ++seed) {
    const trace family = sketches[seed % sketches.size()].trace().without_decisions();
    auto member = search::replay(family, f, seed);
    if (!member) continue;
    try {
      list.finish(member->scheduled, machine());
    } catch (const schedule_error&) {
      continue;
    }
    out.push_back(member->scheduled);
  }
  return out;
}

/// Members of one sketch, finished, `count` of them where so many are found.
inline std::vector<schedule> members_of(const ir::function& f, const schedule& sketch, int count,
                                        const space::design_space& list,
                                        const space::context& where = machine()) {
  std::vector<schedule> out;
  for (std::uint64_t seed = 1; seed < 400 && out.size() < static_cast<std::size_t>(count); ++seed) {
    auto member = search::replay(sketch.trace().without_decisions(), f, seed);
    if (!member) continue;
    try {
      list.finish(member->scheduled, where);
      out.push_back(member->scheduled);
    } catch (const schedule_error&) {
    }
  }
  return out;
}

/// MetaSchedule's list; the kernels of tests are small, so any number of threads will do.
inline space::design_space rules() { return space::metaschedule_cuda(1); }

}  // namespace gpu_list
