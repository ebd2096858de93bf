#include "default_cases.hpp"

#include <utility>

#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>

#include "attention_workloads.hpp"
#include "tensor_workloads.hpp"
#include "workloads.hpp"

namespace gpu_defaults {

using namespace tilewright;

std::vector<gpu_corpus::entry> cases() {
  std::vector<gpu_workloads::workload> all = gpu_workloads::small();
  for (gpu_workloads::workload& w : gpu_workloads::small_tensor_products())
    all.push_back(std::move(w));
  for (gpu_workloads::workload& w : gpu_workloads::small_attention()) all.push_back(std::move(w));
  std::vector<gpu_corpus::entry> out;
  for (gpu_workloads::workload& w : all) {
    gpu_corpus::entry e;
    e.name = "default_" + w.name;
    e.written = std::move(w.function);
    e.tolerance = 1e-5 * (1 + w.terms / 64.0) + 2 * w.rounding;
    out.push_back(std::move(e));
  }
  return out;
}

ir::function scheduled(const gpu_corpus::entry& e, const target::gpu& device) {
  return search::default_schedule(e.written, space::default_gpu(), {&device, 1}, 1).function();
}

}  // namespace gpu_defaults
