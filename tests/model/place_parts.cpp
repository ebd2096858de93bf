// Concat and Slice without copies: kernels write parts of a result, and read parts of a value.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/memory_view.hpp>
#include <tilewright/model/passes.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

/// Kernels of the graph after place_parts, whose results are those of the interpreter before.
std::size_t kernels_of(written_graph& w, const std::vector<network::constant>& in) {
  network::infer_types(w.g);
  const std::vector<network::constant> expected = network::interpret(w.g, in);
  network::place_parts(w.g);
  const std::vector<network::constant> after = network::interpret(w.g, in);
  tuned_options options;
  options.mode = mode::off;
  options.database = ":memory:";
  options.threads = 1;
  const network::executable program(std::make_shared<const network::graph>(w.g), options);
  std::vector<const void*> inputs;
  for (const network::constant& c : in) inputs.push_back(c.data());
  std::vector<network::constant> made;
  std::vector<void*> outputs;
  for (const network::constant& c : expected) {
    auto [y, data] = network::constant::make(c.type());
    made.push_back(y);
    outputs.push_back(data);
  }
  program.run(inputs, outputs);
  INFO(print(w.g));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CHECK(difference(expected[k], after[k]) == 0);
    CHECK(difference(expected[k], made[k]) <= 1e-6);
  }
  return program.launches().size();
}

const attribute_map along_1{{"axis", std::int64_t{1}}};

attribute_map columns(std::int64_t from, std::int64_t to, std::int64_t step = 1) {
  return {{"starts", list{from}}, {"ends", list{to}}, {"axes", list{1}}, {"steps", list{step}}};
}

}  // namespace

TEST_CASE("place_parts: kernels write what Concat joins where it stands") {
  written_graph w;
  const auto x = w.input("x", {3, 5}), y = w.input("y", {3, 2});
  const auto all = w.add("Concat", {w.add("Relu", {x}), w.add("Tanh", {y})}, along_1);
  w.g.outputs = {w.add("MatMul", {all, w.known(waves({7, 4}, 0.8))})};
  CHECK(kernels_of(w, {waves({3, 5}, 0.3), waves({3, 2}, 0.9)}) == 3);
  CHECK(count_of(w.g, "Join") == 1);
  const std::vector<network::memory_view> views = network::memory_views(w.g);
  const auto second = views[static_cast<std::size_t>(w.g.nodes[1].outputs[0])];
  CHECK(second.root == all);
  CHECK(second.offset == 5);
  CHECK(second.strides == list{7, 1});
}

TEST_CASE("place_parts: results that are joined again, and one that the caller wants") {
  written_graph w;
  const auto x = w.input("x", {2, 3});
  const auto a = w.add("Relu", {x}), b = w.add("Tanh", {a}), c = w.add("Neg", {b});
  const auto ab = w.add("Concat", {a, b}, along_1);
  const auto d = w.add("Abs", {ab});
  w.g.outputs = {w.add("Concat", {ab, c}, along_1), d};
  CHECK(kernels_of(w, {waves({2, 3}, 0.7)}) == 4);
  CHECK(count_of(w.g, "Join") == 2);
}

TEST_CASE("place_parts: inputs, constants, and what stands twice are copied") {
  written_graph w;
  const auto x = w.input("x", {2, 3});
  const auto a = w.add("Relu", {x}), b = w.add("Tanh", {x});
  w.g.outputs = {w.add("Concat", {x, a, b, b, w.known(waves({2, 2}, 0.4))}, along_1)};
  CHECK(kernels_of(w, {waves({2, 3}, 0.7)}) == 6);
  CHECK(count_of(w.g, "Copy") == 4);
}

TEST_CASE("place_parts: a value lies in one result") {
  written_graph w;
  const auto x = w.input("x", {2, 3});
  const auto a = w.add("Relu", {x}), b = w.add("Tanh", {x});
  w.g.outputs = {w.add("Concat", {a, b}, along_1), w.add("Concat", {b, a}, along_1)};
  CHECK(kernels_of(w, {waves({2, 3}, 0.7)}) == 3);
  CHECK(count_of(w.g, "Join") == 1);
  CHECK(count_of(w.g, "Concat") == 1);  // with nothing in place it stays one kernel
}

TEST_CASE("place_parts: an alias needs its elements one behind another") {
  written_graph w;
  const auto x = w.input("x", {2, 6});
  const auto a = w.add("Relu", {x});
  const auto flat = w.add("Reshape", {a, w.known(network::constant::of_integers({12}))});
  w.g.outputs = {w.add("Concat", {a, w.add("Tanh", {x})}, along_1), w.add("Neg", {flat})};
  CHECK(kernels_of(w, {waves({2, 6}, 0.7)}) == 4);
  CHECK(count_of(w.g, "Copy") == 1);
}

TEST_CASE("place_parts: slices are read where they lie") {
  written_graph w;
  const auto x = w.input("x", {4, 10});
  const auto a = w.add("Relu", {x});
  const auto left = w.add("Slice", {a}, columns(1, 5)), right = w.add("Slice", {x}, columns(5, 9));
  const auto low =
      w.add("Slice", {left},
            {{"starts", list{0}}, {"ends", list{4}}, {"axes", list{0}}, {"steps", list{2}}});
  w.g.outputs = {w.add("MatMul", {left, right}), w.add("Tanh", {low})};
  CHECK(kernels_of(w, {waves({4, 10}, 0.7)}) == 3);
  CHECK(count_of(w.g, "Part") == 3);
}

TEST_CASE("place_parts: slices with steps along rows, backwards, or that the caller wants") {
  written_graph w;
  const auto x = w.input("x", {4, 10});
  const auto steps = w.add("Slice", {x}, columns(0, 10, 3));
  const auto back =
      w.add("Slice", {x},
            {{"starts", list{3}}, {"ends", list{-5}}, {"axes", list{0}}, {"steps", list{-1}}});
  w.g.outputs = {w.add("Tanh", {steps}), w.add("Tanh", {back}), w.add("Slice", {x}, columns(2, 7))};
  CHECK(kernels_of(w, {waves({4, 10}, 0.7)}) == 5);
  CHECK(count_of(w.g, "Part") == 0);
}

TEST_CASE("place_parts: indices that are checked lie densely") {
  written_graph w;
  const auto x = w.input("x", {5, 2}), i = w.input("i", {2, 4}, dtype::i64);
  w.g.outputs = {w.add("Gather", {x, w.add("Slice", {i}, columns(1, 3))})};
  auto [indices, data] = network::constant::make({dtype::i64, {2, 4}});
  const std::vector<std::int64_t> numbers{9, 1, 2, 9, 9, 0, -1, 9};  // 9 is out of range
  std::memcpy(data, numbers.data(), 64);
  CHECK(kernels_of(w, {waves({5, 2}, 0.7), indices}) == 2);
}
