// What putting code into memory costs a candidate: by ORC, which links what is compiled in this process, and
// by the library's own loader, which maps what is stored.
//
//     bench_linking [KERNELS]     memory over as many kernels; 100000
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/measurement/measuring.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

struct program {
  const char* name;
  const char* script;
};

constexpr program programs[] = {
    {"product 128", R"(
@T.prim_func
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    for i, j, k in T.grid(128, 128, 128):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"},
    {"scaled row", R"(
@T.prim_func
def main(X: T.Buffer((4096,), "float32"), Y: T.Buffer((4096,), "float32")):
    for i in range(4096):
        with T.block("Y"):
            vi = T.axis.spatial(4096, i)
            Y[vi] = X[vi] * T.float32(2)
)"},
    {"functions, C library", R"(
@T.prim_func
def main(X: T.Buffer((64, 100), "float32"), Y: T.Buffer((64, 100), "float32")):
    for i, j in T.grid(64, 100):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.exp(X[vi, vj]) + T.tanh(X[vi, vj]) * T.asin(X[vi, vj])
)"},
};

/// Of this thread, or of the process, which no other program takes time from. // us
double now(clockid_t whose = CLOCK_THREAD_CPUTIME_ID) {
  timespec t{};
  clock_gettime(whose, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

template <class Work>
double microseconds(Work work) {
  const double start = now();
  work();
  return now() - start;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long pages = 0, set = 0;
  file >> pages >> set;
  return set * 4;
}

void compare(const program& p) {
  const ir::function f = ir::parse(p.script);
  const target::cpu& cpu = target::host();
  const schedule s = search::default_schedule(f, space::default_cpu(), {cpu, 1}, 42);
  std::vector<double> making, linking, loading;
  for (int i = 0; i < 60; ++i) {
    backend::artifact a;
    making.push_back(
        microseconds([&] { a = backend::compile(pass::lower(s.function(), cpu), cpu); }));
    linking.push_back(microseconds([&] { backend::link(a); }));
    loading.push_back(microseconds([&] { backend::load(a); }));
  }
  const double made = median(making), linked = median(linking), loaded = median(loading);
  std::printf("%-22s %10.0f %10.1f %10.1f %12.2f\n", p.name, made, linked, loaded,
              100 * (linked - loaded) / (made + loaded));
}

/// A builder that puts code into memory by one or the other.
search::builder builder_with(
    std::shared_ptr<const backend::loaded> (*put)(const backend::artifact&)) {
  return [put](const ir::function& f, const target::machine& where) {
    search::built out;
    out.artifact = backend::compile(pass::lower(f, *where.cpu), *where.cpu);
    out.code = put(out.artifact);
    return out;
  };
}

/// Times each candidate by as many calls as any other, so that sessions do the same work whatever the clock
/// says; arguments are those of the workload, made once.
search::measurer equal_calls(const search::workload& w) {
  const auto memory = std::make_shared<search::runner>(
      w.function, std::vector<search::argument_layout>{}, *w.exec, 1);
  return [memory](const search::built& b, const search::measure_options& asked) {
    search::measure_options o = asked;
    o.best = std::numeric_limits<double>::infinity();
    o.stable = 0;
    o.repeats = o.most_repeats = 5;
    o.budget = 1e3;
    return memory->measure(*b.code, o);
  };
}

/// Processor time of a candidate in a session that measures equal ones, whatever the builder. // us
double candidate_time(const program& p, search::builder build) {
  search::session_options o;
  o.seconds = 600;
  o.trials = 64;
  o.method = [](std::uint64_t seed) { return search::make_strategy("replay_traces", seed); };
  o.measuring.build = std::move(build);
  o.measuring.runner = &equal_calls;
  search::database db(":memory:");
  const double start = now(CLOCK_PROCESS_CPUTIME_ID);
  const search::tuning_result r = search::tune(
      search::contiguous_workload(ir::parse(p.script), target::host(), backend::serial_executor()),
      o, db);
  return (now(CLOCK_PROCESS_CPUTIME_ID) - start) / std::max(r.trials, 1);
}

/// Sessions take turns, and each pair gives a ratio, so that what changes slowly changes both.
void compare_sessions(const program& p) {
  std::vector<double> linking, loading, ratios;
  for (int round = 0; round < 15; ++round) {
    linking.push_back(candidate_time(p, builder_with(&backend::link)));
    loading.push_back(candidate_time(p, builder_with(&backend::load)));
    ratios.push_back(linking.back() / loading.back());
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%-22s %10s %10.1f %10.1f %12.2f (half of the pairs %.2f to %.2f)\n", p.name, "",
              1e6 / median(linking), 1e6 / median(loading), 100 * (median(ratios) - 1),
              100 * (ratios[3] - 1), 100 * (ratios[11] - 1));
}

}  // namespace

int main(int count, char** words) {
  const int kernels = count > 1 ? std::atoi(words[1]) : 100000;
  std::printf("us of processor time, medians of 60\n%-22s %10s %10s %10s %12s\n", "", "compile",
              "ORC", "loader", "slower, %");
  for (const program& p : programs) compare(p);
  std::printf("candidates per second of a session's processor time, medians of 15 pairs\n");
  for (const program& p : programs) compare_sessions(p);
  const ir::function f = ir::parse(programs[1].script);
  const backend::artifact a = backend::compile(pass::lower(f, target::host()), target::host());
  for (int i = 0; i < 100; ++i) backend::link(a);
  const long before = resident_kib();
  for (int i = 1; i <= kernels; ++i) {
    backend::link(a);
    if (i % std::max(kernels / 5, 1) == 0)
      std::printf("resident after %d kernels: %+ld KiB of %ld\n", i, resident_kib() - before,
                  before);
  }
}
