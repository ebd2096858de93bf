// What the search does: replaying traces with all checks of the primitives, copying and verifying
// programs, keys, text, features and boosted trees; and compiling and measuring beside each other.
//
// One item is one replay, one copy, one key or one script, so items_per_second is what a core does;
// of compile_and_measure and session it is one candidate, on all cores.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilewright/backend/pool.hpp>
#include <tilewright/cost/curve_features.hpp>
#include <tilewright/cost/features.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/trace_tokens.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/target/cpu.hpp>

#include "search/search_traces.hpp"

using namespace tilewright;

namespace {

struct candidate {
  ir::function function;
  trace steps;

  candidate(const char* program, const char* text, std::size_t instructions)
      : function(ir::parse(program)), steps(trace::parse(text)) {
    if (steps.size() != instructions) throw std::logic_error("the trace has another length");
  }
  schedule replay() const {
    schedule s(function);
    steps.apply_to(s);
    return s;
  }
};

const candidate& matmul() {
  static const candidate c(bench::matmul_program, bench::matmul_trace, 30);
  return c;
}
const candidate& conv2d() {
  static const candidate c(bench::conv2d_program, bench::conv2d_trace, 50);
  return c;
}

/// Every primitive of the trace with its checks.
void replay(benchmark::State& state, const candidate& c) {
  for (auto _ : state) benchmark::DoNotOptimize(c.replay().function().body.get());
  state.SetItemsProcessed(state.iterations());
}
/// Replays of the sketches of a space with fresh draws, as a session makes them: as the space's
/// rules have recorded them, or without what nothing uses. `instructions` a trace, `refused` share.
void draw_members(benchmark::State& state, const candidate& of, const space::design_space& space,
                  bool simplified) {
  const space::context where{&target::host(), 1};
  std::vector<trace> sketches;
  double instructions = 0;
  for (const schedule& s : space.sketches(of.function, where, 1)) {
    sketches.push_back((simplified ? s.trace().simplified() : s.trace()).without_decisions());
    instructions += static_cast<double>(sketches.back().size());
  }
  std::uint64_t seed = 0;
  std::int64_t refused = 0;
  for (auto _ : state) {
    const auto c = search::replay(sketches[seed % sketches.size()], of.function, seed);
    refused += c ? 0 : 1;
    ++seed;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["instructions"] = instructions / static_cast<double>(sketches.size());
  state.counters["refused"] =
      static_cast<double>(refused) / static_cast<double>(state.iterations());
}

/// The same, and the result is verified as a whole.
void replay_and_verify(benchmark::State& state, const candidate& c) {
  for (auto _ : state) ir::verify(c.replay().function());
  state.SetItemsProcessed(state.iterations());
}
void copy_function(benchmark::State& state, const candidate& c) {
  const schedule done = c.replay();
  for (auto _ : state) {
    ir::function copy = done.function();
    benchmark::DoNotOptimize(copy);
  }
  state.SetItemsProcessed(state.iterations());
}
void copy_schedule(benchmark::State& state, const candidate& c) {
  schedule done = c.replay();
  for (auto _ : state) {
    schedule copy = done.copy();
    benchmark::DoNotOptimize(copy);
  }
  state.SetItemsProcessed(state.iterations());
}
void workload_key(benchmark::State& state, const candidate& c) {
  for (auto _ : state) benchmark::DoNotOptimize(ir::workload_key(c.function));
  state.SetItemsProcessed(state.iterations());
}
void print_trace(benchmark::State& state, const candidate& c) {
  for (auto _ : state) benchmark::DoNotOptimize(c.steps.print());
  state.SetItemsProcessed(state.iterations());
}
void parse_trace(benchmark::State& state, const candidate& c) {
  const std::string text = c.steps.print();
  for (auto _ : state) benchmark::DoNotOptimize(trace::parse(text));
  state.SetItemsProcessed(state.iterations());
}

/// A chain of elementwise stages, 200 lines as printed.
std::string long_script() {
  std::string text = "@T.prim_func\ndef main(T0: T.Buffer((64, 64), \"float32\")):\n";
  for (int i = 1; i <= 28; ++i) {
    const std::string to = "T" + std::to_string(i), from = "T" + std::to_string(i - 1);
    text += "    " + to +
            " = T.alloc_buffer((64, 64), \"float32\")\n    for i, j in T.grid(64, 64):\n" +
            "        with T.block(\"" + to + "\"):\n" +
            "            vi, vj = T.axis.remap(\"SS\", [i, j])\n            " + to +
            "[vi, vj] = T.max(" + from + "[vi, vj] * T.float32(2) + T.float32(1), T.float32(0))\n";
  }
  return ir::print(ir::parse(text));
}
void parse_script(benchmark::State& state) {
  const std::string text = long_script();
  state.counters["lines"] = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
  for (auto _ : state) benchmark::DoNotOptimize(ir::parse(text).body.get());
  state.SetItemsProcessed(state.iterations());
}
void print_script(benchmark::State& state) {
  const ir::function f = ir::parse(long_script());
  for (auto _ : state) benchmark::DoNotOptimize(ir::print(f));
  state.SetItemsProcessed(state.iterations());
}

/// The 164 numbers per store.
void features(benchmark::State& state, const candidate& c) {
  const ir::function f = c.replay().function();
  for (auto _ : state) benchmark::DoNotOptimize(cost::store_features(f).data());
  state.SetItemsProcessed(state.iterations());
}
/// The trace as tokens.
void tokens(benchmark::State& state, const candidate& c) {
  const schedule s = c.replay();
  for (auto _ : state) benchmark::DoNotOptimize(search::tokens_of(s).data());
  state.SetItemsProcessed(state.iterations());
}
/// The loops of a program as nodes of a graph, without and with AutoTVM's curves.
void loop_nodes(benchmark::State& state, const candidate& c) {
  const ir::function f = c.replay().function();
  for (auto _ : state)
    for (const cost::loop_context& l : cost::loop_contexts(f))
      benchmark::DoNotOptimize(cost::loop_node(l).data());
  state.SetItemsProcessed(state.iterations());
}
void curves(benchmark::State& state, const candidate& c) {
  const ir::function f = c.replay().function();
  for (auto _ : state)
    benchmark::DoNotOptimize(cost::curve_features(cost::loop_contexts(f)).data());
  state.SetItemsProcessed(state.iterations());
}
/// All that a search does with a candidate before it is compiled.
void candidate_scored(benchmark::State& state, const candidate& c) {
  const cost::gbt& model = cost::shipped_prior().trees;
  for (auto _ : state) {
    const schedule s = c.replay();
    ir::workload_key(s.function());
    const auto rows = cost::store_features(s.function());
    benchmark::DoNotOptimize(model.score(rows.front().data(), rows.size()));
  }
  state.SetItemsProcessed(state.iterations());
}

/// Rows as they come from stores: a third of the columns moves.
cost::dataset training_rows() {
  cost::dataset out;
  out.columns = cost::feature_count;
  support::random draws(1);
  std::vector<float> row(out.columns, 0.0F);
  for (int i = 0; i < 2000; ++i) {
    for (std::size_t c = 0; c < row.size(); c += 3) row[c] = static_cast<float>(draws.below(25));
    out.add(row.data(), 1, row[3] * row[6] + row[9]);
  }
  return out;
}
void train_trees(benchmark::State& state, cost::objective goal) {
  const cost::dataset d = training_rows();
  cost::gbt_options o;
  o.goal = goal;
  cost::gbt model;
  for (auto _ : state) benchmark::DoNotOptimize(model.fit(d, o).data());
  state.SetItemsProcessed(state.iterations() * 2000);
}
void predict_trees(benchmark::State& state) {
  const cost::dataset d = training_rows();
  cost::gbt model;
  model.fit(d);
  std::vector<float> out(d.rows());
  for (auto _ : state) {
    model.predict(d.x.data(), d.rows(), out.data());
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * 2000);
}

/// Members of the default space of a product; its kernels take much less than a millisecond.
struct measurable {
  search::workload work;
  std::vector<ir::function> programs;

  explicit measurable(std::int64_t n, std::size_t count) {
    using axes::i, axes::j, axes::k;
    static constexpr auto product = kernel<"product">(
        [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
          return C(i, j) = sum<k>(A(i, k) * B(k, j));
        });
    work.function = reify(product, {{"M", n}, {"N", n}, {"K", n}});
    work.key = {ir::workload_key(work.function).hex(), "bench", "", 1};
    work.family = "product";
    work.extents = {n, n, n, n, n, n};
    work.machine = &target::host();
    work.exec = &backend::serial_executor();
    work.space = space::default_cpu();
    const space::context where{work.machine, 1};
    const std::vector<schedule> sketches = work.space.sketches(work.function, where, 1);
    for (std::uint64_t seed = 1; programs.size() < count; ++seed)
      if (const auto c = search::replay(
              sketches[seed % sketches.size()].trace().without_decisions(), work.function, seed))
        programs.push_back(c->scheduled.function());
  }
};

/// Compiling on all cores, on one of them only between measurements.
void compile_and_measure(benchmark::State& state, std::int64_t n) {
  const measurable all(n, 64);
  search::runner arguments(all.work.function, {}, *all.work.exec, 1);
  double best = 1e9;
  for (auto _ : state) {
    const int measuring = all.work.exec->threads;
    search::build_queue queue(all.programs, all.work.machine,
                              {target::host().cores - measuring, measuring});
    for (std::size_t i = 0; i < all.programs.size(); ++i) {
      const search::built b = queue.take(i);
      if (!b.code) throw std::logic_error(b.error);
      search::measure_options o;
      o.best = best;
      const search::measurement m = arguments.measure(*b.code, o);
      best = std::min(best, m.median());
    }
  }
  state.counters["best_us"] = best * 1e6;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.programs.size()));
}

/// A whole session: proposals, model, compilation, measurement, checks, and the final timing.
void session(benchmark::State& state, std::int64_t n, search::isolation where) {
  const measurable all(n, 0);
  std::int64_t trials = 0;
  for (auto _ : state) {
    search::database db(":memory:");
    search::session_options o;
    o.seconds = 5;
    o.measuring.run_in = where;
    trials += search::tune(all.work, o, db).trials;
  }
  state.SetItemsProcessed(trials);
}

void add_measurements() {
  for (const std::int64_t n : {64, 256})
    benchmark::RegisterBenchmark(("compile_and_measure/matmul_" + std::to_string(n)).c_str(),
                                 [n](benchmark::State& s) { compile_and_measure(s, n); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(
      "session/matmul_256/seconds:5",
      [](benchmark::State& s) { session(s, 256, search::isolation::none); })
      ->UseRealTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
  if (search::find_worker().empty()) return;
  benchmark::RegisterBenchmark(
      "session_worker/matmul_256/seconds:5",
      [](benchmark::State& s) { session(s, 256, search::isolation::worker); })
      ->UseRealTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  const auto add = [](const char* name, void (*run)(benchmark::State&, const candidate&)) {
    benchmark::RegisterBenchmark((std::string(name) + "/matmul_30").c_str(),
                                 [run](benchmark::State& s) { run(s, matmul()); });
    benchmark::RegisterBenchmark((std::string(name) + "/conv2d_50").c_str(),
                                 [run](benchmark::State& s) { run(s, conv2d()); });
  };
  add("replay", replay);
  add("replay_and_verify", replay_and_verify);
  for (const char* name : {"default_cpu", "metaschedule_cpu"})
    for (const bool simplified : {false, true})
      for (const bool convolution : {false, true})
        benchmark::RegisterBenchmark(
            (std::string("draw/") + name + (convolution ? "/conv2d" : "/matmul") +
             (simplified ? "/simplified" : "/as_recorded"))
                .c_str(),
            [=](benchmark::State& s) {
              draw_members(s, convolution ? conv2d() : matmul(), space::find_space(name),
                           simplified);
            });
  add("copy_function", copy_function);
  add("copy_schedule", copy_schedule);
  add("workload_key", workload_key);
  add("features", features);
  add("tokens", tokens);
  add("loop_nodes", loop_nodes);
  add("curves", curves);
  add("replay_key_features_score", candidate_scored);
  benchmark::RegisterBenchmark("train_trees/2000x164/squared", [](benchmark::State& b) {
    train_trees(b, cost::objective::squared);
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("train_trees/2000x164/pairwise", [](benchmark::State& b) {
    train_trees(b, cost::objective::pairwise);
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("predict_trees/2000x164", predict_trees);
  add("print_trace", print_trace);
  add("parse_trace", parse_trace);
  benchmark::RegisterBenchmark("parse_script/200_lines", parse_script);
  benchmark::RegisterBenchmark("print_script/200_lines", print_script);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  add_measurements();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
