// A session for AArch64 on another machine: candidates are run by a worker in an emulator, which is the
// file for boards, built by a cross compiler.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/measurement/fleet.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

#include "emulated_machine.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

const std::string object_worker = TILEWRIGHT_AARCH64_WORKER;

bool no_worker() {
  if (!emulated::there()) return true;
  if (object_worker.empty()) MESSAGE("no worker is run; missing package: g++-aarch64-linux-gnu");
  return object_worker.empty();
}

/// A worker on a machine that is a CPU of the table, as far as the length of its vectors goes.
worker_address board(const char* cpu) {
  return {{}, 0, "exec " + emulated::emulator(target::named(cpu)) + " " + object_worker};
}

fleet_options made_for(const char* cpu) {
  fleet_options o;
  o.code_for = target::named(cpu);
  o.pause = 0.01;
  o.attempts = 2;
  return o;
}

constexpr const char* product = R"(
@T.prim_func
def main(A: T.Buffer((24, 32), "float32"), B: T.Buffer((32, 40), "float32"), C: T.Buffer((24, 40), "float32")):
    for i, j, k in T.grid(24, 40, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

session_options few(int trials) {
  session_options o;
  o.trials = trials;
  o.seconds = 120;
  return o;
}

}  // namespace

TEST_CASE("a worker for AArch64 says what it is, and whose code it does not run") {
  if (no_worker()) return;
  const fleet workers({board("neoverse-v1")}, "", made_for("neoverse-n1"));
  REQUIRE(workers.processors().size() == 1);
  const target::cpu& there = workers.processors()[0];
  CHECK(target::architecture_of(there) == target::architecture::aarch64);
  CHECK(there.vector_bits == 256);
  CHECK(there.has("dotprod"));
  CHECK_THROWS_WITH_AS(fleet({board("neoverse-v1")}, "", made_for("a64fx")),
                       doctest::Contains("does not run code for a64fx"), build_error);
  fleet_options here;
  here.attempts = 1;
  if (target::host_architecture() == target::architecture::x86_64)
    CHECK_THROWS_WITH_AS(fleet({board("neoverse-v1")}, "", here),
                         doctest::Contains("does not run code for this one"), build_error);
}

TEST_CASE("a session for AArch64 measures and checks on a worker") {
  if (no_worker()) return;
  for (const char* name : {"neoverse-n1", "neoverse-v1"}) {
    INFO(name);
    const target::cpu cpu = target::named(name);
    fleet workers({board(name)}, "", made_for(name));
    session_options o = few(10);
    workers.use_in(o.measuring);
    int ran = 0;
    o.callbacks.before_run = [&](const candidate&, const built& b) {
      ++ran;
      CHECK(b.artifact.isa == cpu.isa_key());
      CHECK_FALSE(b.code);
      return verdict::go_on;
    };
    database db(":memory:");
    const workload w = contiguous_workload(ir::parse(product), cpu, backend::serial_executor());
    const tuning_result r = tune(w, o, db);
    CHECK(r.trials == 10);
    CHECK(ran == 10);
    CHECK(r.best > 0);
    for (const auto& [kind, count] : r.failures) CHECK(kind == failure::schedule);
    for (const std::string& remark : r.remarks) CHECK(remark.find("dropped") == std::string::npos);
    CHECK(r.code.isa == cpu.isa_key());
    CHECK(workers.measured()[0] > 10);  // checks are calls there, too
    const std::vector<record> kept = db.top(w.key, 100);
    CHECK(kept.size() > 5);
    for (const record& one : kept) CHECK(one.key.isa == cpu.isa_key());
    workload mine = w;
    mine.key.isa = target::host().isa_key();
    CHECK(db.top(mine.key, 1).empty());
  }
}

TEST_CASE("a wrong candidate for AArch64 is found out") {
  if (no_worker()) return;
  const target::cpu cpu = target::named("neoverse-n1");
  fleet workers({board("neoverse-n1")}, "", made_for("neoverse-n1"));
  session_options o = few(4);
  workers.use_in(o.measuring);
  // every program but the first ones, which are the default's, is made of another function
  const ir::function wrong = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((24, 32), "float32"), B: T.Buffer((32, 40), "float32"), C: T.Buffer((24, 40), "float32")):
    for i, j in T.grid(24, 40):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, 0] + B[0, vj]
)");
  o.measuring.build = [&, make = o.measuring.build, met = 0](const ir::function& f,
                                                             const target::machine& m) mutable {
    return make(++met <= 2 ? f : wrong, m);
  };
  o.measuring.builds = 1;
  database db(":memory:");
  const workload w = contiguous_workload(ir::parse(product), cpu, backend::serial_executor());
  const tuning_result r = tune(w, o, db);
  CHECK_FALSE(r.improved);
  CHECK(r.failures.count(failure::wrong_result) == 1);
}

TEST_CASE("arguments with given values go to workers for another architecture") {
  if (no_worker()) return;
  const target::cpu cpu = target::named("neoverse-n1");
  fleet workers({board("neoverse-n1")}, "", made_for("neoverse-n1"));
  session_options o = few(3);
  workers.use_in(o.measuring);
  workload w = contiguous_workload(ir::parse(product), cpu, backend::serial_executor());
  w.given = {{}, std::vector<std::byte>(32 * 40 * 4), {}};
  database db(":memory:");
  CHECK(tune(w, o, db).trials == 3);
}

TEST_CASE("code that nothing here runs is not tuned without a worker") {
  if (target::host_architecture() != target::architecture::x86_64) return;
  const target::cpu cpu = target::named("neoverse-n1");
  const workload w = contiguous_workload(ir::parse(product), cpu, backend::serial_executor());
  database db(":memory:");
  CHECK_THROWS_WITH_AS(tune(w, few(1), db), doctest::Contains("--worker-at"), argument_error);
}
