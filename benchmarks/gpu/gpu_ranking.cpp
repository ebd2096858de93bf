// How well programs for GPUs are ranked before anything was measured:
//
//   gpu_ranking RECORDS...
//
// RECORDS are databases of stages `tune` of gpu_bench (results/records.db), with the times of what their sessions
// measured. Each workload's programs are ranked by the estimate of their time (impl/cost/gpu/gpu_estimate.hpp), by trees
// trained on the programs of all other operators, by both, and by the trees that are shipped for CPUs; then the rest
// of them, after some were measured, by what a session learns.
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/cost/adapted_trees.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/cost/residual.hpp>
#include <tilewright/impl/cost/gpu/gpu_estimate.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/gpu.hpp>
#include <tilewright/target/machine.hpp>

#include "tensor_workloads.hpp"
#include "workloads.hpp"

namespace {

using namespace tilewright;

/// Measured programs of one workload.
struct timed_workload {
  std::string name;
  std::list<search::candidate> made;  // of which `samples` speaks
  std::vector<cost::sample> samples;
};

/// Workloads of one operator stand or fall together.
std::string operator_of(const std::string& name) {
  static const std::pair<const char*, const char*> prefixes[] = {
      {"GEMM", "product"},    {"GMM", "product"},     {"TBG", "product"},
      {"SPLITK", "product"},  {"F16", "tensor"},      {"BF16", "tensor"},
      {"TF32", "tensor"},     {"S8", "tensor"},       {"DENSE", "dense"},
      {"SFM", "softmax"},     {"SOFTMAX", "softmax"}, {"C2D", "convolution"},
      {"CBR", "convolution"}, {"DIL", "convolution"}, {"C1D", "convolution"},
      {"C3D", "convolution"}, {"ROWSUMS", "sums"},    {"COLUMNSUMS", "sums"},
      {"NRM", "sums"}};
  for (const auto& [prefix, what] : prefixes)
    if (name.rfind(prefix, 0) == 0) return what;
  return name;
}

/// The functions of both stages by their keys, as records have them.
std::map<std::string, std::pair<std::string, ir::function>> functions_by_key() {
  std::map<std::string, std::pair<std::string, ir::function>> out;
  const auto add = [&](const gpu_workloads::workload& w) {
    out.emplace(ir::workload_key(w.function).hex(), std::pair(w.name, w.function));
  };
  for (const gpu_workloads::workload& w : gpu_workloads::full()) add(w);
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads()) add(w.what);
  return out;
}

/// Each program once; what does not replay any more is left out.
std::vector<timed_workload> read_all(const std::list<search::database>& all_of_them) {
  const auto functions = functions_by_key();
  std::map<std::string, timed_workload> found;
  std::set<support::hash128> met;
  std::vector<search::record> records;
  for (const search::database& db : all_of_them)
    for (search::record& r : db.all()) records.push_back(std::move(r));
  for (const search::record& r : records) {
    const auto at = functions.find(r.key.workload);
    if (at == functions.end() || !target::machine::is_gpu(r.key.isa) || !(r.best() > 0)) continue;
    const auto& [name, f] = at->second;
    std::optional<search::candidate> c;
    try {
      c = search::replay(trace::parse(r.trace), f, 1);
    } catch (const error&) {  // a trace of another version
    }
    if (!c || !met.insert(c->identity).second) continue;
    timed_workload& w = found.try_emplace(name, timed_workload{name, {}, {}}).first->second;
    w.made.push_back(std::move(*c));
    w.samples.push_back({&w.made.back().scheduled.function(), w.made.back().identity,
                         ir::workload_key(f), r.best()});
  }
  std::vector<timed_workload> all;
  for (auto& [name, w] : found)
    if (w.samples.size() >= 8) all.push_back(std::move(w));
  return all;
}

std::vector<cost::sample> joined(const std::vector<timed_workload>& all, const std::string& but) {
  std::vector<cost::sample> out;
  for (const timed_workload& w : all)
    if (operator_of(w.name) != but) out.insert(out.end(), w.samples.begin(), w.samples.end());
  return out;
}

/// Share of pairs in order, and the best of the first eight beside the best of all.
struct ranked {
  double pairs = 0, best = 0;
};

ranked rank_by(const std::vector<double>& scores, const std::vector<cost::sample>& samples) {
  std::vector<double> speed;
  for (const cost::sample& s : samples) speed.push_back(1 / s.seconds);
  return {cost::pairwise_accuracy(scores, speed), cost::top_score(scores, speed, 8)};
}

/// The samples with what the estimate misses of their times, as a factor.
std::vector<cost::sample> missed_by(cost::model& estimate, std::vector<cost::sample> samples) {
  const std::vector<double> scores = estimate.predict(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].seconds *= std::exp(scores[i]);
  return samples;
}

/// What is known of other operators.
struct experience {
  cost::gbt times, missed;  // trees of times, and of what the estimate misses of them
};

using rank_list = std::vector<ranked>;

/// Before anything of the workload was measured.
rank_list before(const timed_workload& w, const experience& others) {
  cost::gpu_estimate estimate(target::named_gpu("sm_90a"));
  cost::tree_model times({}, others.times), missed({}, others.missed),
      cpu({}, cost::shipped_prior().trees);
  const std::vector<double> first = estimate.predict(w.samples);
  std::vector<double> both = missed.predict(w.samples);
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += first[i];
  return {rank_by(first, w.samples), rank_by(times.predict(w.samples), w.samples),
          rank_by(both, w.samples), rank_by(cpu.predict(w.samples), w.samples)};
}

/// The rest, after 32 were measured: by what a session learns over the estimate, which begins with nothing, with
/// trees for CPUs, or with trees of what the estimate misses.
rank_list after(const timed_workload& w, const experience& others) {
  constexpr std::size_t measured = 32, batch = 16;
  std::vector<cost::sample> all = w.samples;
  support::random lots(7);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[lots.below(i)]);
  const std::vector<cost::sample> rest(all.begin() + measured, all.end());
  const auto estimate = std::make_shared<cost::gpu_estimate>(target::named_gpu("sm_90a"));
  rank_list out{rank_by(estimate->predict(rest), rest)};
  for (const cost::gbt& start : {cost::gbt(), cost::shipped_prior().trees, others.missed}) {
    cost::residual_model model(estimate, std::make_shared<cost::adapted_trees>(start));
    for (std::size_t i = 0; i < measured; i += batch)
      model.update(std::span<const cost::sample>(all).subspan(i, batch));
    out.push_back(rank_by(model.predict(rest), rest));
  }
  return out;
}

/// One row a workload, and their mean.
void print_table(const std::vector<std::string>& head, const std::vector<timed_workload>& all,
                 const std::function<rank_list(const timed_workload&)>& rank) {
  std::printf("%-20s %6s", "", "");
  for (const std::string& h : head) std::printf("  %-15s", h.c_str());
  std::printf("\n%-20s %6s", "workload", "count");
  for (std::size_t i = 0; i < head.size(); ++i) std::printf("  %7s %7s", "pairs", "best@8");
  std::printf("\n");
  rank_list sums(head.size());
  for (const timed_workload& w : all) {
    std::printf("%-20s %6zu", w.name.c_str(), w.samples.size());
    const rank_list row = rank(w);
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::printf("  %7.3f %7.3f", row[i].pairs, row[i].best);
      sums[i].pairs += row[i].pairs / static_cast<double>(all.size());
      sums[i].best += row[i].best / static_cast<double>(all.size());
    }
    std::printf("\n");
  }
  std::printf("%-20s %6s", "mean", "");
  for (const ranked& r : sums) std::printf("  %7.3f %7.3f", r.pairs, r.best);
  std::printf("\n\n");
}

void print_ranks(const std::vector<timed_workload>& all) {
  std::map<std::string, experience> by_operator;
  cost::gpu_estimate estimate(target::named_gpu("sm_90a"));
  for (const timed_workload& w : all) {
    const std::string what = operator_of(w.name);
    if (by_operator.count(what)) continue;
    const std::vector<cost::sample> others = joined(all, what);
    by_operator[what] = {cost::prior_of(others), cost::prior_of(missed_by(estimate, others))};
  }
  const auto others_of = [&](const timed_workload& w) -> const experience& {
    return by_operator.at(operator_of(w.name));
  };
  std::printf("before anything was measured\n");
  print_table({"estimate", "other operators", "both", "CPU trees"}, all,
              [&](const timed_workload& w) { return before(w, others_of(w)); });
  std::vector<timed_workload> many;
  for (const timed_workload& w : all)
    if (w.samples.size() >= 48) many.push_back(w);
  if (many.empty()) return;
  std::printf("the rest, after 32 were measured\n");
  print_table({"estimate", "learned", "from CPU trees", "from others"}, many,
              [&](const timed_workload& w) { return after(w, others_of(w)); });
}

int rank(const std::vector<std::string>& databases) {
  std::list<search::database> open;
  for (const std::string& name : databases) open.emplace_back(name);
  const std::vector<timed_workload> all = read_all(open);
  if (all.size() < 2) {
    std::fprintf(stderr, "there are records of fewer than two of the workloads\n");
    return 1;
  }
  print_ranks(all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: gpu_ranking RECORDS...\n");
    return 2;
  }
  try {
    return rank({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_ranking: %s\n", e.what());
    return 4;
  }
}
