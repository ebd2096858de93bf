// tilewright learn: trains a model on what a tuning database holds, for searches to start from.
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/prior_file.hpp>
#include <tilewright/search/database/transfer.hpp>
#if defined(TILEWRIGHT_TOOL_LEARNING)
#include <tilewright/learning.hpp>
#endif

#include "../command.hpp"
#include "../option_values.hpp"
#include "../records/database.hpp"

namespace tool {
namespace {

using namespace tilewright;

struct learn_options {
  std::string database, file, kind = "trees";
  std::size_t most = 20000;
  std::uint64_t seed = 42;
};

/// The instruction set and thread count with most records: times of one say little of the other.
search::record_key commonest(const std::vector<search::record>& all) {
  std::map<std::pair<std::string, int>, std::size_t> count;
  const search::record* out = nullptr;
  std::size_t most = 0;
  for (const search::record& r : all)
    if (const std::size_t n = ++count[{r.key.isa, r.key.threads}]; n > most) {
      most = n;
      out = &r;
    }
  search::record_key key = out->key;
  key.workload.clear();
  return key;
}

#if defined(TILEWRIGHT_TOOL_LEARNING)
template <class Model, class Options>
std::unique_ptr<cost::model> pretrained(Options options, const learn_options& o,
                                        std::span<const cost::sample> samples) {
  options.seed = o.seed;
  auto out = std::make_unique<Model>(options);
  out->pretrain(samples);
  return out;
}
#endif

std::unique_ptr<cost::model> trained(const learn_options& o,
                                     std::span<const cost::sample> samples) {
#if defined(TILEWRIGHT_TOOL_LEARNING)
  if (o.kind == "graph_network")
    return pretrained<cost::graph_model>(cost::graph_network_options{}, o, samples);
  if (o.kind == "mlp") return pretrained<cost::mlp_model>(cost::mlp_options{}, o, samples);
  if (o.kind == "trace_network")
    return pretrained<cost::trace_model>(cost::network_options{}, o, samples);
#endif
  cost::tree_model_options options;
  options.seed = o.seed;
  options.most_data = o.most;
  auto out = std::make_unique<cost::tree_model>(options);
  out->update(samples);
  out->train();
  return out;
}

int learn(const learn_options& o) {
  const std::shared_ptr<search::database> db = database_to_read(o.database);
  const std::vector<search::record> all = db->all();
  if (all.empty()) throw input_error(db->path(), "there are no records to learn from");
  const search::record_key key = commonest(all);
  const search::recorded_programs known = search::programs_of(*db, key, o.most);
  std::map<support::hash128, std::size_t> workloads;
  for (const cost::sample& s : known.samples) ++workloads[s.workload];
  constexpr std::size_t least = 8;  // programs: fewer have no order worth learning
  if (known.samples.size() < least)
    throw input_error(db->path(), "of " + std::to_string(all.size()) + " records " +
                                      std::to_string(known.samples.size()) +
                                      " replay, and learning needs " + std::to_string(least));
  // whoever searches with these trees adapts them to what it measures
  const std::string kind = o.kind == "trees" ? "prior" : o.kind;
  const std::string text = cost::prior_text(kind, *trained(o, known.samples));
  std::ofstream to(o.file, std::ios::binary);
  to << text;
  if (!to.flush()) throw input_error(o.file, "cannot be written");
  say(o.file + ": " + o.kind + " of " + std::to_string(known.samples.size()) + " programs of " +
      std::to_string(workloads.size()) + " workloads, " + key.isa + ", " +
      std::to_string(key.threads) + " threads; " + std::to_string(text.size()) + " bytes\n");
  return fine;
}

}  // namespace

std::function<int()> declare_learn(CLI::App& app) {
  const auto o = std::make_shared<learn_options>();
  app.add_option("--db", o->database, "Database file; default: the user's");
  app.add_option("-o,--output", o->file, "File to write, for --prior and TILEWRIGHT_PRIOR")
      ->required();
  std::vector<std::string> kinds{"trees"};
#if defined(TILEWRIGHT_TOOL_LEARNING)
  kinds.insert(kinds.end(), {"graph_network", "mlp", "trace_network"});
#endif
  app.add_option("--kind", o->kind, "What is trained")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  app.add_option("--most", o->most, "Newest records that are learned at most")
      ->check(whole<std::size_t>(1))
      ->capture_default_str();
  app.add_option("--seed", o->seed, "Seed of the training")
      ->check(whole<std::uint64_t>())
      ->capture_default_str();
  return [o] { return learn(*o); };
}

}  // namespace tool
