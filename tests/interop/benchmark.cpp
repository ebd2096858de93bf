#include <tilewright/interop/benchmark.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/expr/kernel.hpp>

using namespace tilewright;

namespace {

constexpr auto scale = kernel<"scale">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
  using axes::i;
  return Y(i) = X(i) * 2.0f;
});

/// Keeps what the benchmarks report.
class collector final : public ::benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& r : runs) all[r.run_name.function_name] = r;
  }
  std::map<std::string, Run> all;
};

void initialize() {
  std::string name = "test_benchmark", time = "--benchmark_min_time=0.001";
  char* arguments[] = {name.data(), time.data(), nullptr};
  int count = 2;
  ::benchmark::Initialize(&count, arguments);
}

}  // namespace

TEST_CASE("benchmark: a kernel and its rivals are registered under the name of the comparison") {
  std::vector<float> x(512), y(512), z(512);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  int tuned_events = 0, rounds = 0;
  tuned op{scale, {.trials = 2, .database = ":memory:", .events = [&](const search::event& e) {
                     tuned_events += e.what == search::event::kind::progress ? 1 : 0;
                   }}};
  initialize();
  tilewright::benchmark::comparison all("scale/512", 512);
  all.add(op, x, y).add("loop", [&] {
    ++rounds;
    for (std::size_t i = 0; i < x.size(); ++i) z[i] = x[i] * 2;
  });
  CHECK(tuned_events == 0);  // nothing is tuned before the benchmark runs
  collector found;
  REQUIRE(::benchmark::RunSpecifiedBenchmarks(&found, "scale/512/.*") == 2);
  REQUIRE(found.all.count("scale/512/tilewright") == 1);
  REQUIRE(found.all.count("scale/512/loop") == 1);
  for (const auto& [name, run] : found.all) {
    const double calls = static_cast<double>(run.iterations), seconds = run.real_accumulated_time;
    REQUIRE(run.counters.count("gflops") == 1);
    CHECK(run.counters.at("gflops").value ==
          doctest::Approx(512e-9 * calls / run.cpu_accumulated_time).epsilon(0.2));
    CHECK(seconds > 0);
  }
  CHECK(rounds > 0);
  CHECK(y == z);
  ::benchmark::ClearRegisteredBenchmarks();
}

TEST_CASE("benchmark: what is tuned is tuned before the clock starts, once for all runs") {
  std::vector<float> x(300, 1), y(300);
  int rounds = 0;
  tuned op{scale, {.trials = 3, .database = ":memory:", .events = [&](const search::event& e) {
                     rounds += e.what == search::event::kind::progress ? 1 : 0;
                   }}};
  initialize();
  tilewright::benchmark::comparison("scale/300", 300).add(op, x, y);
  collector first, second;
  ::benchmark::RunSpecifiedBenchmarks(&first, "scale/300/.*");
  const int after_first = rounds;
  ::benchmark::RunSpecifiedBenchmarks(&second, "scale/300/.*");
  CHECK(rounds == after_first);
  CHECK(y == std::vector<float>(300, 2));
  ::benchmark::ClearRegisteredBenchmarks();
}
