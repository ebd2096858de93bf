// Whether kernels can be compiled for and started on a GPU, and if not, why.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::cuda {

/// What a machine has.
enum class state {
  ready,       // compiler, driver and device
  no_toolkit,  // NVRTC cannot be opened: nothing can be compiled; a driver may be there
  no_driver,   // the driver's library cannot be opened
  stub,        // the library that opened is the toolkit's stub for linking, which does nothing
  no_device,   // a driver, but no device that it may use
  old_driver,  // the driver is older than the compiler's code needs
  failed       // the driver answered with an error of another kind
};

/// The answer, and for people the reason and the remedy.
struct availability {
  cuda::state state = cuda::state::ready;
  std::string reason;  // empty when ready
  explicit operator bool() const noexcept { return state == cuda::state::ready; }
};

/// What this process can do, asked once: opens NVRTC and the driver, and starts the driver, which a
/// process must not do before it forks.
const availability& available();

/// A GPU that code is made for, by its name.
struct named_device {
  target::gpu gpu;
  std::string missing;  // why its code cannot be started here; empty where it can
};

/// The GPU of that name: one of target::known_gpu_names(), or "cuda" for this machine's, in the place of
/// which sm_90a stands where there is none. Nothing for any other name.
std::optional<named_device> find_device(std::string_view name);

/// Versions of what makes and runs code here: "NVRTC 13.0, driver 13.0"; what cannot be opened is
/// left out.
std::string toolchain();

}  // namespace tilewright::cuda
