// Networks on a device that is a fake one: what is started, with what, and what is allocated. Launches are emulated
// with the pointers that they bring, so that results are those of the network.
#include <tilewright/model/device/device_program.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/impl/model/device/device_code.hpp>
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

#include "model/array_file.hpp"
#include "model/device/emulated_network.hpp"
#include "model/device/fake_device.hpp"
#include "model/refusal.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

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

namespace {

/// What a stream takes: the arena, and behind it the memory of the kernel that works in most.
std::int64_t memory_of(const network::executable& plan) {
  std::int64_t workspace = 0;
  for (std::size_t k = 0; k < plan.launches().size(); ++k)
    workspace = std::max(
        workspace,
        network::gpu_kernels_of(plan, k, *nothing_stored(), plan.options().seed).workspace_bytes);
  return (plan.arena_bytes() + 255) / 256 * 256 + workspace;
}

}  // namespace

TEST_CASE("device_program: kernels that work in memory of their own share it") {
  if (!emulates()) return;
  written_graph w;
  w.g.name = "twice";
  const network::value_id x = w.input("x", {64, 48});
  network::value_id y = w.add("MatMul", {x, w.known(waves({48, 64}, 0.3))});
  for (int k = 0; k < 3; ++k)
    y = w.add("LayerNormalization", {w.add("Add", {y, y}), w.known(waves({64}, 0.2 + 0.1 * k))});
  y = w.add("Transpose", {y}, {{"perm", list{1, 0}}});
  w.g.outputs = {w.add("MatMul", {y, w.known(waves({64, 32}, 0.1))})};
  const model m(w.g, on_gpu());
  const auto expected = [&] {
    network::graph typed = w.g;
    network::infer_types(typed);
    return network::interpret(typed, {waves({64, 48}, 0.2)})[0];
  }();
  const network::device_program p(m.program());
  emulated_network runs(*m.program(), *nothing_stored(), 42);
  const elements dx(waves({64, 48}, 0.2)), dy(64 * 32);
  p.warm();
  const std::size_t warm = free_bytes();
  p.start({dx.data()}, {dy.data()}, dx.data());
  CHECK(runs.runs == 1);
  CHECK(is_near(expected, dy.values()));
  CHECK(static_cast<std::int64_t>(warm - free_bytes()) == memory_of(*m.program()));
}

TEST_CASE("device_program: code is made by several threads, of equal kernels once") {
  if (!ready()) return;
  written_graph w;
  w.g.name = "equal";
  network::value_id y = w.input("x", {16, 32});
  for (int k = 0; k < 4; ++k)
    y = w.add("Softmax", {w.add("MatMul", {y, w.known(waves({32, 32}, 0.1 + 0.1 * k))})});
  w.g.outputs = {y};
  const model m(w.g, on_gpu());
  const std::size_t launches = m.program()->launches().size(), different = launches / 4;
  REQUIRE(launches == 4 * different);
  REQUIRE(different > 1);
  std::atomic<int> made{0};
  const auto code = network::detail::code_of(
      *m.program(), *nothing_stored(), {42, false, "a test", 3}, [&](const backend::artifact& a) {
        ++made;
        return std::make_shared<const backend::artifact>(a);
      });
  CHECK(made == static_cast<int>(different));
  REQUIRE(code.size() == launches);
  for (std::size_t k = different; k < launches; ++k) CHECK(code[k] == code[k - different]);
  CHECK(code[0] != code[1]);
  // the first of those that fail says so, and the others are made
  std::atomic<int> done{0};
  CHECK_THROWS_WITH(network::detail::on_threads(9, 4,
                                                [&](std::size_t k) {
                                                  ++done;
                                                  if (k % 4 == 3)
                                                    throw build_error(std::to_string(k));
                                                }),
                    "3");
  CHECK(done == 9);
  model_options none = on_gpu();
  none.mode = mode::miss_error;
  const elements dx(16 * 32), dy(16 * 32);
  CHECK(says(refusal<error>([&] {
               model(w.g, none)(on_device(dx.data(), {16, 32}), on_device(dy.data(), {16, 32}));
             }),
             "the options say miss_error"));
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
  p.warm();
  const std::size_t warm = free_bytes();
  p.start({x.data()}, {y.data()});
  CHECK(warm - free_bytes() == 0);
  p.start({x.data()}, {y.data()}, x.data());
  CHECK(static_cast<std::int64_t>(warm - free_bytes()) == memory_of(*m.program()));
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
    CHECK(says(l.code->on_device().report(arguments.data()), "a schedule with fewer loops"));
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
    CHECK(says(call(dx, dy), "cannot be compiled while a graph records the stream"));
  }
  m(dx, dy);
  {
    const fake::setting recording("FAKE_CUDA_CAPTURING", "1");
    m(dx, dy);  // everything is there
    CHECK(says(refusal<error>([&] { m.on(x.data())(dx, dy); }),
               "cannot be allocated while a graph records the stream; call it once on this stream "
               "before (requirement 5)"));
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
