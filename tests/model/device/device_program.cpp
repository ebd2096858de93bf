// Networks on a device that is a fake one: what is started, with what, and what is allocated. Launches are emulated
// with the pointers that they bring, so that results are those of the network.
#include <tilewright/model/device/device_program.hpp>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

#include "model/array_file.hpp"
#include "model/device/emulated_network.hpp"
#include "model/refusal.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

bool ready() {
  if (!fake::here()) return false;
  try {
    backend::cuda::nvrtc();
    return static_cast<bool>(cuda::available());  // the driver is opened
  } catch (const build_error& e) {
    MESSAGE("skipped: " << e.what());
    return false;
  }
}

bool emulates() {
  if (!ready()) return false;
  const std::string missing = backend::cuda::why_no_emulator();
  if (!missing.empty()) MESSAGE("skipped, kernels cannot be emulated: " << missing);
  return missing.empty();
}

/// Bytes that the fake device has left.
std::size_t free_bytes() {
  void* const driver = ::dlopen(TILEWRIGHT_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(driver);
  std::size_t out = 0, all = 0;
  reinterpret_cast<int (*)(std::size_t*, std::size_t*)>(::dlsym(driver, "cuMemGetInfo_v2"))(&out,
                                                                                            &all);
  ::dlclose(driver);
  return out;
}

std::shared_ptr<search::database> nothing_stored() {
  return std::make_shared<search::database>(":memory:");
}

model_options on_gpu() {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.target = "cuda";
  return o;
}

/// Elements that start at a multiple of 256 bytes, as those of a device do.
class elements {
 public:
  explicit elements(std::size_t count)
      : count_(count),
        data_(static_cast<float*>(std::aligned_alloc(256, (count * 4 / 256 + 1) * 256))) {
    std::memset(data_.get(), 0, count * 4);
  }
  explicit elements(const network::constant& c)
      : elements(static_cast<std::size_t>(c.type().elements())) {
    std::memcpy(data_.get(), c.data(), count_ * 4);
  }
  float* data() const { return data_.get(); }
  std::vector<float> values() const { return {data(), data() + count_}; }

 private:
  struct release {
    void operator()(float* at) const { std::free(at); }
  };
  std::size_t count_;
  std::unique_ptr<float, release> data_;
};

bool is_near(const network::constant& expected, const std::vector<float>& y) {
  auto [c, data] = network::constant::make(expected.type());
  std::memcpy(data, y.data(), y.size() * 4);
  return difference(expected, c) <= 1e-5;
}

}  // namespace

TEST_CASE("device_program: arrays of the host and of the device give what ONNX Runtime computes") {
  if (!emulates()) return;
  const network::constant expected = read_array("tiny_cnn.y.npy");
  const elements x(read_array("tiny_cnn.x.npy")), y(5);
  std::vector<float> here(5);
  const std::size_t before = free_bytes();
  {
    const model m = load_onnx(data_folder + "tiny_cnn.onnx", on_gpu());
    CHECK(m.program()->gpu()->name == "sm_90a");
    emulated_network runs(*m.program(), *nothing_stored(), 42);
    m(view(x.data(), {1, 3, 13, 11}), here);
    CHECK(runs.runs == 1);
    CHECK(is_near(expected, here));
    const auto dx = on_device(static_cast<const float*>(x.data()), {1, 3, 13, 11});
    const auto dy = on_device(y.data(), {1, 5});
    m(dx, dy);
    CHECK(runs.runs == 2);
    CHECK(y.values() == here);
    CHECK(support::all(runs.streams, [](void* s) { return s == nullptr; }));

    // every kernel goes to the stream that is named, which has an arena of its own
    runs.streams.clear();
    void* const stream = x.data();  // any address does for the fake
    const auto on_stream = m.on(stream);
    on_stream(dx, dy);
    const std::size_t held = free_bytes();
    on_stream(dx, dy);
    m(dx, dy);
    m(view(x.data(), {1, 3, 13, 11}), here);
    CHECK(free_bytes() == held);  // nothing more is allocated
    CHECK(runs.runs == 6);
    CHECK(y.values() == here);
    const std::size_t one = runs.streams.size() / 4;
    for (std::size_t k = 0; k < runs.streams.size(); ++k)
      CHECK(runs.streams[k] == (k < 2 * one ? stream : nullptr));
  }
  CHECK(free_bytes() == before);  // and nothing is left
}

TEST_CASE("device_program: constants lie on the device once, values in one arena a stream") {
  if (!ready()) return;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", on_gpu());
  const std::size_t before = free_bytes();
  const network::device_program p(m.program());
  const auto constants = static_cast<std::int64_t>(before - free_bytes());
  std::int64_t needed = 0;
  for (const network::launch& l : m.program()->launches())
    for (std::size_t k = 0; k < l.slots.size(); ++k)
      if (l.slots[k].where == network::launch::slot::fixed)
        needed += network::elements_of(l.extents[k]) * bytes(l.types[k]);
  CHECK(constants >= needed);
  CHECK(constants <= needed + 64 * 64);
  const elements x(429), y(5);
  p.warm();  // workspaces come with the first call
  const std::size_t warm = free_bytes();
  p.start({x.data()}, {y.data()});
  CHECK(warm - free_bytes() == 0);
  p.start({x.data()}, {y.data()}, x.data());
  CHECK(static_cast<std::int64_t>(warm - free_bytes()) == m.program()->arena_bytes());
  CHECK(p.device_name() == "fake");
  CHECK(p.measure(2).size() == m.program()->launches().size());
  CHECK(p.time(3).size() == 3);
}

TEST_CASE("device_program: the chosen schedules of the database run, with their code") {
  if (!ready()) return;
  const auto db = nothing_stored();
  tuned_options o;
  o.own_database = db;
  o.mode = mode::off;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", on_gpu());
  const auto graph = std::make_shared<const network::graph>(m.graph());
  const network::executable first(graph, o, m.program()->gpu());
  const std::size_t k = 1;
  const search::workload& w = first.task(k);
  CHECK(w.key.isa == "nvidia:sm_90a");
  const schedule s = search::default_schedule(w.function, w.space, {w.machine, 1}, 7);
  db->add({w.key,
           w.family,
           w.extents,
           s.trace().print(),
           {1e-5},
           {"another GPU", "NVRTC", "today", 1},
           true});
  const network::executable second(graph, o, m.program()->gpu());
  const network::launch& l = second.launches()[k];
  std::vector<dispatch::call_argument> arguments;
  for (std::size_t p = 0; p < l.slots.size(); ++p)
    arguments.push_back({nullptr, l.extents[p].data(), l.strides[p].data()});
  CHECK(says(l.code->on_device().report(arguments.data()), "measured today on another GPU"));
  const std::vector<network::kernel_report> reports =
      network::reports_of(second, *db, std::vector<double>(second.launches().size(), 1e-3));
  CHECK(reports[k].origin == network::schedule_origin::tuned);
  CHECK(reports[k + 1].origin == network::schedule_origin::untuned);
}

TEST_CASE(
    "device_program: where the code of a default schedule needs too much, one with fewer loops "
    "written out runs") {
  if (!ready()) return;
  // of ResNet-50; NVRTC 13.0 keeps 16 bytes of the default schedule's threads in memory
  const fake::setting older("FAKE_CUDA_MAJOR", "8");
  written_graph w;
  w.g.name = "wide";
  const network::value_id x = w.input("x", {1, 512, 7, 7}), r = w.input("r", {1, 2048, 7, 7});
  const network::value_id y =
      w.add("Conv", {x, w.known(waves({2048, 512, 1, 1}, 0.1)), w.known(waves({2048}, 0.3))});
  w.g.outputs = {w.add("Relu", {w.add("Add", {y, r})})};
  model_options o = on_gpu();
  o.target = "sm_80";
  const model m(w.g, o);
  CHECK(m.program()->gpu()->name == "sm_80");
  const elements dx(512 * 49), dr(2048 * 49), dy(2048 * 49);
  m(on_device(dx.data(), {1, 512, 7, 7}), on_device(dr.data(), {1, 2048, 7, 7}),
    on_device(dy.data(), {1, 2048, 7, 7}));
  std::size_t convolutions = 0;
  for (const network::launch& l : m.program()->launches()) {
    if (l.what.op.find("Conv") != 0) continue;
    ++convolutions;
    std::vector<dispatch::call_argument> arguments;
    for (std::size_t p = 0; p < l.slots.size(); ++p)
      arguments.push_back({nullptr, l.extents[p].data(), l.strides[p].data()});
    CHECK(says(l.code->on_device().report(arguments.data()),
               "code      a schedule with fewer loops"));
  }
  CHECK(convolutions == 1);
}

TEST_CASE(
    "device_program: a session measures the kernels on the device, and the model runs what it "
    "chose") {
  if (!ready()) return;
  if (search::find_worker().empty()) return;
  // the fake computes what this network says
  const fake::setting chain("FAKE_CUDA_COMPUTE", "chain");
  written_graph w;
  w.g.name = "chain";
  const network::value_id x = w.input("x", {64, 32});
  auto [half, data] = network::constant::make({dtype::f32, {}});
  const float factor = 0.5f;
  std::memcpy(data, &factor, sizeof factor);
  w.g.outputs = {
      w.add("Relu", {w.add("Sub", {w.add("Exp", {w.add("Mul", {x, w.known(half)})}), x})})};
  model m(w.g, on_gpu());
  REQUIRE(m.program()->launches().size() == 1);
  CHECK(says(m.report(), " untuned "));
  m.tune(2);
  const std::string report = m.report();
  CHECK(says(report, " tuned "));
  CHECK(says(report, "1 kernels on fake; arena "));
  CHECK(m.kernel_reports()[0].seconds > 0);
}

TEST_CASE("device_program: what a call refuses, by its number") {
  if (!ready()) return;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", on_gpu());
  const elements x(432), y(8);
  const auto dx = on_device(x.data(), {1, 3, 13, 11});
  const auto dy = on_device(y.data(), {1, 5});
  const auto call = [&](const auto& in, const auto& out) {
    return refusal<error>([&] { m(in, out); });
  };
  {
    const fake::setting recording("FAKE_CUDA_CAPTURING", "1");
    CHECK(says(call(dx, dy), "cannot be allocated while a graph records the stream"));
  }
  m(dx, dy);
  {
    const fake::setting recording("FAKE_CUDA_CAPTURING", "1");
    m(dx, dy);  // everything is there
    CHECK(says(refusal<error>([&] { m.on(x.data())(dx, dy); }), "(requirement 5)"));
  }
  CHECK(
      says(call(on_device(x.data() + 1, {1, 3, 13, 11}), dy),
           "input \"x\" is not aligned to 16 bytes; copy it to memory of its own (requirement 2)"));
  {
    const fake::setting host("FAKE_CUDA_POINTER", "1");
    CHECK(call(dx, dy) == "none");  // what was seen before is not looked at again
    const elements other(8);
    CHECK(says(call(dx, on_device(other.data(), {1, 5})), "output \"y\""));
    CHECK(says(call(dx, on_device(other.data(), {1, 5})), "(requirement 1)"));
  }
  {
    const fake::setting elsewhere("FAKE_CUDA_STREAM_ELSEWHERE", "1");
    CHECK(says(refusal<error>([&] { m.on(x.data())(dx, dy); }), "(requirement 4)"));
  }
  std::vector<float> here(5);
  CHECK(says(refusal<error>([&] { m(dx, here); }), "output \"y\" lies on the host"));
  CHECK(says(refusal<error>([&] {
               m(on_device(x.data(), {1, 3, 13, 11}, {429, 1, 33, 3}), dy);
             }),
             "input \"x\" lies on a device and is not dense and row-major"));
  CHECK(says(refusal<error>([&] { m.on(x.data())(x.values(), here); }),
             "gets a stream and arrays of the host"));
}
