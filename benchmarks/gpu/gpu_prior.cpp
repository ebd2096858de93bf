// Trains what ranks candidates for GPUs before anything was measured:
//
//   gpu_prior PACK RESULTS... [--write HEADER]
//
// PACK is the folder of `gpu_bench pack`, RESULTS the lines that its stages wrote on a GPU (results/f32.jsonl,
// results/tensor.jsonl), whose times of many candidates at a glance are learned. How well trees rank an operator
// that they have not seen is printed first: all workloads of one operator are left out, the trees of the others
// rank its candidates. HEADER is include/tilewright/impl/cost/gpu_prior_data.hpp.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/cost/features.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/support/error.hpp>

#include "../prior_header.hpp"
#include "pack.hpp"
#include "result_file.hpp"
#include "tensor_workloads.hpp"
#include "workloads.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tilewright;

/// Candidates of one workload with their times.
struct timed_workload {
  std::string name;
  std::vector<search::candidate> made;
  std::vector<cost::sample> samples;
};

std::map<std::string, ir::function> all_functions() {
  std::map<std::string, ir::function> out;
  for (const gpu_workloads::workload& w : gpu_workloads::full()) out.emplace(w.name, w.function);
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    out.emplace(w.what.name, w.what.function);
  return out;
}

/// "0:12.5 3:8.25": numbers of candidates with microseconds.
std::vector<std::pair<int, double>> glances_of(std::string text) {
  std::replace(text.begin(), text.end(), '"', ' ');
  std::istringstream in(text);
  std::vector<std::pair<int, double>> out;
  for (std::string word; in >> word;)
    if (const std::size_t colon = word.find(':'); colon != word.npos)
      out.emplace_back(std::atoi(word.c_str()), 1e-6 * std::atof(word.c_str() + colon + 1));
  return out;
}

timed_workload read_workload(const std::string& name, const ir::function& f, const fs::path& pack,
                             const std::vector<std::pair<int, double>>& glances) {
  timed_workload out{name, {}, {}};
  std::vector<double> seconds;
  for (const auto& [number, time] : glances) {
    std::ifstream in(gpu_pack::trace_file(pack, gpu_pack::candidate_name(name, number), "sm_90a"));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.empty()) continue;  // of another pack
    std::string why;
    std::optional<search::candidate> c = search::replay(trace::parse(text), f, 1, &why);
    if (!c) {
      std::fprintf(stderr, "%s.%d does not replay: %s\n", name.c_str(), number, why.c_str());
      continue;
    }
    out.made.push_back(std::move(*c));
    seconds.push_back(time);
  }
  const support::hash128 workload = ir::workload_key(f);
  for (std::size_t i = 0; i < out.made.size(); ++i)
    out.samples.push_back(
        {&out.made[i].scheduled.function(), out.made[i].identity, workload, seconds[i]});
  return out;
}

std::vector<timed_workload> read_all(const fs::path& pack, const std::vector<fs::path>& results) {
  const std::map<std::string, ir::function> functions = all_functions();
  std::vector<timed_workload> out;
  for (const fs::path& file : results) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const std::string quoted = gpu_results::field(line, "case");
      if (quoted.size() < 2) continue;
      const std::string name = quoted.substr(1, quoted.size() - 2);
      const auto f = functions.find(name);
      const auto glances = glances_of(gpu_results::field(line, "microseconds_at_a_glance"));
      if (f == functions.end() || glances.empty()) continue;
      timed_workload w = read_workload(name, f->second, pack, glances);
      if (w.samples.size() >= 2) out.push_back(std::move(w));
    }
  }
  return out;
}

/// Workloads of one operator stand or fall together.
std::string operator_of(const std::string& name) {
  static const std::pair<const char*, const char*> prefixes[] = {
      {"GEMM", "product"},    {"GMM", "product"},     {"TBG", "product"},
      {"SPLITK", "product"},  {"F16", "tensor"},      {"BF16", "tensor"},
      {"TF32", "tensor"},     {"S8", "tensor"},       {"DENSE", "dense"},
      {"SFM", "softmax"},     {"SOFTMAX", "softmax"}, {"C2D", "convolution"},
      {"CBR", "convolution"}, {"DIL", "convolution"}, {"ROWSUMS", "sums"},
      {"COLUMNSUMS", "sums"}, {"NRM", "sums"}};
  for (const auto& [prefix, what] : prefixes)
    if (name.rfind(prefix, 0) == 0) return what;
  return name;
}

std::vector<cost::sample> joined(const std::vector<timed_workload>& all, const std::string& but) {
  std::vector<cost::sample> out;
  for (const timed_workload& w : all)
    if (operator_of(w.name) != but) out.insert(out.end(), w.samples.begin(), w.samples.end());
  return out;
}

/// Trees of the others rank the workloads of each operator.
void print_transfer(const std::vector<timed_workload>& all) {
  std::printf("%-20s %6s %8s %8s %8s\n", "not seen", "count", "pairs", "best@4", "best@8");
  std::map<std::string, cost::gbt> trees;
  double sums[3] = {};
  for (const timed_workload& w : all) {
    const std::string what = operator_of(w.name);
    if (!trees.count(what)) trees.emplace(what, cost::prior_of(joined(all, what)));
    cost::tree_model model({}, trees.at(what));
    std::vector<double> speed;
    for (const cost::sample& s : w.samples) speed.push_back(1 / s.seconds);
    const std::vector<double> scores = model.predict(w.samples);
    const double row[] = {cost::pairwise_accuracy(scores, speed), cost::top_score(scores, speed, 4),
                          cost::top_score(scores, speed, 8)};
    std::printf("%-20s %6zu %8.3f %8.3f %8.3f\n", w.name.c_str(), w.samples.size(), row[0], row[1],
                row[2]);
    for (int i = 0; i < 3; ++i) sums[i] += row[i] / static_cast<double>(all.size());
  }
  std::printf("%-20s %6s %8.3f %8.3f %8.3f\n", "mean", "", sums[0], sums[1], sums[2]);
}

int train(const fs::path& pack, const std::vector<fs::path>& results, const std::string& header) {
  const std::vector<timed_workload> all = read_all(pack, results);
  const std::vector<cost::sample> samples = joined(all, "");
  if (samples.empty()) {
    std::fprintf(stderr, "no times of candidates in %s whose traces lie in %s\n",
                 results.front().c_str(), pack.c_str());
    return 1;
  }
  print_transfer(all);
  if (header.empty()) return 0;
  const std::string about = std::to_string(samples.size()) + " programs of " +
                            std::to_string(all.size()) + " workloads, timed on an H200";
  return write_prior_header(header, "benchmarks/gpu/gpu_prior.cpp", about, "gpu_prior_lines",
                            cost::prior_of(samples))
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> results;
  std::string pack, header;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--write" && i + 1 < argc)
      header = argv[++i];
    else if (pack.empty())
      pack = word;
    else
      results.emplace_back(word);
  }
  if (results.empty()) {
    std::fprintf(stderr, "usage: gpu_prior PACK RESULTS... [--write HEADER]\n");
    return 2;
  }
  try {
    return train(pack, results, header);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_prior: %s\n", e.what());
    return 4;
  }
}
