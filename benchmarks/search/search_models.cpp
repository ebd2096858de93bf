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
#include "statistics.hpp"

namespace bench {
namespace {

using namespace tilewright;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t shots[] = {0, 8, 16, 32};
constexpr std::size_t most_shots = shots[std::size(shots) - 1];

/// The drawn programs of a workload as a model sees them.
struct ranked_workload {
  std::string name;
  bool held_out = false;
  std::vector<ir::function> programs;
  std::vector<cost::sample> samples;
};

ranked_workload load(const recorded_workload& w, std::size_t most) {
  ranked_workload out;
  out.name = w.name();
  out.held_out = w.held_out();
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

/// How a model ranks, by workload: means over the orders in which it meets its programs.
struct quality {
  std::vector<double> pairs, top1, top8, error, error_of_fast;  // [workloads]
};

/// A model with what it is to know of other workloads.
struct contestant {
  const char* name;
  /// One that has learned nothing, into which what `make` saved can be loaded.
  std::shared_ptr<cost::model> (*blank)(std::uint64_t seed);
  /// Null: nothing is learned of other workloads.
  std::shared_ptr<cost::model> (*make)(std::span<const cost::sample> others, std::uint64_t seed);
};

std::shared_ptr<cost::model> trees_of(std::span<const cost::sample> others, std::uint64_t seed) {
  cost::tree_model_options o;
  o.seed = seed;
  cost::tree_model first(o);
  first.update(others);
  first.train();
  return std::make_shared<cost::tree_model>(o, first.trees());
}

cost::graph_network_options network_options(std::uint64_t seed) {
  cost::graph_network_options o;
  o.epochs = 20;
  o.seed = seed;
  return o;
}

std::shared_ptr<cost::model> network_of(std::span<const cost::sample> others, std::uint64_t seed) {
  auto out = std::make_shared<cost::graph_model>(network_options(seed));
  out->pretrain(others);
  return out;
}

std::shared_ptr<cost::model> network_without_template(std::span<const cost::sample> others,
                                                      std::uint64_t seed) {
  cost::graph_network_options o = network_options(seed);
  o.use_template = false;
  auto out = std::make_shared<cost::graph_model>(o);
  out->pretrain(others);
  return out;
}

template <cost::meta_method method>
std::shared_ptr<cost::model> meta_trained(std::span<const cost::sample> others,
                                          std::uint64_t seed) {
  auto out = std::make_shared<cost::graph_model>(network_options(seed));
  out->pretrain(others);
  cost::meta_options o;
  o.method = method;
  o.seed = seed;
  o.iterations = 300;
  o.patience = 100;
  cost::meta_train(*out, others, o);
  return out;
}

std::shared_ptr<cost::model> perceptron_of(std::span<const cost::sample> others,
                                           std::uint64_t seed) {
  cost::mlp_options o;
  o.epochs = 20;
  o.seed = seed;
  auto out = std::make_shared<cost::mlp_model>(o);
  out->pretrain(others);
  return out;
}

std::shared_ptr<cost::model> both_of(std::span<const cost::sample> others, std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(
      std::vector<std::shared_ptr<cost::model>>{trees_of(others, seed), network_of(others, seed)});
}

std::shared_ptr<cost::model> blank_trees(std::uint64_t seed) {
  return cost::make_model("trees", seed);
}
std::shared_ptr<cost::model> blank_network(std::uint64_t seed) {
  return std::make_shared<cost::graph_model>(network_options(seed));
}
std::shared_ptr<cost::model> blank_without_template(std::uint64_t seed) {
  cost::graph_network_options o = network_options(seed);
  o.use_template = false;
  return std::make_shared<cost::graph_model>(o);
}
std::shared_ptr<cost::model> blank_perceptron(std::uint64_t seed) {
  return cost::make_model("mlp", seed);
}
std::shared_ptr<cost::model> blank_both(std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(
      std::vector<std::shared_ptr<cost::model>>{blank_trees(seed), blank_network(seed)});
}
std::shared_ptr<cost::model> blank_random(std::uint64_t seed) {
  return cost::make_model("random", seed);
}

constexpr contestant contestants[] = {
    {"random", blank_random, nullptr},
    {"trees, new", blank_trees, nullptr},
    {"trees, others first", blank_trees, trees_of},
    {"perceptron, others first", blank_perceptron, perceptron_of},
    {"network, new (a)", blank_network, nullptr},
    {"network, pretrained (b)", blank_network, network_of},
    {"network, FOMAML (c)", blank_network, meta_trained<cost::meta_method::fomaml>},
    {"network, MAML (d)", blank_network, meta_trained<cost::meta_method::maml>},
    {"network, Reptile (e)", blank_network, meta_trained<cost::meta_method::reptile>},
    {"network without template", blank_without_template, network_without_template},
    {"trees and network", blank_both, both_of}};

/// Squared error of the best line from scores to labels: over all programs, and over those in the
/// fastest quarter, MetaTune's MSE(D).
std::pair<double, double> errors(const std::vector<double>& scores,
                                 const std::vector<double>& labels) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    mx += scores[i] / n;
    my += labels[i] / n;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    xx += (scores[i] - mx) * (scores[i] - mx);
    xy += (scores[i] - mx) * (labels[i] - my);
  }
  const double slope = xx > 0 ? std::max(xy / xx, 0.0) : 0;
  std::vector<double> sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  const double quarter = sorted[sorted.size() * 3 / 4];
  double all = 0, fast = 0, count = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double miss = my + slope * (scores[i] - mx) - labels[i];
    all += miss * miss / n;
    if (labels[i] < quarter) continue;
    fast += miss * miss;
    ++count;
  }
  return {all, fast / count};
}

/// Meets programs of a workload in an order of its own, and ranks what lies beyond the first ones.
void contest(cost::model& model, const ranked_workload& held, std::uint64_t order, double share,
             std::map<std::size_t, quality>& to) {
  std::vector<cost::sample> own = held.samples;
  support::random r(order);
  for (std::size_t i = own.size(); i-- > 1;) std::swap(own[i], own[r.below(i + 1)]);
  const std::span<const cost::sample> test = std::span<const cost::sample>(own).subspan(most_shots);
  std::vector<double> speed, labels;
  for (const cost::sample& s : test) speed.push_back(1 / s.seconds);
  const double best = *std::max_element(speed.begin(), speed.end());
  for (const double s : speed) labels.push_back(s / best);
  std::size_t known = 0;
  for (const std::size_t n : shots) {
    if (n > known) model.update(std::span<const cost::sample>(own).subspan(known, n - known));
    known = n;
    const std::vector<double> scores = model.predict(test);
    const auto [all, fast] = errors(scores, labels);
    quality& q = to[n];
    q.pairs.back() += share * cost::pairwise_accuracy(scores, speed);
    q.top1.back() += share * cost::top_score(scores, speed, 1);
    q.top8.back() += share * cost::top_score(scores, speed, 8);
    q.error.back() += share * all;
    q.error_of_fast.back() += share * fast;
  }
}

void print(const contestant& who, const std::map<std::size_t, quality>& all,
           const std::map<std::size_t, quality>* against, double seconds) {
  for (const auto& [n, q] : all) {
    std::printf("%-26s %2zu  pairs %s  top-1 %s  top-8 %s  MSE %.4f  MSE(D) %.4f", who.name, n,
                bootstrapped(q.pairs).text().c_str(), bootstrapped(q.top1).text().c_str(),
                bootstrapped(q.top8).text().c_str(), bootstrapped(q.error).mean,
                bootstrapped(q.error_of_fast).mean);
    if (against)
      std::printf("  pairs - (b) %s p %.3f", paired(q.pairs, against->at(n).pairs).text().c_str(),
                  wilcoxon(q.pairs, against->at(n).pairs));
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
    ranked_workload r = load(w, w.held_out() ? 4 * most : most);
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
  std::map<std::string, std::map<std::size_t, quality>> results;
  for (const contestant& who : contestants) {
    if (std::string_view(who.name).find(only) == std::string_view::npos) continue;
    std::map<std::size_t, quality>& by_shots = results[who.name];
    const auto start = clock_type::now();
    const std::string text = who.make ? who.make(others, 42)->save() : std::string();
    for (const ranked_workload& w : held) {
      for (const std::size_t n : shots)
        for (auto* list : {&by_shots[n].pairs, &by_shots[n].top1, &by_shots[n].top8,
                           &by_shots[n].error, &by_shots[n].error_of_fast})
          list->push_back(0);
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::shared_ptr<cost::model> m = who.blank(seed);
        if (who.make) m->load(text);
        contest(*m, w, seed, 1 / static_cast<double>(seeds), by_shots);
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
