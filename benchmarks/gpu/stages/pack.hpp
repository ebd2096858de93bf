// A folder with all that the GPU program runs: itself, code for the architectures, expected bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>

namespace gpu_pack {

struct options {
  std::vector<std::string> architectures{"sm_90a", "sm_80"};
  int candidates = 4;    // of each workload, the default schedule among them
  double seconds = 600;  // after which no further candidate is compiled
  double deadline = 15;  // s for the compilation of a candidate
  double patience = 60;  // s for that of a default schedule
};

/// Fills the folder. Default schedules of all workloads come first, then candidates in turn, as long as
/// there is time. What cannot be compiled is said and left out.
void make(const std::filesystem::path& folder, const std::filesystem::path& self, const options& o);

/// Where code lies; of a workload the candidate with that number, 0 the default schedule.
std::filesystem::path code_file(const std::filesystem::path& folder, const std::string& name,
                                const std::string& architecture);
/// Where its schedule lies, as `tilewright apply` reads it.
std::filesystem::path trace_file(const std::filesystem::path& folder, const std::string& name,
                                 const std::string& architecture);
std::string candidate_name(const std::string& workload, int i);
inline constexpr int most_candidates = 1000;
/// The number of the one that a tuning session on this machine has found.
inline constexpr int tuned_candidate = 999;

/// Writes code where `read_code` finds it.
void write_code(const std::filesystem::path& folder, const std::string& name,
                const std::string& architecture, const tilewright::backend::artifact& code);

/// @throws argument_error when the file is not there
std::vector<std::byte> read_bytes(const std::filesystem::path& path);
tilewright::backend::artifact read_code(const std::filesystem::path& folder,
                                        const std::string& name, const std::string& architecture);

}  // namespace gpu_pack
