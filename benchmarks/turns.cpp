#include "turns.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace bench {

void take_turns(std::vector<engine>& engines, bool warm) {
  using clock = std::chrono::steady_clock;
  double spent = 0;
  for (int round = 0; round < 5 || (round < 200 && spent < 2); ++round)
    for (engine& e : engines) {
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
