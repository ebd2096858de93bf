// Where NVRTC and the driver are looked for; inline, so that a test can look elsewhere.
#pragma once

#include <cstdlib>
#include <string>

#include <tilewright/support/dynamic_library.hpp>

namespace tilewright::backend::cuda::detail {

inline support::dynamic_library::spec nvrtc_names() {
  support::dynamic_library::spec out{
      "NVRTC",
      "TILEWRIGHT_NVRTC",
      {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
      "install a CUDA toolkit of version 11.3 to 13, or the Python package nvidia-cuda-nvrtc; or "
      "set "
      "TILEWRIGHT_NVRTC to the path of a libnvrtc"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root)
      for (const char* folder : {"/lib64/libnvrtc.so", "/lib/libnvrtc.so"})
        out.names.push_back(root + std::string(folder));
  for (const char* folder : {"lib64", "lib"})
    out.names.push_back("/usr/local/cuda/" + std::string(folder) + "/libnvrtc.so");
  return out;
}

/// Never "libcuda.so": that is the stub that programs are linked with.
inline support::dynamic_library::spec driver_names() {
  return {"the CUDA driver",
          "TILEWRIGHT_CUDA_DRIVER",
          {"libcuda.so.1"},
          "install NVIDIA's driver; or set TILEWRIGHT_CUDA_DRIVER to the path of a libcuda.so.1"};
}

}  // namespace tilewright::backend::cuda::detail
