// Where NVRTC and the driver are looked for; inline, so that a test can look elsewhere.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <glob.h>

#include <tilewright/support/dynamic_library.hpp>

namespace tilewright::backend::cuda::detail {

/// Files of that name in folders of NVIDIA's Python packages: of the environment that is active, the user's,
/// the machine's.
inline std::vector<std::string> in_python_packages(const std::string& file) {
  std::vector<std::string> roots, out;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* root = std::getenv(variable); root && *root) roots.emplace_back(root);
  if (const char* home = std::getenv("HOME"); home && *home)
    roots.push_back(home + std::string("/.local"));
  roots.emplace_back("/usr/local");
  roots.emplace_back("/usr");
  for (const std::string& root : roots)
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const std::string pattern = root + "/lib/python3*/" + packages + "/nvidia/*/lib/" + file;
      glob_t found{};
      if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
        out.insert(out.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
      ::globfree(&found);
    }
  return out;
}

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
  for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"})
    for (std::string& found : in_python_packages(file)) out.names.push_back(std::move(found));
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
