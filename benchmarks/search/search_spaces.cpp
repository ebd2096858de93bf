#include "search_spaces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/target/cpu.hpp>

#include "search_data.hpp"

namespace bench {

using namespace tilewright;

namespace {

constexpr std::array names{"default_cpu", "metaschedule_cpu"};
constexpr std::array<std::string_view, 7> large{"gemm256", "gemm240", "scores4", "batch",
                                                "conv3x3", "conv7x7", "conv1x1"};

search::tuning_result session(const recorded_workload& of, const char* space, int trials,
                              std::uint64_t seed) {
  search::workload w;
  w.function = of.task().function;
  w.key = {ir::workload_key(w.function).hex(), "bench", "", 1};
  w.family = of.name();
  w.machine = target::host();
  w.exec = &backend::serial_executor();
  w.space = space::find_space(space);
  search::session_options o;
  o.seconds = 1e6;
  o.trials = trials;
  o.seed = seed;
  search::database db(":memory:");
  return search::tune(w, o, db);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int compare_spaces(const space_comparison& o) {
  double logarithms = 0;
  std::size_t met = 0;
  for (const recorded_workload& w : recorded_workloads("", selection::curves)) {
    const bool chosen = std::find(large.begin(), large.end(), w.name()) != large.end();
    if (o.only.empty() ? !chosen : w.name() != o.only) continue;
    ++met;
    std::vector<double> ratios;
    for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
      double best[names.size()];  // s
      for (std::size_t k = 0; k < names.size(); ++k) {
        const std::size_t which = (k + seed) % names.size();  // neither is always the first
        const search::tuning_result r = session(w, names[which], o.trials, seed);
        best[which] = r.best;
        std::printf("%-10s seed %d %-18s %d trials, best %.4g us, default schedule %.4g us\n",
                    w.name().c_str(), static_cast<int>(seed), names[which], r.trials, r.best * 1e6,
                    r.baseline * 1e6);
        std::fflush(stdout);
      }
      ratios.push_back(best[0] / best[1]);
    }
    const double middle = median(ratios);
    const auto [least, largest] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("%-10s default / metaschedule %.3f (%.3f to %.3f)\n", w.name().c_str(), middle,
                *least, *largest);
    logarithms += std::log(middle);
  }
  if (met == 0) {
    std::fprintf(stderr, "there is no workload %s\n", o.only.c_str());
    return 2;
  }
  std::printf("geometric mean of %zu workloads: default / metaschedule %.3f\n", met,
              std::exp(logarithms / static_cast<double>(met)));
  return 0;
}

}  // namespace bench
