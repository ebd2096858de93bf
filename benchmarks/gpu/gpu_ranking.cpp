// How well programs for GPUs are ranked before anything was measured:
//
//   gpu_ranking RECORDS
//
// RECORDS is the database of a stage `tune` of gpu_bench (results/records.db), with the times of what its sessions
// measured. Each workload's programs are ranked by the estimate of their time (impl/cost/gpu_estimate.hpp), by trees
// trained on the programs of all other operators, and by the trees that are shipped for CPUs.
#include <cstdio>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/impl/cost/gpu_estimate.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/support/error.hpp>
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
std::vector<timed_workload> read_all(const search::database& db) {
  const auto functions = functions_by_key();
  std::map<std::string, timed_workload> found;
  std::set<support::hash128> met;
  for (const search::record& r : db.all()) {
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

ranked rank_by(cost::model& model, const timed_workload& w) {
  std::vector<double> speed;
  for (const cost::sample& s : w.samples) speed.push_back(1 / s.seconds);
  const std::vector<double> scores = model.predict(w.samples);
  return {cost::pairwise_accuracy(scores, speed), cost::top_score(scores, speed, 8)};
}

void print_ranks(const std::vector<timed_workload>& all) {
  std::printf("%-20s %6s  %-15s  %-15s  %-15s\n%-20s %6s  %7s %7s  %7s %7s  %7s %7s\n", "", "",
              "estimate", "other operators", "CPU trees", "workload", "count", "pairs", "best@8",
              "pairs", "best@8", "pairs", "best@8");
  std::map<std::string, cost::gbt> trees;
  cost::gpu_estimate estimate(target::named_gpu("sm_90a"));
  cost::tree_model cpu({}, cost::shipped_prior().trees);
  std::vector<double> sums(6);
  for (const timed_workload& w : all) {
    const std::string what = operator_of(w.name);
    if (!trees.count(what)) trees.emplace(what, cost::prior_of(joined(all, what)));
    cost::tree_model others({}, trees.at(what));
    const ranked rows[] = {rank_by(estimate, w), rank_by(others, w), rank_by(cpu, w)};
    std::printf("%-20s %6zu", w.name.c_str(), w.samples.size());
    for (std::size_t i = 0; i < 3; ++i) {
      std::printf("  %7.3f %7.3f", rows[i].pairs, rows[i].best);
      sums[2 * i] += rows[i].pairs / static_cast<double>(all.size());
      sums[2 * i + 1] += rows[i].best / static_cast<double>(all.size());
    }
    std::printf("\n");
  }
  std::printf("%-20s %6s", "mean", "");
  for (std::size_t i = 0; i < 3; ++i) std::printf("  %7.3f %7.3f", sums[2 * i], sums[2 * i + 1]);
  std::printf("\n");
}

int rank(const std::string& database) {
  const std::vector<timed_workload> all = read_all(search::database(database));
  if (all.size() < 2) {
    std::fprintf(stderr, "%s has records of fewer than two of the workloads\n", database.c_str());
    return 1;
  }
  print_ranks(all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gpu_ranking RECORDS\n");
    return 2;
  }
  try {
    return rank(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_ranking: %s\n", e.what());
    return 4;
  }
}
