// The part of NVRTC, NVIDIA's run-time compiler, that the library uses: prototypes and constants,
// opened at run time.
//
// No header of CUDA is included. A test compares every prototype and constant below with the real
// header where it is installed. Only what CUDA 11.3 to 13 share stands here; what came later may be
// null.
#pragma once

#include <cstddef>
#include <string>

#include <tilewright/config.hpp>

namespace tilewright::backend::cuda {

using nvrtc_program = struct opaque_nvrtc_program*;

/// nvrtcResult.
inline constexpr int nvrtc_success = 0;
inline constexpr int nvrtc_compilation = 6;

/// Functions of NVRTC without their prefix "nvrtc".
struct nvrtc_api {
  int (*Version)(int*, int*) = nullptr;
  const char* (*GetErrorString)(int) = nullptr;
  int (*CreateProgram)(nvrtc_program*, const char*, const char*, int, const char* const*,
                       const char* const*) = nullptr;
  int (*DestroyProgram)(nvrtc_program*) = nullptr;
  int (*CompileProgram)(nvrtc_program, int, const char* const*) = nullptr;
  int (*GetProgramLogSize)(nvrtc_program, std::size_t*) = nullptr;
  int (*GetProgramLog)(nvrtc_program, char*) = nullptr;
  int (*GetCUBINSize)(nvrtc_program, std::size_t*) = nullptr;
  int (*GetCUBIN)(nvrtc_program, char*) = nullptr;
  int (*GetNumSupportedArchs)(int*) = nullptr;
  int (*GetSupportedArchs)(int*) = nullptr;
  /// Since CUDA 13: null before. A callback that returns 1 ends the compilation.
  int (*SetFlowCallback)(nvrtc_program, int (*)(void*, void*), void*) = nullptr;

  /// Calls f(name, pointer, is_optional) for every function above.
  template <class F>
  void visit(F&& f) {
    f("Version", Version, false);
    f("GetErrorString", GetErrorString, false);
    f("CreateProgram", CreateProgram, false);
    f("DestroyProgram", DestroyProgram, false);
    f("CompileProgram", CompileProgram, false);
    f("GetProgramLogSize", GetProgramLogSize, false);
    f("GetProgramLog", GetProgramLog, false);
    f("GetCUBINSize", GetCUBINSize, false);
    f("GetCUBIN", GetCUBIN, false);
    f("GetNumSupportedArchs", GetNumSupportedArchs, false);
    f("GetSupportedArchs", GetSupportedArchs, false);
    f("SetFlowCallback", SetFlowCallback, true);
  }
};

/// The table of the process, opened at first use and kept until it ends.
/// @throws build_error naming the libraries tried and what to install
const nvrtc_api& nvrtc();

/// "13.0".
/// @throws as `nvrtc`
std::string nvrtc_version();

}  // namespace tilewright::backend::cuda
