#include "search_models.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "few_shots.hpp"
#include "search_contestants.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

using namespace tilewright;
using clock_type = std::chrono::steady_clock;

void print(const contestant& who, const few_shots& all, const few_shots* against, double seconds) {
  for (const std::size_t n : few_shots::counts) {
    const few_shots::quality& q = all.after(n);
    std::printf("%-26s %2zu  pairs %s  told apart %s  top-1 %s  top-8 %s  MSE %.4f  MSE(D) %.4f",
                who.name, n, bootstrapped(q.pairs).text().c_str(),
                bootstrapped(q.told).text().c_str(), bootstrapped(q.top1).text().c_str(),
                bootstrapped(q.top8).text().c_str(), bootstrapped(q.error).mean,
                bootstrapped(q.error_of_fast).mean);
    if (against)
      std::printf("  pairs - (b) %s p %.3f",
                  paired(q.pairs, against->after(n).pairs).text().c_str(),
                  wilcoxon(q.pairs, against->after(n).pairs));
    std::printf("\n");
  }
  std::printf("%-26s %.1f s\n", who.name, seconds);
  std::fflush(stdout);
}

}  // namespace

int run_models(const std::string& file, std::size_t most, std::uint64_t seeds,
               const std::string& only) {
  std::vector<ranked_workload> held;
  std::vector<cost::sample> others;
  std::vector<ranked_workload> train;
  for (const recorded_workload& w : recorded_workloads(file)) {
    ranked_workload r = ranked(w, w.held_out() ? 4 * most : most);
    if (r.held_out && r.samples.size() >= most_shots + 16) held.push_back(std::move(r));
    // a move of the vector keeps its elements, and so the pointers to them
    else if (!r.held_out && r.samples.size() >= 16)
      train.push_back(std::move(r));
  }
  if (held.empty() || train.empty()) {
    std::fprintf(stderr, "%s has no held-out workload of %zu programs, or none to train on\n",
                 file.c_str(), most_shots + 16);
    return 2;
  }
  for (const ranked_workload& r : train)
    others.insert(others.end(), r.samples.begin(), r.samples.end());
  std::printf(
      "%zu workloads to train on, at most %zu programs of each; %zu held-out ones; mean "
      "[95%% of bootstrapped means over workloads] of %d orders\n",
      train.size(), most, held.size(), static_cast<int>(seeds));
  std::map<std::string, few_shots> results;
  for (const contestant& who : contestants()) {
    if (std::string_view(who.name).find(only) == std::string_view::npos) continue;
    few_shots& by_shots = results[who.name];
    const auto start = clock_type::now();
    const std::string text = who.make ? who.make(others, 42)->save() : std::string();
    for (const ranked_workload& w : held) {
      by_shots.begin_workload();
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::shared_ptr<cost::model> m = who.blank(seed);
        if (who.make) m->load(text);
        by_shots.meet(*m, w, seed, 1 / static_cast<double>(seeds));
      }
    }
    const auto base = results.find("network, pretrained (b)");
    print(who, by_shots,
          base == results.end() || &base->second == &by_shots ? nullptr : &base->second,
          std::chrono::duration<double>(clock_type::now() - start).count());
  }
  return 0;
}

}  // namespace bench
