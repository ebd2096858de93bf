// Calls on a device that is a fake one: what is looked up, compiled, stored, checked and started.
#include <tilewright/dispatch/device_kernel.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/pool.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "backend/cuda/cases.hpp"
#include "backend/cuda/fake/fake.hpp"
#include "gpu/workloads.hpp"

using namespace tilewright;
using namespace tilewright::dispatch;
using namespace tilewright::search;

namespace {

bool ready() { return fake::here() && cases::have_nvrtc(); }

ir::function softmax() {
  for (const gpu_workloads::workload& w : gpu_workloads::small())
    if (w.name == "SFM") return w.function;
  throw internal_error("there is no SFM");
}

struct alignas(16) floats {
  std::array<float, 256> all{};
  void* data() { return all.data(); }
};

}  // namespace

TEST_CASE("the default schedule is compiled once, and its code found by the next one") {
  if (!ready()) return;
  const auto db = std::make_shared<database>(":memory:");
  device_options o;
  o.own_database = db;
  const device_kernel first(softmax(), o);
  CHECK(first.origin() == "the default schedule");
  CHECK(first.trace().find("threadIdx.x") != std::string::npos);
  const device_kernel second(softmax(), o);
  CHECK(second.origin() == "stored code, the default schedule");
  CHECK(second.trace() == first.trace());
}

TEST_CASE("the chosen schedule of the database comes first") {
  if (!ready()) return;
  const auto db = std::make_shared<database>(":memory:");
  device_options o;
  o.own_database = db;
  const std::string trace = device_kernel(softmax(), o).trace();
  const target::gpu gpu = target::named_gpu("sm_90a");
  const workload w = contiguous_workload(softmax(), gpu, backend::serial_executor());
  CHECK(w.key.isa == "nvidia:sm_90a");
  CHECK(w.key.arguments == "r@g16 r@g16 i32");
  CHECK(w.key.threads == 1);
  db->add({w.key, w.family, w.extents, trace, {1e-5}, {"another GPU", "NVRTC", "today", 1}, true});
  CHECK(device_kernel(softmax(), o).origin() == "stored code, measured today on another GPU");
}

TEST_CASE("arguments in the device's memory, and copies of those in the host's") {
  if (!ready()) return;
  device_options o;
  o.own_database = std::make_shared<database>(":memory:");
  const device_kernel k(softmax(), o);
  floats x, y;
  void* both[] = {x.data(), y.data()};
  x.all[0] = 1;
  k(both);  // the fake writes into the first argument of a launch
  k.synchronize();
  const auto first = [](const floats& f) {
    return *reinterpret_cast<const unsigned char*>(f.all.data());
  };
  CHECK((first(x) == 0x5a || first(y) == 0x5a));
  floats a, b;
  void* here[] = {a.data(), b.data()};
  for (int i = 0; i < 3; ++i) k.on_host(here);
  CHECK(first(a) == 0);  // its copy was handed over
}

TEST_CASE("what a call refuses, by its number") {
  if (!ready()) return;
  device_options o;
  o.own_database = std::make_shared<database>(":memory:");
  const device_kernel k(softmax(), o);
  floats x, y;
  void* both[] = {x.data(), y.data()};
  CHECK_THROWS_WITH_AS(
      k(std::span<void* const>(both, 1)),
      doctest::Contains("2 parameters, and 1 arguments were given (requirement 1)"),
      argument_error);
  {
    const fake::setting s("FAKE_CUDA_POINTER", "1");
    CHECK_THROWS_WITH_AS(
        k(both),
        doctest::Contains("argument X lies in the host's memory; copy it to the device (on_host, "
                          "and calls without on_device, take the host's arrays) (requirement 2)"),
        argument_error);
  }
  {
    const fake::setting s("FAKE_CUDA_POINTER_DEVICE", "1");
    CHECK_THROWS_WITH_AS(k(both),
                         doctest::Contains("lies on device 1, and the kernel runs on device 0"),
                         argument_error);
  }
  void* skewed[] = {x.data(), reinterpret_cast<char*>(y.data()) + 4};
  CHECK_THROWS_WITH_AS(
      k(skewed),
      doctest::Contains("argument Y is not aligned to 16 bytes; copy it to memory of its "
                        "own (requirement 3)"),
      argument_error);
  {
    void* const stream = x.data();
    const fake::setting s("FAKE_CUDA_STREAM_ELSEWHERE", "1");
    CHECK_THROWS_WITH_AS(
        k(both, stream),
        doctest::Contains(
            "the stream belongs to another context than the primary one of fake; make "
            "it there, as the runtime API and PyTorch do, or give none (requirement 6)"),
        argument_error);
    k(both);  // the default stream has none of its own
  }
  k(both);
  {
    const fake::setting s("FAKE_CUDA_LAUNCH", "400");
    CHECK_THROWS_WITH_AS(k(both), doctest::Contains("error 400"), build_error);
  }
  k(both);  // nothing was lost
}

TEST_CASE("a forked child is refused") {
  if (!ready()) return;
  device_options o;
  o.own_database = std::make_shared<database>(":memory:");
  const device_kernel k(softmax(), o);
  floats x, y;
  void* both[] = {x.data(), y.data()};
  const pid_t child = ::fork();
  if (child == 0) {
    int out = 1;
    try {
      k(both);
    } catch (const argument_error& e) {
      out = std::string(e.what()).find("requirement 4") != std::string::npos ? 0 : 2;
    }
    ::_exit(out);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("without a GPU the reason is told") {
  if (!ready()) return;
  const fake::setting s("FAKE_CUDA_DEVICES", "0");
  CHECK_THROWS_WITH_AS(device_kernel(softmax(), {}), doctest::Contains("no CUDA device 0"),
                       build_error);
}

TEST_CASE("a session builds, runs in a worker, and finds that the fake device computes nothing") {
  if (!ready()) return;
  const target::gpu gpu = target::named_gpu("sm_90a");
  workload w = contiguous_workload(softmax(), gpu, backend::serial_executor());
  database db(":memory:");
  session_options o;
  o.seconds = 20;
  o.trials = 2;
  CHECK_THROWS_AS(tune(w, o, db), internal_error);
  {
    const fake::setting s("FAKE_CUDA_LAUNCH", "700");
    CHECK_THROWS_WITH_AS(tune(w, o, db), doctest::Contains("does not run"), build_error);
  }
}
