// tilewright tune: a tuning session for one function or several, with a line of JSON per round.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/prior_file.hpp>
#include <tilewright/search/enumeration.hpp>
#include <tilewright/search/gate.hpp>
#include <tilewright/search/joint/joint_session.hpp>
#include <tilewright/search/measurement/fleet.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/strategies/outside.hpp>
#include <tilewright/search/task_scheduler.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>
#if defined(TILEWRIGHT_TOOL_LEARNING)
#include <tilewright/learning.hpp>
#endif

#include "../command.hpp"
#include "../display/session_lines.hpp"
#include "../mpi_ranks.hpp"
#include "../option_values.hpp"
#include "../worker_token.hpp"
#include "tune_tasks.hpp"

namespace tool {
namespace {

using namespace tilewright;

search::session_options session_of(const tune_options& o) {
  search::session_options s;
  s.seconds = o.seconds.value_or(s.seconds);
  s.trials = o.trials.value_or(s.trials);
  s.gain = o.gain.value_or(o.seconds || o.trials ? 0 : search::default_gain);
  s.seed = o.seed;
  s.batch = o.batch;
  s.measuring.where = o.where;
  if (o.worker) s.measuring.run_in = search::isolation::worker;
  if (!o.proposer.empty()) {
    s.method = [command = o.proposer](std::uint64_t) { return search::outside(command); };
    return s;
  }
  const std::string strategy = o.strategy.empty() ? "evolutionary" : o.strategy;
  if (!o.prior.empty() && cost::load_prior(o.prior).model)
    s.method = [strategy, file = o.prior](std::uint64_t seed) {
      for (const search::strategy_kind& kind : search::strategy_kinds())
        if (kind.name == strategy) return kind.make(cost::load_prior(file, seed).model);
      return search::make_strategy(strategy, seed);
    };
  else if (!o.strategy.empty() || !o.model.empty())
    s.method = [strategy, model = o.model](std::uint64_t seed) {
      return search::make_strategy(strategy, seed, model);
    };
  return s;
}

/// "Who proposes candidates: local (changes of the fastest), ..."
template <class Kinds>
std::string listed(std::string text, const Kinds& kinds) {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    text += (i == 0 ? ": " : ", ") + std::string(kinds[i].name) + " (" +
            std::string(kinds[i].what) + ")";
  return text;
}

template <class Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> out;
  for (const auto& k : kinds) out.emplace_back(k.name);
  return out;
}

/// Refuses what is no name of `kinds`, with the names.
template <class Kinds>
CLI::Validator one_of(const Kinds& kinds) {
  return CLI::IsMember(names_of(kinds));
}

/// Candidates for a GPU that is not here are built, and nothing is timed.
int gate_all(const tune_options& o, const tune_tasks& t) {
  if (!o.json) say("no GPU: nothing was timed (" + t.no_gpu + ")\n");
  for (std::size_t i = 0; i < t.all.size(); ++i) {
    search::session_options s = session_of(o);
    s.seconds /= static_cast<double>(t.all.size());
    const search::gate_result r = search::gate(t.all[i], s);
    if (o.json) {
      say("{\"file\": " + json(o.files[i]) + ", \"architecture\": " + json(t.gpu->architecture) +
          ", \"best_seconds\": null, \"built\": " + std::to_string(r.built) +
          ", \"failures\": " + failures_json(r.failures) + ", \"candidates_per_second\": " +
          support::general_text(r.built / std::max(r.seconds, 1e-9), 4) +
          ", \"trace\": " + json(r.trace) + ", \"remarks\": [" +
          json("no GPU: nothing was timed (" + t.no_gpu + ")") + "]}\n");
      continue;
    }
    say(o.files[i] + ": " + std::to_string(r.built) + " candidates built for " +
        t.gpu->architecture + " in " + search::time_text(r.seconds));
    for (const auto& [kind, count] : r.failures)
      say(", " + std::to_string(count) + " failed (" + search::name(kind) + ")");
    say((r.last_error.empty() ? "" : "; the last error: " + r.last_error) +
        "\nthe default schedule:\n" + r.trace + "\n");
  }
  return fine;
}

/// Where candidates are timed on other machines; null: here.
/// @param code what candidates are compiled for
std::unique_ptr<search::fleet> fleet_of(const tune_options& o, const target::cpu& code) {
  search::fleet_options options;
  if (!target::runs_on(code, target::host())) options.code_for = code;
  if (o.ranks.size > 1) {
    options.build_there = true;
    if (o.ranks.workers.empty())
      throw build_error("of the " + std::to_string(o.ranks.size) +
                        " ranks none serves as a worker");
    auto out = std::make_unique<search::fleet>(o.ranks.workers, o.ranks.token, options);
    for (const std::string& problem : out->problems()) complain("rank " + problem);
    return out;
  }
  if (o.workers.empty()) return nullptr;
  std::vector<search::worker_address> at;
  bool listens = false;
  for (const std::string& w : o.workers) {
    at.push_back(search::worker_address::parse(w));
    listens = listens || at.back().command.empty();
  }
  auto out = std::make_unique<search::fleet>(
      at, listens ? worker_token(o.token_file) : std::string(), options);
  for (const std::string& problem : out->problems()) complain("worker " + problem);
  return out;
}

int tune_one(const tune_options& o, tune_tasks& t) {
  search::session_options s = session_of(o);
  const std::unique_ptr<search::fleet> workers = fleet_of(o, t.cpu);
  if (workers) workers->use_in(s.measuring);
  // times are those of the machine that is there, not of a name in a table
  if (workers && !target::runs_on(t.cpu, target::host()))
    t.cpu.model = workers->processors().front().model;
  int round = -1;
  s.events = [&](const search::progress& p) {
    if (p.round == round && p.end == search::session_end::none) return;
    round = p.round;
    print_round(p, o.json);
  };
  print_summary(search::tune(t.all[0], s, *t.db), {o.json, o.profile});
  if (workers && workers->size() < workers->measured().size())
    for (const std::string& problem : workers->problems()) complain("worker " + problem);
  return fine;
}

void print_slice(const std::string& file, const search::tuning_result& r, bool as_json) {
  const std::string trials = std::to_string(r.trials), best = support::general_text(r.best, 9),
                    baseline = support::general_text(r.baseline, 9);
  if (as_json)
    say("{\"file\": " + json(file) + ", \"trials\": " + trials + ", \"best_seconds\": " + best +
        ", \"default_seconds\": " + baseline + "}\n");
  else
    say(file + ": " + trials + " trials, best " + best + " s, default schedule " + baseline +
        " s\n");
}

/// Slices of the budget go to one function or another; a summary for each at the end.
int tune_several(const tune_options& o, tune_tasks& t) {
  search::task_options s;
  s.order = o.order;
  s.session = session_of(o);
  s.seconds = s.session.seconds;
  s.trials = s.session.trials;
  s.session.gain = 0;  // slices are too short to tell; who is next is chosen by what is expected
  // a small budget is for all of them too
  const int turns = 2 * static_cast<int>(t.all.size());
  s.slice = std::clamp(s.trials / turns, 1, s.slice);
  s.slice_seconds = std::min(s.slice_seconds, s.seconds / turns);
  using clock = std::chrono::steady_clock;
  std::vector<double> spent(t.all.size());  // s
  s.events = [&, since = clock::now()](std::size_t i, const search::tuning_result& r) mutable {
    spent[i] += std::chrono::duration<double>(clock::now() - since).count();
    since = clock::now();
    print_slice(o.files[i], r, o.json);
  };
  std::vector<search::task> list;
  for (std::size_t i = 0; i < t.all.size(); ++i)
    list.push_back({&t.all[i], o.weights.empty() ? 1 : o.weights[i]});
  int out = fine;
  const std::vector<search::task_result> results = search::run_tasks(list, s, *t.db);
  for (std::size_t i = 0; i < results.size(); ++i) {
    search::tuning_result last = results[i].last;
    last.trials = results[i].trials;
    last.seconds = spent[i];
    if (!o.json) say(o.files[i] + ": ");
    if (last.code.object.empty()) {
      for (const std::string& remark : last.remarks) complain(o.files[i] + ": " + remark);
      say(o.json ? "{\"file\": " + json(o.files[i]) + ", \"trials\": 0}\n" : "not tuned\n");
      if (!last.remarks.empty()) out = failed;
      continue;
    }
    print_summary(last, {o.json, o.profile}, o.files[i]);
  }
  return out;
}

/// One session for a function at several extents; a summary for each at the end.
int tune_jointly(const tune_options& o, tune_tasks& t) {
  search::joint_options s;
  s.session = session_of(o);
  s.traces = o.traces;
  int round = -1;
  s.session.events = [&](const search::progress& p) {
    if (p.round == round && p.end == search::session_end::none) return;
    round = p.round;
    print_round(p, o.json);
  };
  std::vector<search::joint_task> list;
  for (std::size_t i = 0; i < t.all.size(); ++i)
    list.push_back({&t.all[i], o.weights.empty() ? 1 : o.weights[i]});
  const search::joint_result r = search::tune_jointly(list, s, *t.db);
  for (std::size_t i = 0; i < r.at.size(); ++i) {
    search::tuning_result one;
    one.trace = r.at[i].trace;
    one.best = r.at[i].best;
    one.baseline = r.at[i].baseline;
    one.improved = r.at[i].improved;
    one.checked = r.at[i].checked;
    one.trials = r.trials;
    one.seconds = r.seconds;
    one.end = r.end;
    std::string where;
    for (const std::string& dim : o.several[i]) where += (where.empty() ? "" : " ") + dim;
    if (!o.json) say(where + ": ");
    print_summary(one, {o.json, o.profile}, where);
  }
  if (!r.at.empty() && !o.json)
    say("all: best " + search::time_text(r.best) + ", default schedules " +
        search::time_text(r.baseline) + " (geometric means)\n");
  for (const std::string& remark : r.remarks) complain(remark);
  return fine;
}

/// How large the space of each function is. Nothing is compiled.
int count_spaces(const tune_options& o, const tune_tasks& t) {
  for (std::size_t i = 0; i < t.all.size(); ++i) {
    const search::workload& w = t.all[i];
    const space::context where{w.machine, w.exec->threads};
    std::vector<trace> sketches;
    for (const schedule& s : w.space.sketches(w.function, where, o.seed))
      sketches.push_back(s.trace());
    search::finisher finish;
    if (w.space.has_postprocs()) finish = [&](schedule& s) { w.space.finish(s, where); };
    const search::space_size n = search::count_members(w.function, sketches, finish, o.count_limit);
    const std::string programs = std::to_string(n.programs), members = std::to_string(n.members),
                      families = std::to_string(n.sketches), refused = std::to_string(n.refused);
    if (o.json)
      say("{\"file\": " + json(o.files[i]) + ", \"sketches\": " + families + ", \"members\": " +
          members + ", \"programs\": " + programs + ", \"refused\": " + refused +
          ", \"complete\": " + (n.complete ? "true" : "false") + "}\n");
    else
      say(o.files[i] + ": " + (n.complete ? "" : "more than ") + programs + " programs of " +
          members + " members in " + families + " sketches; " + refused + " refused\n");
  }
  return fine;
}

int tune(tune_options o) {
  o.several = several_dims(o.dims);
  if (!o.several.empty()) {
    if (o.files.size() > 1)
      throw argument_error(
          "--dim with several extents takes one FILE, which is tuned at all of them");
    if (!o.workers.empty() || o.worker || o.ranks.size > 1)
      throw argument_error(
          "--dim with several extents times candidates in this process: leave out "
          "--worker, --worker-at and mpirun");
    o.files.resize(o.several.size(), o.files.front());
  }
  if (!o.weights.empty() && o.weights.size() != o.files.size())
    throw argument_error("--weights wants one number for each of the " +
                         std::to_string(o.files.size()) +
                         (o.several.empty() ? " files" : " extents"));
  for (const double w : o.weights)
    if (!(w > 0)) throw argument_error("--weights wants numbers above 0");
  for (const auto& [option, value] : {std::pair("--seconds", o.seconds), {"--gain", o.gain}})
    if (std::isnan(value.value_or(0)))
      throw argument_error(std::string(option) + " wants a number of 0 or more, not nan");
  if (!o.prior.empty())
    if (const cost::loaded_prior prior = cost::load_prior(o.prior); !prior.model)
      complain("the search starts without its prior: " + prior.problem);
  if ((!o.workers.empty() || o.ranks.size > 1) && o.files.size() > 1)
    throw argument_error(
        "--worker-at, or mpirun, times the candidates of one function; name one FILE");
  tune_tasks t(o);
  if (o.count) return count_spaces(o, t);
  if (!t.no_gpu.empty()) return gate_all(o, t);
  if (!o.several.empty()) return tune_jointly(o, t);
  return o.files.size() == 1 ? tune_one(o, t) : tune_several(o, t);
}

}  // namespace

std::function<int()> declare_tune(CLI::App& app) {
  const auto o = std::make_shared<tune_options>();
  app.add_option("FILE", o->files,
                 "Functions in script form; several share the budget, and resume on their database")
      ->required();
  app.add_option("--function", o->function,
                 "the function of that name of each file; main or the first otherwise");
  app.add_option("--space", o->space,
                 "Where to search: " + list_of(names_of(space::named_spaces())));
  app.add_option("--target", o->target,
                 "CPU to make code for: " + list_of(target::known_names()) +
                     "; or a GPU: " + list_of(target::known_gpu_names()) +
                     "; cuda: this machine's. Without a GPU candidates are built and nothing is "
                     "timed")
      ->capture_default_str();
  app.add_option(
      "--dim", o->dims,
      "NAME=EXTENT of a symbolic extent; NAME=1,8,32 tunes one FILE at all of these as one task");
  app.add_option(
         "--traces", o->traces,
         "Of a FILE at several extents: how many schedules may be found, of which each runs "
         "the one that is fastest there")
      ->check(whole<int>(1))
      ->capture_default_str();
  app.add_option(
      "--matrix", o->matrices,
      "NAME=FILE: a sparse matrix for a parameter of two dimensions, from SciPy's .npz or "
      "a Matrix Market file; candidates are timed on it");
  app.add_option("--seconds", o->seconds,
                 "Budget; default: 10, and less where more time is expected to bring nothing")
      ->check(at_least_0());
  app.add_option("--trials", o->trials, "Candidates to measure at most")->check(whole<int>());
  app.add_option("--gain", o->gain,
                 "Share by which calls have to be expected to become faster for tuning to go on; "
                 "0: use all of the budget; default: 0.01, and 0 with --seconds or --trials")
      ->check(at_least_0());
  app.add_option("--batch", o->batch,
                 "Candidates that are proposed together; as many workers may be busy. For a GPU, "
                 "16 stands for "
                 "two for each core where that is more")
      ->check(whole<int>(1))
      ->capture_default_str();
  app.add_option("--threads", o->threads, "Threads of a call; 0: all")->check(whole<int>());
  app.add_option("--seed", o->seed, "Seed of the search")
      ->check(whole<std::uint64_t>())
      ->capture_default_str();
  app.add_option("--db", o->database, "Database file; default: the user's");
  const std::map<std::string, search::caches> states{{"warm", search::caches::warm},
                                                     {"cold", search::caches::cold},
                                                     {"rotating", search::caches::rotating}};
  app.add_option("--caches", o->where, "State of the caches while timing: warm, cold, rotating")
      ->transform(one_of_words(states))
      ->option_text("WORD");
  const std::map<std::string, bool> reductions{{"any_order", false}, {"in_order", true}};
  app.add_option(
         "--reductions", o->in_order,
         "In which order sums of floats take their terms: any_order, as the schedule has them; or "
         "in_order, as the function has them, so that all schedules compute the same bits")
      ->transform(one_of_words(reductions))
      ->option_text("WORD");
  app.add_option(
         "--weights", o->weights,
         "How often each of several functions runs, or what each of several extents counts, as 3,1")
      ->delimiter(',')
      ->check(at_least_0());
  const std::map<std::string, search::task_order> orders{
      {"gradient", search::task_order::gradient}, {"round_robin", search::task_order::round_robin}};
  app.add_option("--order", o->order,
                 "Which of several functions is next: gradient, the one from which most is "
                 "expected, or round_robin")
      ->transform(one_of_words(orders))
      ->option_text("WORD");
  app.add_option("--strategy", o->strategy,
                 listed("Who proposes candidates", search::strategy_kinds()))
      ->check(one_of(search::strategy_kinds()));
  app.add_option("--cost-model", o->model, listed("What ranks them", cost::model_kinds()))
      ->check(one_of(cost::model_kinds()));
  app.add_option("--prior", o->prior,
                 "What ranks them, trained by `tilewright learn`; default: TILEWRIGHT_PRIOR")
      ->excludes("--cost-model");
  app.add_option("--proposer", o->proposer,
                 "A command that proposes candidates: it reads tasks, requests and times as lines "
                 "of JSON and writes traces (docs/tuning.md)")
      ->excludes("--strategy")
      ->excludes("--cost-model")
      ->excludes("--prior");
  app.add_flag("--worker", o->worker, "Compile and run candidates in processes of their own");
  app.add_option("--worker-at", o->workers,
                 "HOST:PORT of a `tilewright worker --listen` that times candidates, or a command "
                 "that starts a worker, as \"ssh board tilewright worker\"; may be named several "
                 "times. Under mpirun the other ranks are the workers")
      ->excludes("--worker");
  app.add_option("--token-file", o->token_file, worker_token_help)->needs("--worker-at");
  app.add_flag("--count", o->count,
               "Nothing is tuned: how many sketches, members and programs the space has");
  app.add_option("--count-limit", o->count_limit, "Members that are counted at most")
      ->check(whole<std::size_t>(1))
      ->capture_default_str();
  app.add_flag("--profile", o->profile, "Where the time of the session went");
  app.add_flag("--json", o->json, "One line of JSON a round, and a summary");
  return [o] {
    if (!o->count) o->ranks = join_mpi_ranks();
    return o->ranks.rank == 0 ? tune(*o) : serve_rank(o->ranks);
  };
}

}  // namespace tool
