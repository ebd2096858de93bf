// Stage hopper: what sm_90a alone has.
#include <cstdio>

#include "../cases/group_products.hpp"
#include "../tensor_workloads.hpp"
#include "stage.hpp"

namespace gpu_stage {

int stage::run_hopper() {
  if (arch_ != "sm_90a") {
    std::printf("skipped: %s has no products of warp groups, which sm_90a has\n",
                device_.name().c_str());
    return 0;
  }
  describe_machine();
  for (const gpu_conformance::entry& e : gpu_conformance::of_groups())
    once(e.name, [&] { return conform(e); });
  for (const gpu_corpus::entry& e : gpu_groups::small())
    once(e.name + "_small", [&] { return verify(e); });
  for (const gpu_corpus::entry& e : gpu_groups::large())
    once(e.name, [&] { return time_entry(e); });
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    for (const char* name : {"F16_4096", "BF16_4096", "F16_8192", "F16_1024"})
      if (w.what.name == name) once(w.what.name, [&] { return time_candidates(w.what); });
  return summary();
}

}  // namespace gpu_stage
