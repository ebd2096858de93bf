// Tuning sessions of the library on the GPU of this machine, and how fast they come to what they find.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/target/gpu.hpp>

#include "../workloads.hpp"

namespace gpu_sessions {

/// The best time of a session while it goes on.
class curve {
 public:
  /// @param elapsed s, rising
  /// @param best    s, of a run, falling
  void note(double elapsed, double best);
  /// Fields of a line: the best time after 1, 2, 5, 10, 20, 30 and 60 s, as far as the session came, and
  /// when the best time was within 5 % of the last one. No field without a time.
  std::string fields() const;

 private:
  std::vector<std::pair<double, double>> steps_;  // (elapsed, best), where it became better
  double last_ = 0;                               // s, elapsed
};

/// What a session gives.
struct session {
  std::string fields;  // of a line: times, candidates, failures by kind
  std::string trace;   // of the winner
  tilewright::backend::artifact code;
  double seconds = 0;  // of a run of it
};

/// One session of that many seconds: NVRTC compiles on all cores, a worker runs.
/// @param database  where its records go, ":memory:" for nowhere
/// @throws tilewright::error when not even the default schedule can be timed
session run(const gpu_workloads::workload& w, const tilewright::space::design_space& space,
            const tilewright::target::gpu& where, double seconds, std::uint64_t seed,
            const std::string& database);

}  // namespace gpu_sessions
