#include "worker_restart.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker.hpp>

#include "../device_clock.hpp"
#include "../result_file.hpp"

namespace gpu_workers {
namespace {

using namespace tilewright;
using clock = std::chrono::steady_clock;
using gpu_results::json_text, gpu_results::number;

ir::function one_input_one_output() {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("B"):
            vi = T.axis.spatial(1024, i)
            B[vi] = A[vi]
)");
}

double since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

}  // namespace

restart restart_after(const backend::artifact& harmful, const backend::artifact& harmless,
                      const std::string& expected, double deadline) {
  constexpr int times = 3;
  const clock::time_point begin = clock::now();
  const search::runner data(one_input_one_output(), {}, backend::serial_executor(), 1, {},
                            search::argument_memory::sharing::possible);
  search::worker w(data.memory(), 1);
  restart out;
  std::string wrong;
  const auto run = [&](const backend::artifact& code, const std::string& how) {
    const search::measurement m = w.run(code, deadline);
    if (search::name(m.failed) != how)
      wrong = std::string(search::name(m.failed)) + " where " + how + " was expected: " + m.detail;
  };
  const std::string none = search::name(search::failure::none);
  run(harmless, none);
  const double first = since(begin);
  std::vector<double> usual, restarts, failures;
  for (int i = 0; i < times && wrong.empty(); ++i) {
    clock::time_point at = clock::now();
    run(harmless, none);
    usual.push_back(since(at));
    at = clock::now();
    run(harmful, expected);
    failures.push_back(since(at));
    at = clock::now();
    run(harmless, none);
    restarts.push_back(since(at) - usual.back());
  }
  out.fine = wrong.empty() && w.restarts() == times;
  out.fields = number("first_start_seconds", first) + ", " + number("restarts", w.restarts());
  if (!wrong.empty()) out.fields += ", \"wrong\": " + json_text(wrong);
  if (usual.empty() || restarts.empty()) return out;
  out.fields += ", " + number("run_seconds", gpu_time::median(usual)) + ", " +
                number("failure_seconds", gpu_time::median(failures)) + ", " +
                number("restart_seconds", gpu_time::median(restarts));
  return out;
}

}  // namespace gpu_workers
