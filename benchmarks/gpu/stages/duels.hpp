// The fastest kernel of ours and what others have for the same, in turns on one device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>

#include "../case_memory.hpp"
#include "../device_clock.hpp"
#include "../peers/cublas.hpp"
#include "../peers/cudnn.hpp"
#include "../peers/peer_process.hpp"
#include "../workloads.hpp"
#include "packed_code.hpp"

namespace gpu_duels {

namespace cu = tilewright::backend::cuda;

/// Each of the library's algorithms for a product, as it is started on A, B and C.
std::vector<gpu_time::starter> starters_of(const gpu_cublas::product& product, void* const* data);

/// Peers of one stage. What they give are fields of a line, each after a comma: seconds of a run, how often
/// ours fits into that (`of_NAME`), how far their results are off, or why there are none.
class duels {
 public:
  /// @param python  what starts the peers that are Python's; empty for none
  duels(const cu::device& on, const gpu_time::device_clock& clock, std::string stage,
        std::vector<std::string> python)
      : on_(on), clock_(clock), stage_(std::move(stage)), python_(std::move(python)) {}

  /// The default schedule against those that were written for the workload and lie in the pack; `of_NAME` is how often
  /// the default fits into that one's time. Results that are off by more than `tolerance` are said, and not timed.
  std::string against_written(const gpu_workloads::workload& w, gpu_case::case_memory& memory,
                              const gpu_candidates::packed_code& packed, double tolerance,
                              const std::function<double()>& seconds_left) const;

  /// Our winner against all that know the workload; none is begun without a second left.
  std::string against_all(const gpu_workloads::workload& w, gpu_case::case_memory& memory,
                          const gpu_time::starter& winner,
                          const std::function<double()>& seconds_left);

 private:
  std::string against_cublas(const gpu_workloads::workload& w, gpu_case::case_memory& memory,
                             const gpu_time::starter& winner) const;
  std::string against_cudnn(const gpu_workloads::workload& w, gpu_case::case_memory& memory,
                            const gpu_time::starter& winner) const;
  std::string against_python(const std::string& name, const std::string& peer,
                             const gpu_time::starter& winner, double seconds);

  const cu::device& on_;
  const gpu_time::device_clock& clock_;
  std::string stage_;
  gpu_peers::python_peers python_;
};

}  // namespace gpu_duels
