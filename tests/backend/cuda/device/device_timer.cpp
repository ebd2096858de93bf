// Candidates on a device that is a fake one, in this process and in a worker: it writes 0x5a into the
// first byte of a launch's first argument, and says whatever the environment says.
#include <tilewright/search/device_timer.hpp>

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/device_turn.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/support/error.hpp>

#include "backend/cuda/fake/fake.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

ir::function twice() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] * T.float32(2)
)");
}

/// A launch with B for its first argument.
backend::artifact code() {
  backend::artifact a;
  a.isa = "nvidia:sm_90a";
  a.object.resize(64);
  a.workspace_bytes = 128;
  backend::launch l;
  l.symbol = "kernel_0";
  using kind = backend::launch_argument::kind;
  l.arguments = {{kind::buffer, 8, 1}, {kind::buffer, 8, 0}, {kind::workspace, 8, 0}};
  a.launches = {l};
  return a;
}

struct problem {
  runner r{twice(), {}, backend::serial_executor(), 1, {}, argument_memory::sharing::possible};
  argument_memory& memory() { return const_cast<argument_memory&>(r.memory()); }
  unsigned first_byte() const { return static_cast<unsigned>(r.outputs()[0][0]); }
};

}  // namespace

TEST_CASE("a run copies its outputs back, a measurement leaves them on the device") {
  if (!fake::here()) return;
  problem p;
  device_timer t(p.memory());
  CHECK(p.first_byte() == 0xa5);
  const measurement m = t.measure(code(), {});
  CHECK(m.ok());
  CHECK(m.median() > 0);
  CHECK(m.seconds.size() >= 5);
  CHECK(p.first_byte() == 0xa5);
  CHECK(t.run(code(), 1).ok());
  CHECK(p.first_byte() == 0x5a);
  CHECK(static_cast<unsigned>(p.r.outputs()[0][1]) == 0xa5);
  for (const caches where : {caches::cold, caches::rotating}) {
    measure_options o;
    o.where = where;
    CHECK(t.measure(code(), o).ok());
  }
  CHECK(t.usable());
}

TEST_CASE("a write beside an argument is a fault") {
  if (!fake::here()) return;
  for (const char* at : {"64", "-1"}) {
    const fake::setting s("FAKE_CUDA_WRITE_AT", at);
    problem p;
    device_timer t(p.memory());
    const measurement m = t.run(code(), 1);
    CHECK(m.failed == failure::fault);
    CHECK(m.detail == std::string("memory ") + (at[0] == '-' ? "before" : "behind") +
                          " argument 1 was written to");
    CHECK_FALSE(t.usable());
  }
}

TEST_CASE("an illegal access, a kernel without end, and code that does not load") {
  if (!fake::here()) return;
  problem p;
  device_timer t(p.memory());
  {
    const fake::setting s("FAKE_CUDA_LOAD", "209");
    CHECK(t.run(code(), 1).failed == failure::build);
    CHECK(t.usable());
  }
  {
    const fake::setting s("FAKE_CUDA_QUERY", "600");
    CHECK(t.run(code(), 0.05).failed == failure::timeout);
    CHECK_FALSE(t.usable());
  }
  problem q;
  device_timer u(q.memory());
  const fake::setting s("FAKE_CUDA_LAUNCH", "700");
  const measurement m = u.run(code(), 1);
  CHECK(m.failed == failure::fault);
  CHECK(m.detail.find("kernel_0 on fake: error 700") != std::string::npos);
  CHECK_FALSE(u.usable());
}

TEST_CASE("a worker keeps the arguments, and one whose device is lost is replaced") {
  if (!fake::here()) return;
  problem p;
  const auto first = [&](worker& w) { return w.run(code(), 2); };
  {
    worker w(p.r.memory(), 1);
    CHECK(first(w).ok());
    CHECK(p.first_byte() == 0x5a);
    CHECK(w.measure(code(), {}).ok());
    CHECK(w.restarts() == 0);
  }
  {
    const fake::setting s("FAKE_CUDA_LAUNCH", "700");
    worker w(p.r.memory(), 1);
    CHECK(first(w).failed == failure::fault);
    CHECK(first(w).failed == failure::fault);
    CHECK(w.restarts() == 1);
  }
  const fake::setting s("FAKE_CUDA_QUERY", "600");
  worker w(p.r.memory(), 1);
  CHECK(w.run(code(), 0.1).failed == failure::timeout);
  unsetenv("FAKE_CUDA_QUERY");
  CHECK(first(w).ok());
  CHECK(w.restarts() == 1);
}

TEST_CASE("a worker that waits for a GPU's code has its arguments there when it comes") {
  if (!fake::here()) return;
  problem p;
  {
    worker w(p.r.memory(), 1, worker_code::of_gpu);
    CHECK(w.run(code(), 2).ok());
    CHECK(p.first_byte() == 0x5a);
  }
  const fake::setting s("FAKE_CUDA_DEVICES", "0");
  worker none(p.r.memory(), 1, worker_code::of_gpu);
  const measurement m = none.run(code(), 2);
  CHECK(m.failed == failure::build);
  CHECK(m.detail.find("there is no CUDA device 0") != std::string::npos);
}

TEST_CASE(
    "what a call wrote is not there when the next one begins, whatever the host's memory holds") {
  if (!fake::here()) return;
  problem p;
  device_timer t(p.memory());
  CHECK(t.run(code(), 1).ok());
  std::byte* const second = static_cast<std::byte*>(p.r.data()[1]) + 1;
  *second = std::byte{1};
  {
    const fake::setting s("FAKE_CUDA_WRITE_AT", "8");
    CHECK(t.run(code(), 1).ok());
  }
  CHECK(p.first_byte() == 0xa5);
  CHECK(*second == std::byte{0xa5});
  CHECK(static_cast<unsigned>(p.r.outputs()[0][8]) == 0x5a);
}

TEST_CASE("without a device, code for one is a failure with its reason") {
  if (!fake::here()) return;
  const fake::setting s("FAKE_CUDA_DEVICES", "0");
  problem p;
  worker w(p.r.memory(), 1);
  const measurement m = w.run(code(), 2);
  CHECK(m.failed == failure::build);
  CHECK(m.detail.find("there is no CUDA device 0") != std::string::npos);
}

TEST_CASE("two processes that time on one device do so in turns") {
  if (!fake::here()) return;
  const std::string log = "/tmp/tilewright-turns-" + std::to_string(::getpid());
  const fake::setting logged("FAKE_CUDA_LOG", log.c_str()), slow("FAKE_CUDA_LAUNCH_US", "300");
  constexpr int times = 4;
  problem p, q;
  std::vector<std::thread> both;
  std::vector<std::unique_ptr<worker>> workers;
  for (const auto& [of, name] : {std::pair<problem*, const char*>{&p, "97"}, {&q, "98"}}) {
    const fake::setting named("FAKE_CUDA_NAME", name);
    workers.push_back(std::make_unique<worker>(of->r.memory(), 1));
    CHECK(workers.back()->run(code(), 20).ok());
  }
  std::atomic<int> right{0};
  for (const auto& w : workers)
    both.emplace_back([&] {
      for (int i = 0; i < times; ++i) right += w->measure(code(), {}).ok() ? 1 : 0;
    });
  for (std::thread& t : both) t.join();
  CHECK(right == 2 * times);
  std::ifstream in(log);
  const std::string launches{std::istreambuf_iterator<char>(in), {}};
  ::unlink(log.c_str());
  CAPTURE(launches);
  CHECK(launches.find('a') != launches.npos);
  CHECK(launches.find('b') != launches.npos);
  int changes = 0;
  for (std::size_t i = 1; i < launches.size(); ++i) changes += launches[i] != launches[i - 1];
  CHECK(changes < 2 + 2 * times);  // each measurement in one piece
}

TEST_CASE("a device has one turn, another device another one") {
  using search::detail::device_turn;
  const std::string mine = "test-" + std::to_string(::getpid()),
                    path = "/tmp/tilewright-gpu-" + mine;
  {
    const device_turn first(mine);
    CHECK(first.taken());
    CHECK_FALSE(device_turn(mine, device_turn::wish::try_once).taken());
    CHECK(device_turn(mine + "-2", device_turn::wish::try_once).taken());
  }
  CHECK(device_turn(mine, device_turn::wish::try_once).taken());
  CHECK_FALSE(device_turn("no/folder").taken());  // nobody waits
  for (const char* end : {".lock", "-2.lock"}) CHECK(::unlink((path + end).c_str()) == 0);
}
