// Sessions on a device that is a fake one, whose kernels write what their names say: which results are refused.
#include <tilewright/search/session.hpp>

#include <atomic>
#include <string>

#include <doctest/doctest.h>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "backend/cuda/fake/fake.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Bytes of 0x5a.
workload constant(const target::gpu& gpu, int bytes = 4096) {
  workload w;
  const std::string n = std::to_string(bytes);
  w.function = ir::parse("@T.prim_func\ndef main(B: T.Buffer((" + n +
                         ",), \"int8\")):\n    for i in range(" + n +
                         "):\n        with T.block(\"B\"):\n            vi = T.axis.spatial(" + n +
                         ", i)\n            B[vi] = T.int8(90)\n");
  w.key = {ir::workload_key(w.function).hex(), "test", "", 1};
  w.family = "constant";
  w.extents = {bytes};
  w.machine = &gpu;
  w.exec = &backend::serial_executor();
  w.space = space::default_gpu();
  return w;
}

/// Code that writes so many bytes.
built filling(int bytes, int microseconds) {
  built out;
  backend::artifact& a = out.artifact;
  a.isa = "nvidia:sm_90a";
  a.object.resize(64);
  backend::launch l;
  l.symbol = "fill_" + std::to_string(bytes) + "_" + std::to_string(microseconds);
  l.arguments = {{backend::launch_argument::kind::buffer, 8, 0}};
  a.launches = {l};
  return out;
}

}  // namespace

TEST_CASE("fast kernels and slow ones are checked, and the right ones kept") {
  if (!fake::here() || find_worker().empty()) return;
  const target::gpu gpu = target::named_gpu("sm_90a");
  // beyond a millisecond, a call of a CPU's code is checked by what it has left while it was timed
  for (const int slowest : {900, 9000}) {
    std::atomic<int> built_so_far{0};
    session_options o;
    o.seconds = 60;
    o.trials = 12;
    o.batch = 3;
    o.measuring.builds = 1;
    o.measuring.build = [&](const ir::function&, const target::machine&) {
      const int n = built_so_far++;
      const int microseconds = slowest - 20 * n;  // each is faster than those before
      if (n < 2) return filling(4096, slowest);   // the default schedule, at small extents too
      constexpr int bytes[] = {0, 4095, 4096,
                               4097};  // what comes behind a fault meets a new process
      return filling(bytes[n % 4], microseconds);
    };
    database db(":memory:");
    const tuning_result r = tune(constant(gpu), o, db);
    CHECK(r.trials == 12);
    CHECK(r.failures.at(failure::wrong_result) == 6);
    CHECK(r.failures.at(failure::fault) == 3);
    CHECK(r.improved);
    CHECK(r.best < 1e-6 * slowest);
    CHECK(r.code.launches.at(0).symbol.find("fill_4096_") == 0);
  }
}

TEST_CASE(
    "where a device compares nothing that it should, large results are compared on the host") {
  if (!fake::here() || find_worker().empty()) return;
  // its kernels all write a byte: a comparison that is started there counts nothing
  constexpr int large = 5 << 20;
  const target::gpu gpu = target::named_gpu("sm_90a");
  std::atomic<int> built_so_far{0};
  session_options o;
  o.seconds = 60;
  o.trials = 6;
  o.batch = 3;
  o.measuring.builds = 1;
  o.measuring.build = [&](const ir::function&, const target::machine&) {
    const int n = built_so_far++;
    return n == 0 ? filling(large, 900) : filling(n % 2 ? large : large - 1, 900 - 20 * n);
  };
  database db(":memory:");
  const tuning_result r = tune(constant(gpu, large), o, db);
  CHECK(r.trials == 6);
  CHECK(r.failures.at(failure::wrong_result) == 3);
  CHECK(r.failures.size() == 1);
  CHECK(r.improved);
}

TEST_CASE(
    "a process that begins after a fault makes outputs fresh, not as an earlier candidate left "
    "them") {
  if (!fake::here() || find_worker().empty()) return;
  const target::gpu gpu = target::named_gpu("sm_90a");
  runner r(constant(gpu).function, {}, backend::serial_executor(), 1, {},
           argument_memory::sharing::possible);
  search::detail::computer by;
  by.in_worker = true;
  by.code = worker_code::of_gpu;
  search::detail::bench_place place(r, by, nullptr);
  const auto last = [&] { return static_cast<unsigned>(r.outputs()[0].back()); };
  CHECK(place.run(filling(4096, 1), 5).ok());
  CHECK(last() == 0x5a);
  CHECK(place.run(filling(4097, 1), 5).failed == failure::fault);
  CHECK(place.run(filling(0, 1), 5).ok());
  CHECK(last() == 0xa5);
  CHECK(place.run(filling(4096, 1), 5).ok());
  CHECK(place.measure(filling(4097, 1), {}).failed == failure::fault);
  CHECK(place.measure(filling(0, 1), {}).ok());
  CHECK(place.run(filling(0, 1), 5).ok());
  CHECK(last() == 0xa5);
}
