#include "turns.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

namespace bench {
namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processor time of all threads but this one; s.
double seconds_of_others() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

void wait_for_workers() {
  // a thread's time is counted when the kernel's timer ticks, every 4 ms, or 10
  constexpr auto ticks = std::chrono::milliseconds(12);
  constexpr double asleep = 1e-3;  // s in that time
  static double known = 0;
  double before = seconds_of_others();
  if (before - known < asleep) return;
  for (int tries = 0; tries < 25; ++tries) {
    std::this_thread::sleep_for(ticks);
    known = seconds_of_others();
    if (known - before < asleep) return;
    before = known;
  }
}

void take_turns(std::vector<engine>& engines, bool warm) {
  using clock = std::chrono::steady_clock;
  double spent = 0;
  for (int round = 0; round < 5 || (round < 200 && spent < 2); ++round)
    for (engine& e : engines) {
      wait_for_workers();
      for (int calls = 0; warm && calls < 4; ++calls) {
        const auto before = clock::now();
        e.run();
        if (clock::now() - before > std::chrono::milliseconds(2)) break;
      }
      const auto start = clock::now();
      const double told = e.timed ? e.timed() : (e.run(), 0.0);
      const double around = std::chrono::duration<double>(clock::now() - start).count();
      e.seconds.push_back(e.timed ? told : around);
      spent += e.seconds.back();
    }
  for (engine& e : engines) std::sort(e.seconds.begin(), e.seconds.end());
}

void summary::add(const std::string& peer, double ratio) {
  entry& e = all_[peer];
  e.logs += std::log(ratio);
  e.least = e.count == 0 ? ratio : std::min(e.least, ratio);
  ++e.count;
}

void summary::print() const {
  for (const auto& [peer, e] : all_)
    std::printf("over %-12s geometric mean %.2f, least %.2f, of %d\n", peer.c_str(),
                std::exp(e.logs / e.count), e.least, e.count);
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> out(1);
  for (const char letter : list) {
    if (letter == ',')
      out.emplace_back();
    else
      out.back() += letter;
  }
  return out;
}

}  // namespace bench
