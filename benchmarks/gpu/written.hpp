// Schedules of workloads that somebody wrote, for a device to compare with what runs unmeasured: those that were
// faster than it once, what ran before it changed, and what counts say may be better.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/space.hpp>

namespace gpu_written {

struct entry {
  std::string workload;
  std::string name;  // of the schedule, a word
  std::function<tilewright::schedule(const tilewright::ir::function&,
                                     const tilewright::space::context&)>
      make;
  bool in_groups = false;  // by warp groups, which sm_90a alone has; stage hopper times these
};

/// All of them, those of one workload beside each other.
std::vector<entry> all();

/// What the code of a schedule is called in a pack.
inline std::string code_name(const entry& e) { return e.workload + "." + e.name; }

}  // namespace gpu_written
