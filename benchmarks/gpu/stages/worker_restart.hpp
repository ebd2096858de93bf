// A worker whose kernel makes an illegal access, or does not end, and the one that takes its place.
#pragma once

#include <string>

#include <tilewright/backend/artifact.hpp>

namespace gpu_workers {

/// How it went.
struct restart {
  bool fine = false;   // each run ended as it should, and each failure took one process
  std::string fields;  // of a line: seconds of the first start, of a failure, of a restart
};

/// Three failures in turns with runs that are fine. A restart counts from the failure's end to the end of the next
/// run, less what such a run takes anyway.
/// @param harmful, harmless  kernels of two parameters, f32, of 1024 elements
/// @param expected           of the failure: "fault", "timeout"
/// @param deadline           s, of a run
/// @throws tilewright::build_error when no worker starts
restart restart_after(const tilewright::backend::artifact& harmful,
                      const tilewright::backend::artifact& harmless, const std::string& expected,
                      double deadline);

}  // namespace gpu_workers
