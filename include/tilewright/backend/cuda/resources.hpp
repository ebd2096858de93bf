// What the assembler of NVIDIA says that kernels need, and which kernels are not worth starting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/config.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::backend::cuda {

/// One kernel's needs.
struct kernel_resources {
  std::string symbol;
  int registers = 0;               // of a thread
  int barriers = 0;                // of a block
  std::int64_t frame_bytes = 0;    // of a thread: arrays that found no registers
  std::int64_t spilled_bytes = 0;  // of a thread, stored and loaded
  std::int64_t static_shared_bytes = 0;
};

/// The report in the log of a compilation with the option "-Xptxas=-v".
struct resource_report {
  std::vector<kernel_resources> kernels;
  std::vector<std::string>
      advisories;  // lines with a number C75xx: code that does not do what it asks for

  /// The kernel of that name; null when the report has none.
  const kernel_resources* find(std::string_view symbol) const;
};
resource_report parse_resources(std::string_view log);

/// What a kernel may need.
struct resource_limits {
  std::int64_t spilled_bytes = 64;
  std::int64_t frame_bytes = 0;
  bool advisories = false;  // kernels with advisories are taken
};

/// Why a launch is not worth starting on the device: spills, a frame, more registers than a
/// multiprocessor has, more threads or shared memory than a block may have, advisories. Empty: it is.
std::string why_rejected(const launch& l, const resource_report& report, const target::gpu& device,
                         const resource_limits& limits = {});

}  // namespace tilewright::backend::cuda
