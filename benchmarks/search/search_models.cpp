#include "search_models.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include <tilewright/cost/ensemble.hpp>
#include <tilewright/cost/graph_network.hpp>
#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/learning.hpp>

#include "search_data.hpp"

namespace bench {
namespace {

using namespace tilewright;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t shots[] = {0, 8, 32, 64};

/// The drawn programs of a workload as a model sees them.
struct ranked_workload {
  std::string name;
  std::vector<ir::function> programs;
  std::vector<cost::sample> samples;
};

ranked_workload load(const recorded_workload& w, std::size_t most) {
  ranked_workload out;
  out.name = w.name();
  const support::hash128 workload = ir::workload_key(w.task().function);
  for (const timed_trace& t : w.all()) {
    if (!t.drawn || t.times.empty() || out.programs.size() >= most) continue;
    const auto c = search::replay(trace::parse(t.trace), w.task().function, 1);
    if (!c) continue;
    out.programs.push_back(c->scheduled.function());
    out.samples.push_back({nullptr, c->identity, workload, t.seconds()});
  }
  for (std::size_t i = 0; i < out.samples.size(); ++i) out.samples[i].program = &out.programs[i];
  return out;
}

struct quality {
  double pairs = 0, top1 = 0, top5 = 0, top8 = 0;
  void add(const std::vector<double>& scores, const std::vector<double>& speed, double share) {
    pairs += share * cost::pairwise_accuracy(scores, speed);
    top1 += share * cost::top_score(scores, speed, 1);
    top5 += share * cost::top_score(scores, speed, 5);
    top8 += share * cost::top_score(scores, speed, 8);
  }
};

/// A model with what it is to know of other workloads.
struct contestant {
  const char* name;
  std::unique_ptr<cost::model> (*make)(std::span<const cost::sample> others);
};

std::unique_ptr<cost::model> trees_of(std::span<const cost::sample> others) {
  auto first = std::make_unique<cost::tree_model>();
  first->update(others);
  first->train();
  return std::make_unique<cost::tree_model>(cost::tree_model_options{}, first->trees());
}

std::unique_ptr<cost::model> network_of(std::span<const cost::sample> others) {
  auto out = std::make_unique<cost::graph_model>();
  out->pretrain(others);
  return out;
}

std::unique_ptr<cost::model> both_of(std::span<const cost::sample> others) {
  return std::make_unique<cost::ensemble_model>(
      std::vector<std::shared_ptr<cost::model>>{trees_of(others), network_of(others)});
}

constexpr contestant contestants[] = {
    {"trees, new", [](std::span<const cost::sample>) { return cost::make_model("trees"); }},
    {"trees, others first", trees_of},
    {"graph network, new",
     [](std::span<const cost::sample>) { return cost::make_model("graph_network"); }},
    {"graph network, others first", network_of},
    {"both, others first", both_of}};

/// Ranks of what lies beyond the first 64 programs, after each number of shots.
void contest(const contestant& who, const ranked_workload& held,
             std::span<const cost::sample> others, double share, std::map<std::size_t, quality>& to,
             double& seconds) {
  const std::span<const cost::sample> own(held.samples);
  const std::span<const cost::sample> test = own.subspan(shots[std::size(shots) - 1]);
  std::vector<double> speed;
  for (const cost::sample& s : test) speed.push_back(1 / s.seconds);
  const auto start = clock_type::now();
  const std::unique_ptr<cost::model> model = who.make(others);
  std::size_t known = 0;
  for (const std::size_t n : shots) {
    if (n > known) model->update(own.subspan(known, n - known));
    known = n;
    to[n].add(model->predict(test), speed, share);
  }
  seconds += std::chrono::duration<double>(clock_type::now() - start).count();
}

}  // namespace

int run_models(const std::string& file, std::size_t most) {
  std::vector<ranked_workload> all;
  for (const recorded_workload& w : recorded_workloads(file)) {
    ranked_workload r = load(w, most);
    if (r.samples.size() >= 2 * shots[std::size(shots) - 1]) all.push_back(std::move(r));
  }
  if (all.size() < 2) {
    std::fprintf(stderr, "%s has fewer than two workloads of 128 programs\n", file.c_str());
    return 2;
  }
  // a move of the vector keeps its elements, and so the pointers to them
  std::printf("%zu workloads, at most %zu programs of each\n", all.size(), most);
  for (const contestant& who : contestants) {
    std::map<std::size_t, quality> by_shots;
    double seconds = 0;
    for (std::size_t held = 0; held < all.size(); ++held) {
      std::vector<cost::sample> others;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (i != held) others.insert(others.end(), all[i].samples.begin(), all[i].samples.end());
      contest(who, all[held], others, 1 / static_cast<double>(all.size()), by_shots, seconds);
    }
    for (const auto& [n, q] : by_shots)
      std::printf("%-30s after %2zu  pairs %.3f  top-1 %.3f  top-5 %.3f  top-8 %.3f\n", who.name, n,
                  q.pairs, q.top1, q.top5, q.top8);
    std::printf("%-30s %.1f s\n", who.name, seconds);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace bench
