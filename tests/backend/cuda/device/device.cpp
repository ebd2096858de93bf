// What the library does with a driver's answers; the driver is a fake one, in a process of its own.
#include <tilewright/backend/cuda/device.hpp>

#include <array>
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/device_graph.hpp>
#include <tilewright/support/error.hpp>

#include "backend/cuda/fake/fake.hpp"

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

namespace {

backend::artifact code_for(const char* isa) {
  backend::artifact a;
  a.isa = isa;
  a.object.resize(64);
  a.workspace_bytes = 256;
  backend::launch l;
  l.symbol = "kernel_0";
  l.shared_bytes = 65536;
  using kind = backend::launch_argument::kind;
  l.arguments = {
      {kind::buffer, 8, 0}, {kind::scalar, 4, 1}, {kind::stride, 8, 0}, {kind::workspace, 8, 16}};
  a.launches = {l};
  return a;
}

}  // namespace

TEST_CASE("a device tells what it is, and which code it runs") {
  if (!fake::here()) return;
  const cu::device here;
  CHECK(here.name() == "fake");
  CHECK(here.compute_capability() == 90);
  CHECK(here.description().name == "sm_90a");
  CHECK_THROWS_WITH_AS(cu::device{3}, doctest::Contains("no CUDA device 3"), build_error);
  CHECK_THROWS_WITH_AS(cu::device_code(here, code_for("nvidia:sm_80")),
                       doctest::Contains("sm_80 does not run on fake"), build_error);
  CHECK_THROWS_WITH_AS(cu::device_code(here, code_for("x86-64:+avx")),
                       doctest::Contains("cannot be started"), build_error);
  const fake::setting s("FAKE_CUDA_MAJOR", "7");
  CHECK_THROWS_WITH_AS(cu::device().description(), doctest::Contains("compute capability 7.0"),
                       build_error);
}

TEST_CASE("memory goes to the device and comes back, and a launch gets its arguments") {
  if (!fake::here()) return;
  const cu::device here;
  const cu::device_memory memory(here, 16), workspace(here, 256);
  here.fill(memory.get(), 0, 16);
  const char text[16] = "up and down";
  here.copy_in(memory.get(), text, sizeof text);
  const cu::device_code code(here, code_for("nvidia:sm_90a"));
  CHECK(code.workspace_bytes() == 256);
  int scalar = 7;
  void* data[] = {reinterpret_cast<void*>(memory.get()), &scalar};
  const std::int64_t strides[] = {1};
  code.start(data, strides, workspace.get());
  here.synchronize();
  char back[16];
  here.copy_out(back, memory.get(), sizeof back);
  CHECK(back[0] == 0x5a);  // the fake's mark of a launch
  CHECK(std::string(back + 1) == "p and down");
  CHECK(code.time(data, strides, workspace.get(), 3) == doctest::Approx(1e-3));
}

namespace {

/// Maps of the last launch, as the fake driver encodes them.
std::array<std::array<unsigned long long, 7>, 2> encoded;
int keep_maps(const char*, void** arguments, void*) {
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(arguments[4 + i]) % 128 == 0);
    std::memcpy(&encoded[i], arguments[4 + i], sizeof encoded[i]);
  }
  return 0;
}

backend::artifact code_with_maps() {
  backend::artifact a = code_for("nvidia:sm_90a");
  backend::launch& l = a.launches[0];
  using kind = backend::launch_argument::kind;
  l.tensor_maps = {{kind::buffer, 0, {dtype::f16, {4096, 128}, {8192}, {64, 128}, 128}},
                   {kind::workspace, 64, {dtype::f32, {32}, {}, {16}, 0}}};
  l.arguments.push_back({kind::tensor_map, 8, 0});
  l.arguments.push_back({kind::tensor_map, 8, 1});
  return a;
}

}  // namespace

TEST_CASE("tensor maps of a launch are encoded for its addresses, once for each") {
  if (!fake::here()) return;
  const cu::device here;
  const cu::device_memory one(here, 256), other(here, 256), workspace(here, 256);
  const cu::device_code code(here, code_with_maps());
  int scalar = 7;
  const std::int64_t strides[] = {1};
  fake::on_launch(&keep_maps);
  const auto start = [&](cu::device_pointer at) {
    void* data[] = {reinterpret_cast<void*>(at), &scalar};
    code.start(data, strides, workspace.get());
    return encoded;
  };
  const auto first = start(one.get());
  CHECK(first[0][0] == one.get());
  CHECK(first[0][1] == 6);  // f16
  CHECK(first[0][3] == 4096);
  CHECK(first[0][4] == 8192);
  CHECK(first[0][5] == 128);
  CHECK(first[0][6] == 3);  // 128 bytes
  CHECK(first[1][0] == workspace.get() + 64);
  CHECK(first[1][1] == 7);  // f32
  CHECK(first[1][6] == 0);
  const auto second = start(other.get());
  CHECK(second[0][0] == other.get());
  CHECK(second[0][2] != first[0][2]);
  CHECK(second[1][2] == first[1][2]);
  CHECK(start(one.get()) == first);  // both are kept
  CHECK(start(other.get()) == second);
  CHECK_THROWS_WITH_AS(start(one.get() + 8), doctest::Contains("no multiple of 16 bytes"),
                       argument_error);
  const fake::setting s("FAKE_CUDA_ENCODE", "1");
  CHECK_THROWS_WITH_AS(start(one.get() + 16), doctest::Contains("refuses a tensor map of kernel_0"),
                       build_error);
  CHECK(start(one.get()) == first);
  fake::on_launch(nullptr);
}

TEST_CASE("what the driver refuses is a build_error that names call and error") {
  if (!fake::here()) return;
  const cu::device here;
  const cu::device_code code(here, code_for("nvidia:sm_90a"));
  int scalar = 7;
  void* data[] = {nullptr, &scalar};
  const std::int64_t strides[] = {1};
  {
    const fake::setting s("FAKE_CUDA_ALLOC", "2");
    CHECK_THROWS_WITH_AS(here.allocate(12345),
                         doctest::Contains("an allocation of 12345 bytes on fake: error 2"),
                         build_error);
  }
  {
    const fake::setting s("FAKE_CUDA_LAUNCH", "701");
    CHECK_THROWS_WITH_AS(code.start(data, strides, 0),
                         doctest::Contains("kernel_0 on fake: error 701"), build_error);
  }
  {
    const fake::setting s("FAKE_CUDA_SYNCHRONIZE", "700");
    CHECK_THROWS_WITH_AS(here.synchronize(), doctest::Contains("error 700 (CUDA_ERROR_FAKE)"),
                         build_error);
  }
  const fake::setting s("FAKE_CUDA_LOAD", "209");
  CHECK_THROWS_WITH_AS(cu::device_code(here, code_for("nvidia:sm_90a")),
                       doctest::Contains("cuModuleLoadData"), build_error);
}

TEST_CASE("a graph records what is started on its stream, or says why it cannot") {
  if (!fake::here()) return;
  const cu::device here;
  const cu::device_memory memory(here, 16), workspace(here, 256);
  const cu::device_code code(here, code_for("nvidia:sm_90a"));
  int scalar = 7, starts = 0;
  void* data[] = {reinterpret_cast<void*>(memory.get()), &scalar};
  const std::int64_t strides[] = {1};
  const auto record = [&](cu::stream_ref stream) {
    CHECK(stream != nullptr);
    code.start(data, strides, workspace.get(), stream);
    ++starts;
  };
  const cu::device_graph graph(here, record);
  graph.start();
  CHECK(starts == 1);
  {
    const fake::setting s("FAKE_CUDA_BEGIN_CAPTURE", "900");
    CHECK_THROWS_WITH_AS(cu::device_graph(here, record),
                         doctest::Contains("the recording of a graph on fake: error 900"),
                         build_error);
  }
  {
    const fake::setting s("FAKE_CUDA_END_CAPTURE", "901");
    CHECK_THROWS_WITH_AS(cu::device_graph(here, record), doctest::Contains("error 901"),
                         build_error);
  }
  {
    const fake::setting s("FAKE_CUDA_GRAPH_LAUNCH", "719");
    CHECK_THROWS_WITH_AS(graph.start(), doctest::Contains("cuGraphLaunch on fake: error 719"),
                         build_error);
  }
  CHECK_THROWS_WITH_AS(cu::device_graph(here, [](cu::stream_ref) { throw build_error("no"); }),
                       "no", build_error);
  CHECK(starts == 2);
}
