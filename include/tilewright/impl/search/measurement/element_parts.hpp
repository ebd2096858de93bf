// Work on the elements of large arguments, spread over the cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <tilewright/support/thread.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

/// How elements are divided, whatever the number of threads: what is added up part by part comes to the same sum
/// everywhere.
inline constexpr std::size_t elements_of_part = std::size_t{1} << 18;

inline std::size_t parts_of(std::size_t elements) {
  return (elements + elements_of_part - 1) / elements_of_part;
}

/// Calls `work(part, first, end)` for each part of `elements` elements, which throws nothing. Few parts are done
/// by this thread alone.
template <class Work>
void in_parts(std::size_t elements, const Work& work) {
  constexpr std::size_t worth_a_thread = 4;  // parts
  const std::size_t parts = parts_of(elements);
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t p = next++; p < parts; p = next++)
      work(p, p * elements_of_part, std::min(elements, (p + 1) * elements_of_part));
  };
  const std::size_t threads =
      std::min(parts / worth_a_thread, static_cast<std::size_t>(std::max(target::host().cores, 1)));
  std::vector<std::thread> helpers;
  for (std::size_t t = 1; t < threads; ++t) {
    helpers.push_back(support::start_thread(take));
    if (helpers.back().joinable()) continue;
    helpers.pop_back();  // no more are to be had
    break;
  }
  take();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace tilewright::search::detail
