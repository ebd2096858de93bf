// Networks for a GPU where none is: their kernels run on the host, thread by thread, and give what CPUs give.
#include <tilewright/model/device/emulated_program.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/support/error.hpp>

#include "model/array_file.hpp"
#include "model/refusal.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

model_options for_gpu(const std::string& target = "sm_90a") {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.target = target;
  return o;
}

bool have_emulator() {
  const std::string missing = backend::cuda::why_no_emulator();
  if (!missing.empty()) MESSAGE("skipped, kernels cannot be emulated: " << missing);
  return missing.empty();
}

/// What the emulator makes of the arguments, the outputs as constants.
std::vector<network::constant> emulated(const model& m,
                                        const std::vector<network::constant>& given) {
  const network::graph& g = m.source();
  std::vector<named_argument> inputs, outputs;
  std::vector<network::constant> out;
  const auto argument = [](const network::tensor_type& t, const void* data) {
    dsl::argument a;
    a.data = const_cast<void*>(data);
    a.type = t.type;
    a.rank = static_cast<std::int8_t>(t.extents.size());
    std::int64_t stride = 1;
    for (std::size_t d = t.extents.size(); d-- > 0;) {
      a.extents[d] = t.extents[d];
      a.strides[d] = stride;
      stride *= t.extents[d];
    }
    if (t.extents.empty()) a.rank = 1, a.extents[0] = 1, a.strides[0] = 1;  // a list of one
    return a;
  };
  for (std::size_t k = 0; k < given.size(); ++k)
    inputs.emplace_back(g.at(g.inputs[k]).name, argument(given[k].type(), given[k].data()));
  for (const network::value_id v : g.outputs) {
    auto [c, data] = network::constant::make(g.type_of(v));
    outputs.emplace_back(g.at(v).name, argument(c.type(), data));
    out.push_back(c);
  }
  m.emulate(inputs, outputs, 3);
  return out;
}

/// A perceptron of two layers on four rows, and what joins and takes apart: kernels write and read whole arrays.
written_graph layers() {
  written_graph w;
  w.g.name = "layers";
  const network::value_id x = w.input("x", {4, 12});
  const network::value_id h =
      w.add("Relu", {w.add("Add", {w.add("MatMul", {x, w.known(waves({12, 20}, 0.3))}),
                                   w.known(waves({20}, 0.7))})});
  const network::value_id y = w.add("MatMul", {h, w.known(waves({20, 6}, 0.9))});
  const network::value_id both =
      w.add("Concat", {y, w.add("Tanh", {y})}, {{"axis", std::int64_t{1}}});
  const network::value_id part = w.add("Slice", {both, w.known(network::constant::of_integers({3})),
                                                 w.known(network::constant::of_integers({9})),
                                                 w.known(network::constant::of_integers({1}))});
  w.g.outputs = {both, w.add("Softmax", {part}, {{"axis", std::int64_t{1}}})};
  return w;
}

}  // namespace

TEST_CASE("emulated_program: a convolution net gives what ONNX Runtime computes") {
  if (!have_emulator()) return;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", for_gpu());
  CHECK(m.program()->gpu()->name == "sm_90a");
  const std::vector<network::constant> y = emulated(m, {read_array("tiny_cnn.x.npy")});
  CHECK(difference(read_array("tiny_cnn.y.npy"), y[0]) <= 1e-5);
}

TEST_CASE("emulated_program: attention with an open extent, several outputs, integers") {
  if (!have_emulator()) return;
  model_options o = for_gpu("sm_80");
  o.extents = {{"batch", 2}};
  const model m = load_onnx(data_folder + "tiny_attention.onnx", o);
  const std::vector<network::constant> out = emulated(m, {read_array("tiny_attention.x.npy")});
  CHECK(difference(read_array("tiny_attention.mean.npy"), out[0]) <= 1e-5);
  CHECK(difference(read_array("tiny_attention.padded.npy"), out[1]) <= 1e-5);
  CHECK(difference(read_array("tiny_attention.position.npy"), out[2]) == 0);
}

TEST_CASE("emulated_program: layers with and without passes give what the interpreter gives") {
  if (!have_emulator()) return;
  network::graph typed = layers().g;
  network::infer_types(typed);
  const network::constant x = waves({4, 12}, 0.2);
  const std::vector<network::constant> expected = network::interpret(typed, {x});
  for (const bool optimize : {true, false}) {
    CAPTURE(optimize);
    model_options o = for_gpu();
    o.optimize = optimize;
    const std::vector<network::constant> y = emulated(model(layers().g, o), {x});
    CHECK(difference(expected[0], y[0]) <= 1e-5);
    CHECK(difference(expected[1], y[1]) <= 1e-5);
  }
}

TEST_CASE("emulated_program: outputs that are an input, a constant or another output are written") {
  if (!have_emulator()) return;
  written_graph w;
  w.g.name = "same";
  const network::value_id x = w.input("x", {2, 6}), c = w.known(waves({3}, 1)),
                          y = w.add("Relu", {x});
  const network::value_id twelve = w.known(network::constant::of_integers({12}));
  w.g.outputs = {x, c, y, w.add("Reshape", {x, twelve}), w.add("Reshape", {y, twelve})};
  const model m(w.g, for_gpu());
  CHECK(m.program()->copies().empty());
  const network::constant given = waves({2, 6}, 0.8);
  const std::vector<network::constant> out = emulated(m, {given});
  network::graph typed = w.g;
  network::infer_types(typed);
  const std::vector<network::constant> expected = network::interpret(typed, {given});
  for (std::size_t k = 0; k < 5; ++k) CHECK(difference(expected[k], out[k]) == 0);
}

TEST_CASE("emulated_program: indices are looked at, and may count from the end") {
  if (!have_emulator()) return;
  written_graph w;
  w.g.name = "take";
  w.g.inputs = {w.input("x", {3, 2}), w.input("i", {4}, dtype::i64)};
  w.g.inputs.resize(2);
  w.g.outputs = {w.add("Gather", w.g.inputs)};
  const model m(w.g, for_gpu());
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> i{-1, 0, 2, -3};
  std::vector<float> y(8);
  const std::string name = w.g.at(w.g.outputs[0]).name;
  m.emulate({{"x", x}, {"i", i}}, {{name, y}});
  CHECK(y == std::vector<float>{5, 6, 1, 2, 5, 6, 1, 2});
  i[2] = 3;
  CHECK(says(refusal<error>([&] {
               m.emulate({{"x", x}, {"i", i}}, {{name, y}});
             }),
             "index 3 is out of range"));
}

TEST_CASE("emulated_program: a number is read where it lies, on the device") {
  written_graph w;
  w.g.name = "numbers";
  const network::value_id x = w.input("x", {4, 6}), s = w.input("s", {});
  const network::value_id mean =
      w.add("ReduceMean", {x}, {{"keepdims", std::int64_t{0}}});  // () between kernels
  const network::value_id y = w.add("Mul", {w.add("Sub", {x, mean}), s});
  w.g.outputs = {w.add("Softmax", {y}), mean};
  const model m(w.g, for_gpu());
  for (std::size_t k = 0; k < m.program()->launches().size(); ++k) {
    const search::database none(":memory:");
    for (const backend::cuda::kernel& one :
         network::gpu_kernels_of(*m.program(), k, none, 42).kernels)
      for (const backend::launch_argument& a : one.start.arguments)
        CHECK(a.from != backend::launch_argument::kind::scalar);
  }
  if (!have_emulator()) return;
  const network::constant given = waves({4, 6}, 0.7), factor = waves({}, 0.4);
  network::graph typed = w.g;
  network::infer_types(typed);
  const std::vector<network::constant> expected = network::interpret(typed, {given, factor});
  const std::vector<network::constant> out = emulated(m, {given, factor});
  for (std::size_t k = 0; k < 2; ++k) CHECK(difference(expected[k], out[k]) <= 1e-5);
}

TEST_CASE("models for a GPU refuse what is for CPUs, and the other way round") {
  const model m(layers().g, for_gpu());
  const auto with = [](auto change) {
    model_options o = for_gpu();
    change(o);
    return refusal<error>([&] { const model other(layers().g, o); });
  };
  CHECK(says(with([](model_options& o) { o.target = "sm_1"; }),
             "a model cannot be made for sm_1; targets: host, cuda, sm_80"));
  CHECK(says(with([](model_options& o) { o.reductions = reductions::in_order; }),
             "reductions in order are for CPUs"));
  CHECK(says(with([](model_options& o) { o.executor = &backend::serial_executor(); }),
             "an executor runs the threads of a CPU"));
  CHECK(says(refusal<error>([&] {
               m.save("never.twm", {"sm_90a", "x86-64-v3"});
             }),
             "is for sm_90a, and cannot be saved for x86-64-v3; name GPUs alone"));
  CHECK(says(refusal<error>([&] { m.save("never.twm", {}); }), "needs one target at least"));
  CHECK(says(refusal<error>([&] { model(m).tune(1, "x86-64-v3"); }),
             "is for sm_90a, and cannot be tuned for x86-64-v3"));
  const std::vector<float> x(48);
  std::vector<float> y(48), z(24);
  model_options cpu = for_gpu("host");
  cpu.threads = 1;
  model here(layers().g, cpu);
  CHECK(says(refusal<error>([&] { here.tune(1, "cuda"); }),
             "is for host, and cannot be tuned for cuda"));
  CHECK(says(refusal<error>([&] { here.emulate({}, {}); }), "kernels of GPUs are emulated"));
  CHECK(says(refusal<error>([&] {
               here(on_device(x.data(), {4, 12}), on_device(y.data(), {4, 12}),
                    on_device(z.data(), {4, 6}));
             }),
             "make the model with .target = \"cuda\""));
  if (const cuda::availability& there = cuda::available(); !there) {
    const std::string text = refusal<error>([&] { m(x, y, z); });
    CHECK(says(text, "model layers is for sm_90a, which cannot be used here: " + there.reason));
    CHECK(says(refusal<error>([&] { (void)m.report(); }), there.reason));
    CHECK(says(refusal<error>([&] { model(m).tune(1); }), there.reason));
  }
}
