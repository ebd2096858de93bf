// The candidates of one workload that a pack has, on a device.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/device.hpp>

#include "../device_clock.hpp"

namespace gpu_candidates {

namespace cu = tilewright::backend::cuda;

/// A candidate and what it needs beside its arguments.
struct loaded_code {
  cu::device_code code;
  cu::device_memory workspace;

  loaded_code(const cu::device& on, const tilewright::backend::artifact& a)
      : code(on, a), workspace(on, static_cast<std::size_t>(code.workspace_bytes())) {}
  /// Starts it on arguments that lie at `data`. Both outlive what is returned.
  gpu_time::starter starter(const std::vector<void*>& data) const {
    return
        [this, &data](cu::stream_ref on) { code.start(data.data(), nullptr, workspace.get(), on); };
  }
};

/// What a short look at a candidate says.
struct glance {
  int number;
  double seconds;
};

class packed_code {
 public:
  packed_code(const cu::device& on, std::filesystem::path pack, std::string workload,
              std::string architecture);

  /// Of the candidates in the pack, the default schedule first.
  const std::vector<int>& numbers() const noexcept { return numbers_; }
  std::unique_ptr<loaded_code> load(int number) const { return load(std::to_string(number)); }
  /// By a number, or by the name of a schedule that was written for the workload.
  std::unique_ptr<loaded_code> load(const std::string& name) const;
  bool has(const std::string& name) const;
  /// Looks at all candidates, or as many as `late` leaves time for. @returns the fastest first
  std::vector<glance> look_at_all(const gpu_time::device_clock& clock,
                                  const std::vector<void*>& data,
                                  const std::function<bool()>& late) const;

 private:
  const cu::device& on_;
  std::filesystem::path pack_;
  std::string workload_, architecture_;
  std::vector<int> numbers_;
};

/// "3:8.25 0:12.5", numbers and microseconds.
std::string text(const std::vector<glance>& all);

}  // namespace gpu_candidates
