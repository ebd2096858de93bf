// tilewright tune: a tuning session for a function, with a line of JSON per round.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/print.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/target/cpu.hpp>

#include "command.hpp"
#include "workload.hpp"

namespace tool {
namespace {

using namespace tilewright;

struct tune_options {
  std::string file, target = "host", database;
  std::vector<std::string> dims;
  double seconds = 10;
  int trials = 1 << 30;
  int threads = 0;
  std::uint64_t seed = 42;
  search::caches where = search::caches::warm;
  bool worker = false;
  bool json = false;
};

std::string failures_json(const std::map<search::failure, int>& failures) {
  std::string out;
  for (const auto& [kind, count] : failures)
    out += (out.empty() ? "" : ", ") + json(search::name(kind)) + ": " + std::to_string(count);
  return "{" + out + "}";
}

void print_round(const search::progress& p, bool as_json) {
  if (!as_json) return say(search::progress_line(p) + "\n");
  char text[256];
  std::snprintf(
      text, sizeof text,
      "{\"round\": %d, \"trials\": %d, \"best_seconds\": %.9g, \"default_seconds\": %.9g, "
      "\"candidates_per_second\": %.4g, \"failures\": ",
      p.round, p.trials, p.best, p.baseline, p.rate);
  say(text + failures_json(p.failures) + "}\n");
}

void print_summary(const search::tuning_result& r, bool as_json) {
  if (as_json) {
    char text[256];
    std::snprintf(
        text, sizeof text,
        "{\"best_seconds\": %.9g, \"default_seconds\": %.9g, \"improved\": %s, \"trials\": %d, "
        "\"candidates_per_second\": %.4g, \"failures\": ",
        r.best, r.baseline, r.improved ? "true" : "false", r.trials,
        r.trials / std::max(r.seconds, 1e-9));
    return say(text + failures_json(r.failures) + ", \"trace\": " + json(r.trace) + "}\n");
  }
  say("best " + search::time_text(r.best) + ", default schedule " + search::time_text(r.baseline) +
      ", " + std::to_string(r.trials) + " trials\n" + r.trace + "\n");
  for (const std::string& remark : r.remarks) complain(remark);
}

int tune(const tune_options& o) {
  const ir::function f = with_extents(o.file, load_function(o.file), extents_of(o.dims));
  std::unique_ptr<backend::pool> own;
  const backend::executor* exec = &backend::pool::shared().view();
  if (o.threads > 0 && o.threads != exec->threads) {
    own = std::make_unique<backend::pool>(o.threads);
    exec = &own->view();
  }
  target::cpu cpu = target::named(o.target);
  if (!target::runs_on(cpu, target::host()))
    throw argument_error("code for " + o.target +
                         " does not run on this machine, so it cannot be measured here");
  cpu.cores = exec->threads;
  search::workload w = workload_of(f, cpu, *exec);
  w.key.arguments += search::key_suffix(o.where);
  const auto db = search::database::shared(o.database);
  if (!db->status().empty()) complain(db->status());
  search::session_options s;
  s.seconds = o.seconds;
  s.trials = o.trials;
  s.seed = o.seed;
  s.measuring.where = o.where;
  if (o.worker) s.measuring.run_in = search::isolation::worker;
  int round = -1;
  s.events = [&](const search::progress& p) {
    if (p.round == round) return;
    round = p.round;
    print_round(p, o.json);
  };
  db->add_workload(w.key.workload, ir::print(f));
  print_summary(search::tune(w, s, *db), o.json);
  return fine;
}

}  // namespace

std::function<int()> declare_tune(CLI::App& app) {
  const auto o = std::make_shared<tune_options>();
  app.add_option("FILE", o->file, "Function in script form")->required();
  app.add_option("--target", o->target, "CPU to make code for")->capture_default_str();
  app.add_option("--dim", o->dims, "NAME=EXTENT of a symbolic extent");
  app.add_option("--seconds", o->seconds, "Budget")->capture_default_str();
  app.add_option("--trials", o->trials, "Candidates to measure at most");
  app.add_option("--threads", o->threads, "Threads of a call; 0: all");
  app.add_option("--seed", o->seed, "Seed of the search")->capture_default_str();
  app.add_option("--db", o->database, "Database file; default: the user's");
  const std::map<std::string, search::caches> states{{"warm", search::caches::warm},
                                                     {"cold", search::caches::cold},
                                                     {"rotating", search::caches::rotating}};
  app.add_option("--caches", o->where, "State of the caches while timing: warm, cold, rotating")
      ->transform(CLI::CheckedTransformer(states));
  app.add_flag("--worker", o->worker, "Compile and run candidates in processes of their own");
  app.add_flag("--json", o->json, "One line of JSON a round, and a summary");
  return [o] { return tune(*o); };
}

}  // namespace tool
