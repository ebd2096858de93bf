// Work in parts on all cores of the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <tilewright/target/cpu.hpp>

namespace gpu_case {

/// How many threads work on `parts` parts.
inline std::size_t threads_for(std::size_t parts) {
  return std::max<std::size_t>(
      1, std::min(static_cast<std::size_t>(tilewright::target::host().cores), parts));
}

/// Calls `work(next)` on as many threads as are of use; `next()` gives each part once, then `parts` or more. What the work
/// throws ends the program.
template <class Work>
void on_all_cores(std::size_t parts, const Work& work) {
  std::atomic<std::size_t> given{0};
  const auto next = [&] { return given++; };
  std::vector<std::thread> others;
  for (std::size_t n = threads_for(parts); n > 1; --n) others.emplace_back([&] { work(next); });
  work(next);
  for (std::thread& t : others) t.join();
}

}  // namespace gpu_case
