// Stage hopper: what sm_90a alone has, products of warp groups and the copy engine.
#include <cstdio>

#include "../cases/box_functions.hpp"
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
  for (const auto& functions : {gpu_conformance::of_groups(), gpu_conformance::box_functions()})
    for (const gpu_conformance::entry& e : functions) once(e.name, [&] { return conform(e); });
  for (const gpu_corpus::entry& e : gpu_groups::small())
    once(e.name + "_small", [&] { return verify(e); });
  const gpu_corpus::entry boxed = gpu_corpus::boxed_matmul(128, 256, 320);
  once(boxed.name + "_small", [&] { return verify(boxed); });
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    for (const char* name : {"F16_4096", "BF16_4096", "F16_8192", "F16_1024"})
      if (w.what.name == name) once(w.what.name, [&] { return time_candidates(w.what); });
  for (const gpu_corpus::entry& e : gpu_groups::large())
    once(e.name, [&] { return time_entry(e); });
  return summary();
}

}  // namespace gpu_stage
