// What a call at unseen extents gets where nothing may be measured: a few extents of a kernel are
// tuned, and at others the nearest stored schedule is compared with the default one and with what
// tuning finds there.
//
// Outputs of all three are compared with a nest in double precision, with a tolerance by the length of the
// reduction, as bench_workloads does it. The
// schedules of one problem are timed in turn, by the processor's time of the thread, which other programs
// change less than the time that passes. A table of what each kernel lost ends the output.
//
// With --jointly=1 the extents that are tuned are one task (search/joint/joint_session.hpp), in as much time. --trials=N
// ends tuning after N trials of each extent: of a joint task each trial is one at all of them.
//
//   bench_unseen [--seed=1] [--tuned=10] [--unseen=20] [--seconds=1] [--trials=64] [--kernel=dense] [--jointly=1]
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/joint/joint_session.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include "problems/compiled_nest.hpp"
#include "problems/fields/argument_memory.hpp"
#include "turns.hpp"

namespace bench {
namespace {

using namespace tilewright;

struct options {
  std::uint64_t seed = 1;
  int tuned = 10, unseen = 20;
  double seconds = 1;
  int trials = std::numeric_limits<int>::max();
  std::string kernel;  // empty: all
  bool jointly = false;
};

options read_options(int argc, char** argv) {
  options out;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals),
                      value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name == "--seed")
      out.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--tuned")
      out.tuned = std::atoi(value.c_str());
    else if (name == "--unseen")
      out.unseen = std::atoi(value.c_str());
    else if (name == "--seconds")
      out.seconds = std::atof(value.c_str());
    else if (name == "--trials")
      out.trials = std::atoi(value.c_str());
    else if (name == "--kernel")
      out.kernel = value;
    else if (name == "--jointly")
      out.jointly = value != "0";
    else {
      std::fprintf(stderr, "bench_unseen: what is %s?\n", argv[i]);
      std::exit(2);
    }
  }
  return out;
}

/// A kernel at some extents.
struct problem {
  std::string name, script;
  std::vector<field_argument> arguments;  // the output last
  std::string body;                       // of the nest in C
  int terms = 1;                          // of a reduction

  std::vector<std::int64_t> extents() const {
    std::vector<std::int64_t> out;
    for (const field_argument& a : arguments)
      out.insert(out.end(), a.extents.begin(), a.extents.end());
    return out;
  }
};

field_argument input(const char* name, std::vector<std::int64_t> extents) {
  return {name, "f32", std::move(extents), -1, 1, false};
}
field_argument output(const char* name, std::vector<std::int64_t> extents) {
  return {name, "f32", std::move(extents), 0, 0, true};
}

using family = std::function<problem(std::mt19937&)>;

int between(std::mt19937& g, int least, int most) {
  return least + static_cast<int>(g() % static_cast<unsigned>(most - least + 1));
}

std::string filled(std::string text, const std::vector<std::pair<std::string, int>>& values) {
  for (const auto& [name, value] : values)
    for (std::size_t at; (at = text.find("<" + name + ">")) != text.npos;)
      text.replace(at, name.size() + 2, std::to_string(value));
  return text;
}

/// A product without and with what comes after it.
problem product(std::mt19937& g) {
  const int m = between(g, 16, 400), n = between(g, 16, 400), k = between(g, 16, 400);
  return {"product_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
          filled(R"(
@T.prim_func
def main(A: T.Buffer((<m>, <k>), "float32"), B: T.Buffer((<k>, <n>), "float32"), C: T.Buffer((<m>, <n>), "float32")):
    for i, j, k in T.grid(<m>, <n>, <k>):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                 {{"m", m}, {"n", n}, {"k", k}}),
          {input("A", {m, k}), input("B", {k, n}), output("C", {m, n})},
          R"(
  for (int i = 0; i < C_0; ++i) {
    for (int j = 0; j < C_1; ++j) C[i][j] = 0;
    for (int k = 0; k < A_1; ++k)
      for (int j = 0; j < C_1; ++j) C[i][j] += A[i][k] * B[k][j];
  }
)",
          k};
}

problem dense(std::mt19937& g) {
  const int m = between(g, 16, 400), n = between(g, 16, 400), k = between(g, 16, 400);
  return {"dense_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
          filled(R"(
@T.prim_func
def main(A: T.Buffer((<m>, <k>), "float32"), B: T.Buffer((<k>, <n>), "float32"), S: T.Buffer((<n>,), "float32"), C: T.Buffer((<m>, <n>), "float32")):
    T_ = T.alloc_buffer((<m>, <n>))
    for i, j, k in T.grid(<m>, <n>, <k>):
        with T.block("sum"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                T_[vi, vj] = T.float32(0)
            T_[vi, vj] = T_[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(<m>, <n>):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(T_[vi, vj] + S[vj], T.float32(0))
)",
                 {{"m", m}, {"n", n}, {"k", k}}),
          {input("A", {m, k}), input("B", {k, n}), input("S", {n}), output("C", {m, n})},
          R"(
  for (int i = 0; i < C_0; ++i) {
    for (int j = 0; j < C_1; ++j) C[i][j] = 0;
    for (int k = 0; k < A_1; ++k)
      for (int j = 0; j < C_1; ++j) C[i][j] += A[i][k] * B[k][j];
    for (int j = 0; j < C_1; ++j) C[i][j] = fmax(C[i][j] + S[j], 0);
  }
)",
          k};
}

/// 3x3, channels last, what comes after it a scale and a ReLU.
problem convolution(std::mt19937& g) {
  const int h = between(g, 7, 56), c = between(g, 2, 16) * 8, k = between(g, 2, 16) * 8;
  return {
      "convolution_" + std::to_string(h) + "_" + std::to_string(c) + "to" + std::to_string(k),
      filled(R"(
@T.prim_func
def main(X: T.Buffer((<h>, <h>, <c>), "float32"), F: T.Buffer((3, 3, <c>, <k>), "float32"), S: T.Buffer((<k>,), "float32"), Y: T.Buffer((<h>, <h>, <k>), "float32")):
    P = T.alloc_buffer((<p>, <p>, <c>))
    T_ = T.alloc_buffer((<h>, <h>, <k>))
    for y, x, c in T.grid(<p>, <p>, <c>):
        with T.block("P"):
            vy, vx, vc = T.axis.remap("SSS", [y, x, c])
            P[vy, vx, vc] = T.if_then_else(1 <= vy and vy < <e> and 1 <= vx and vx < <e>, X[vy - 1, vx - 1, vc], T.float32(0))
    for y, x, k, r, s, c in T.grid(<h>, <h>, <k>, 3, 3, <c>):
        with T.block("sum"):
            vy, vx, vk, vr, vs, vc = T.axis.remap("SSSRRR", [y, x, k, r, s, c])
            with T.init():
                T_[vy, vx, vk] = T.float32(0)
            T_[vy, vx, vk] = T_[vy, vx, vk] + P[vy + vr, vx + vs, vc] * F[vr, vs, vc, vk]
    for y, x, k in T.grid(<h>, <h>, <k>):
        with T.block("Y"):
            vy, vx, vk = T.axis.remap("SSS", [y, x, k])
            Y[vy, vx, vk] = T.max(T_[vy, vx, vk] * S[vk], T.float32(0))
)",
             {{"h", h}, {"c", c}, {"k", k}, {"p", h + 2}, {"e", h + 1}}),
      {input("X", {h, h, c}), input("F", {3, 3, c, k}), input("S", {k}), output("Y", {h, h, k})},
      R"(
  for (int y = 0; y < Y_0; ++y)
    for (int x = 0; x < Y_1; ++x) {
      for (int k = 0; k < Y_2; ++k) Y[y][x][k] = 0;
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
          const int v = y + r - 1, u = x + s - 1;
          if (v < 0 || v >= X_0 || u < 0 || u >= X_1) continue;
          for (int c = 0; c < X_2; ++c)
            for (int k = 0; k < Y_2; ++k) Y[y][x][k] += X[v][u][c] * F[r][s][c][k];
        }
      for (int k = 0; k < Y_2; ++k) Y[y][x][k] = fmax(Y[y][x][k] * S[k], 0);
    }
)",
      9 * c};
}

search::workload workload_of(const problem& p, const target::cpu& machine) {
  search::workload w;
  w.function = ir::parse(p.script);
  w.key = {ir::workload_key(w.function).hex(), machine.isa_key(), "unseen", 1};
  w.family = search::family_of(w.function);
  w.extents = p.extents();
  w.machine = &machine;
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  return w;
}

/// The arguments of a problem, and what the nest in double precision makes of them.
class reference {
 public:
  explicit reference(const problem& p) : terms_(p.terms) {
    std::mt19937 generator(7);
    std::vector<void*> wide;
    for (const field_argument& a : p.arguments) {
      memory_.emplace_back(a).draw(generator);
      wanted_.push_back(memory_.back().widened());
      at_.push_back(memory_.back().data());
      wide.push_back(wanted_.back().data());
    }
    const compiled_nest nest(fields::nest_text(p.arguments, p.body));
    if (!nest.in_double) {
      std::fprintf(stderr, "bench_unseen: clang does not compile the nest\n");
      std::exit(1);
    }
    nest.in_double(wide.data());
  }

  void* const* arguments() const { return at_.data(); }
  void poison() { memory_.back().poison(); }
  /// Of what the last call has left, relative to the largest element.
  double error() const { return memory_.back().error(wanted_.back()); }
  double bound() const { return memory_.back().bound(terms_); }

 private:
  int terms_;
  std::vector<argument_memory> memory_, wanted_;
  std::vector<void*> at_;
};

/// Code that computes on the arguments of a problem.
class runnable {
 public:
  /// The arguments outlive it.
  runnable(std::shared_ptr<const backend::loaded> code, reference& on)
      : code_(std::move(code)),
        on_(&on),
        workspace_(static_cast<std::size_t>(code_->workspace_bytes()) + 64) {}

  void run() {
    void* at = workspace_.data();
    std::size_t room = workspace_.size();
    const backend::call c{on_->arguments(),
                          nullptr,
                          static_cast<std::byte*>(std::align(64, room - 63, at, room)),
                          &backend::serial_executor(),
                          nullptr,
                          nullptr};
    (*code_)(c);
  }
  /// Whether it computes on poisoned memory what the nest does; what is wrong is printed.
  bool is_right(const std::string& problem, const char* schedule) {
    on_->poison();
    run();
    const double error = on_->error();
    if (error <= on_->bound()) return true;
    std::printf("  %s, %s: WRONG by %g\n", problem.c_str(), schedule, error);
    return false;
  }

 private:
  std::shared_ptr<const backend::loaded> code_;
  reference* on_;
  std::vector<std::byte> workspace_;
};

std::optional<runnable> made(const ir::function& f, const target::cpu& machine, reference& on) {
  const search::built b = search::build(f, &machine);
  if (!b.code) return std::nullopt;
  return runnable(b.code, on);
}

/// What the nearest stored schedule and the default one reach of what tuning finds, over problems.
struct tally {
  int problems = 0, refused = 0, wrong = 0;
  // shares of the tuned speed; ranked: of the two the one that the model prefers
  std::vector<double> got, untuned, ranked, better;

  static void print(const char* what, std::vector<double> shares) {
    if (shares.empty()) return;
    std::sort(shares.begin(), shares.end());
    double logs = 0;
    for (const double s : shares) logs += std::log(s);
    const auto low = std::count_if(shares.begin(), shares.end(), [](double s) { return s < 0.8; });
    std::printf("  %-34s geometric mean %.3f, least %.2f, median %.2f, below 0.8: %ld\n", what,
                std::exp(logs / static_cast<double>(shares.size())), shares.front(),
                shares[shares.size() / 2], static_cast<long>(low));
  }
};

/// Whether a call runs the default schedule.
bool prefers_default(const std::optional<search::candidate>& near, const schedule& first,
                     const search::workload& w) {
  const auto other = search::replay(first.trace(), w.function, 1);
  if (!near || !other) return !near;
  return !search::is_worth_adapting(*near, *other);
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processor time of a call, of so many that reading the clock is nothing beside them. // s
double processor_time(runnable& r) {
  constexpr double enough = 1e-4;
  const double start = thread_seconds();
  int calls = 0;
  double spent = 0;
  for (int more = 1; spent < enough; more *= 2) {
    for (int i = 0; i < more; ++i) r.run();
    calls += more;
    spent = thread_seconds() - start;
  }
  return spent / calls;
}

engine timed_engine(const char* name, runnable& r) {
  return {name, [&r] { r.run(); }, {}, [&r] { return processor_time(r); }};
}

void look_at(const problem& p, const target::cpu& machine, search::database& db, const options& o,
             tally& all) {
  const search::workload w = workload_of(p, machine);
  ++all.problems;
  std::string why;
  std::optional<search::candidate> near;
  if (const auto stored = search::nearest_record(db, w))
    near = search::replay(search::by_name(trace::parse(stored->trace), w.function), w.function, 1,
                          &why);
  const space::context where{&machine, 1};
  const schedule first = search::default_schedule(w.function, w.space, where, 1);
  search::database own(":memory:");
  search::session_options session;
  session.seconds = o.seconds;
  const search::tuning_result best = search::tune(w, session, own);

  reference on(p);
  std::optional<runnable> untuned = made(first.function(), machine, on),
                          adapted =
                              near ? made(near->scheduled.function(), machine, on) : std::nullopt;
  runnable tuned(backend::load(best.code), on);
  if (!near || !adapted) {
    ++all.refused;
    std::printf("  %s: refused: %.200s\n", p.name.c_str(), why.c_str());
  } else if (!adapted->is_right(p.name, "nearest")) {
    ++all.wrong;
  }
  all.wrong += !tuned.is_right(p.name, "tuned");
  all.wrong += !untuned->is_right(p.name, "default");
  std::vector<engine> engines{timed_engine("tuned", tuned), timed_engine("default", *untuned)};
  if (adapted) engines.push_back(timed_engine("nearest", *adapted));
  take_turns(engines);
  const double tuned_time = std::min(engines[0].best(), engines[1].best());
  all.untuned.push_back(tuned_time / engines[1].best());
  all.got.push_back(tuned_time / engines.back().best());
  all.better.push_back(std::max(all.got.back(), all.untuned.back()));
  all.ranked.push_back(prefers_default(near, first, w) ? all.untuned.back() : all.got.back());
  std::printf("  %-28s tuned %8.1f us, default %.2f, %s %.2f\n", p.name.c_str(), tuned_time * 1e6,
              all.untuned.back(), adapted ? "nearest" : "in its place the default", all.got.back());
  std::fflush(stdout);
}

void tune_all(const std::vector<search::workload>& all, const options& o, search::database& db) {
  search::session_options session;
  session.seconds = o.seconds;
  session.trials = o.trials;
  if (!o.jointly) {
    int trials = 0;
    double best = 0, baseline = 0;  // logarithms
    for (const search::workload& w : all) {
      const search::tuning_result r = search::tune(w, session, db);
      trials += r.trials;
      best += std::log(r.best) / static_cast<double>(all.size());
      baseline += std::log(r.baseline) / static_cast<double>(all.size());
    }
    std::printf("one by one: %d trials, %.2f us, default schedules %.2f us (geometric means)\n",
                trials, std::exp(best) * 1e6, std::exp(baseline) * 1e6);
    return;
  }
  std::vector<search::joint_task> tasks;
  for (const search::workload& w : all) tasks.push_back({&w, 1});
  session.seconds *= static_cast<double>(all.size());
  const search::joint_result r = search::tune_jointly(tasks, {session, 1}, db);
  std::printf("one task: %d trials, %.2f us, default schedules %.2f us (geometric means)\n",
              r.trials, r.best * 1e6, r.baseline * 1e6);
}

void look_at_family(const std::string& name, const family& draw, const options& o) {
  const auto machine = std::make_unique<target::cpu>(target::host());
  machine->cores = 1;
  std::mt19937 g(static_cast<unsigned>(o.seed));
  search::database db(":memory:");
  std::vector<search::workload> tuned;
  for (int i = 0; i < o.tuned; ++i) tuned.push_back(workload_of(draw(g), *machine));
  tune_all(tuned, o, db);
  std::printf("%s, %d extents tuned:\n", name.c_str(), o.tuned);
  tally all;
  for (int i = 0; i < o.unseen; ++i) look_at(draw(g), *machine, db, o, all);
  std::printf("%s: %d of %d refused, %d wrong; of the speed of what tuning finds:\n", name.c_str(),
              all.refused, all.problems, all.wrong);
  tally::print("nearest, or default where refused", all.got);
  tally::print("default", all.untuned);
  tally::print("what a call runs", all.ranked);
  tally::print("the faster of both", all.better);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const options o = read_options(argc, argv);
  const std::pair<const char*, family> families[] = {
      {"product", product}, {"dense", dense}, {"convolution", convolution}};
  for (const auto& [name, draw] : families)
    if (o.kernel.empty() || o.kernel == name) look_at_family(name, draw, o);
}
