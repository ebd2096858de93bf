#include "search_contestants.hpp"

#include <algorithm>
#include <cmath>

#include <tilewright/cost/adapted_trees.hpp>
#include <tilewright/cost/ensemble.hpp>
#include <tilewright/cost/graph_network.hpp>
#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/search/trace_tokens.hpp>

namespace bench {

using namespace tilewright;

namespace {

/// The standard error of a program's speed, 1/s, as its times spread.
double error_of_speed(const timed_trace& t) {
  const auto n = static_cast<double>(t.times.size());
  double mean = 0, square = 0;
  for (const double s : t.times) mean += s / n;
  for (const double s : t.times) square += (s - mean) * (s - mean);
  if (n < 2) return 0;
  const double of_time = std::sqrt(square / (n - 1) / n);
  return of_time / (t.seconds() * t.seconds());
}

}  // namespace

ranked_workload ranked(const recorded_workload& w, std::size_t most) {
  ranked_workload out;
  out.name = w.name();
  out.held_out = w.held_out();
  const support::hash128 workload = ir::workload_key(w.task().function);
  for (const timed_trace& t : w.all()) {
    if (!t.drawn || t.times.empty() || out.programs.size() >= most) continue;
    const auto c = search::replay(trace::parse(t.trace), w.task().function, 1);
    if (!c) continue;
    out.programs.push_back(c->scheduled.function());
    out.errors.push_back(error_of_speed(t));
    out.samples.push_back(
        {nullptr, c->identity, workload, t.seconds(),
         std::make_shared<const std::vector<cost::trace_token>>(search::tokens_of(c->scheduled))});
  }
  for (std::size_t i = 0; i < out.samples.size(); ++i) out.samples[i].program = &out.programs[i];
  return out;
}

namespace {

std::shared_ptr<cost::model> trees_of(std::span<const cost::sample> others, std::uint64_t seed) {
  cost::tree_model_options o;
  o.seed = seed;
  return std::make_shared<cost::tree_model>(o, cost::prior_of(others, seed));
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

template <cost::meta_method method, bool use_template = true>
std::shared_ptr<cost::model> meta_trained(std::span<const cost::sample> others,
                                          std::uint64_t seed) {
  cost::graph_network_options shape = network_options(seed);
  shape.use_template = use_template;
  auto out = std::make_shared<cost::graph_model>(shape);
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

std::shared_ptr<cost::model> adapted_of(std::span<const cost::sample> others, std::uint64_t seed) {
  cost::tree_model_options o;
  o.seed = seed;
  return std::make_shared<cost::adapted_trees>(cost::prior_of(others, seed), o);
}

std::shared_ptr<cost::model> adapted_and_perceptron(std::span<const cost::sample> others,
                                                    std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(std::vector<std::shared_ptr<cost::model>>{
      adapted_of(others, seed), perceptron_of(others, seed)});
}

std::shared_ptr<cost::model> trees_and_perceptron(std::span<const cost::sample> others,
                                                  std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(std::vector<std::shared_ptr<cost::model>>{
      trees_of(others, seed), perceptron_of(others, seed)});
}

std::shared_ptr<cost::model> traces_of(std::span<const cost::sample> others, std::uint64_t seed) {
  cost::network_options o;
  o.epochs = 20;
  o.seed = seed;
  auto out = std::make_shared<cost::trace_model>(o);
  out->pretrain(others);
  return out;
}

std::shared_ptr<cost::model> three_of(std::span<const cost::sample> others, std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(std::vector<std::shared_ptr<cost::model>>{
      trees_of(others, seed), perceptron_of(others, seed), traces_of(others, seed)});
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
std::shared_ptr<cost::model> blank_trees_and_perceptron(std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(
      std::vector<std::shared_ptr<cost::model>>{blank_trees(seed), blank_perceptron(seed)});
}
std::shared_ptr<cost::model> blank_adapted(std::uint64_t seed) {
  cost::tree_model_options o;
  o.seed = seed;
  return std::make_shared<cost::adapted_trees>(cost::gbt(), o);
}
std::shared_ptr<cost::model> blank_adapted_and_perceptron(std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(
      std::vector<std::shared_ptr<cost::model>>{blank_adapted(seed), blank_perceptron(seed)});
}
std::shared_ptr<cost::model> blank_traces(std::uint64_t seed) {
  return cost::make_model("trace_network", seed);
}
std::shared_ptr<cost::model> blank_three(std::uint64_t seed) {
  return std::make_shared<cost::ensemble_model>(std::vector<std::shared_ptr<cost::model>>{
      blank_trees(seed), blank_perceptron(seed), blank_traces(seed)});
}
std::shared_ptr<cost::model> blank_random(std::uint64_t seed) {
  return cost::make_model("random", seed);
}

constexpr contestant table[] = {
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
    {"network without template, FOMAML", blank_without_template,
     meta_trained<cost::meta_method::fomaml, false>},
    {"trees and perceptron", blank_trees_and_perceptron, trees_and_perceptron},
    {"traces, others first", blank_traces, traces_of},
    {"trees, perceptron, traces", blank_three, three_of},
    {"trees and network", blank_both, both_of},
    {"adapted trees, others first", blank_adapted, adapted_of},
    {"adapted trees and perceptron", blank_adapted_and_perceptron, adapted_and_perceptron}};

}  // namespace

std::span<const contestant> contestants() { return table; }

const contestant& contestant_of(std::string_view name) {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const contestant& c) { return c.name == name; });
}

}  // namespace bench
