// Each pass leaves what a graph computes as it is: the interpreter before and after, and the results
// of ONNX Runtime that lie beside the files.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/passes.hpp>

#include "model/array_file.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

network::graph typed(const std::string& name, const network::extent_values& extents = {}) {
  network::graph g = interop::read_onnx(data_folder + name + ".onnx");
  network::bind_extents(g, extents);
  network::infer_types(g);
  return g;
}

int count(const network::graph& g, const std::string& op) {
  return static_cast<int>(std::count_if(g.nodes.begin(), g.nodes.end(),
                                        [&](const network::node& n) { return n.op == op; }));
}

using pass = void (*)(network::graph&);
const std::vector<std::pair<const char*, pass>> passes{{"remove_unused", network::remove_unused},
                                                       {"fold_constants", network::fold_constants},
                                                       {"channels_last", network::channels_last},
                                                       {"fuse", network::fuse},
                                                       {"optimize", network::optimize}};

}  // namespace

TEST_CASE("network: a convolutional one, interpreted, is what ONNX Runtime computes") {
  const network::graph g = typed("tiny_cnn");
  const auto y = network::interpret(g, {read_array("tiny_cnn.x.npy")});
  CHECK(difference(read_array("tiny_cnn.y.npy"), y.at(0)) <= 1e-6);
}

TEST_CASE("network: attention with an open extent, whose shape arithmetic folds at load") {
  const network::graph g = typed("tiny_attention", {{"batch", 2}});
  for (const char* op : {"Shape", "Range", "Unsqueeze", "GreaterOrEqual"}) CHECK(count(g, op) == 0);
  const auto out = network::interpret(g, {read_array("tiny_attention.x.npy")});
  CHECK(difference(read_array("tiny_attention.mean.npy"), out.at(0)) <= 1e-6);
  CHECK(difference(read_array("tiny_attention.padded.npy"), out.at(1)) <= 1e-6);
  CHECK(difference(read_array("tiny_attention.position.npy"), out.at(2)) == 0);
}

TEST_CASE("passes: each alone and each after the others compute the same") {
  const std::vector<std::pair<network::graph, network::constant>> all{
      {typed("tiny_cnn"), read_array("tiny_cnn.x.npy")},
      {typed("tiny_attention", {{"batch", 2}}), read_array("tiny_attention.x.npy")}};
  for (const auto& [before, x] : all) {
    const auto expected = network::interpret(before, {x});
    network::graph in_turn = before;
    for (const auto& [name, run] : passes) {
      INFO(before.name, ": ", std::string(name));
      network::graph alone = before;
      run(alone);
      if (std::string(name) != "optimize") run(in_turn);
      const auto a = network::interpret(alone, {x}), b = network::interpret(in_turn, {x});
      for (std::size_t k = 0; k < expected.size(); ++k) {
        CHECK(difference(expected[k], a.at(k)) <= 1e-6);
        CHECK(difference(expected[k], b.at(k)) <= 1e-6);
      }
    }
  }
}

TEST_CASE("fold_constants: a batch norm behind a convolution is gone") {
  network::graph g = typed("tiny_cnn");
  CHECK(count(g, "BatchNormalization") == 3);
  network::fold_constants(g);
  CHECK(count(g, "BatchNormalization") == 0);
  CHECK(count(g, "Conv") == 4);
}

TEST_CASE("fold_constants: a convolution that others read keeps its weights") {
  network::graph g = typed("tiny_cnn");
  for (const network::node& n : g.nodes)
    if (n.op == "Conv") g.outputs.push_back(n.outputs[0]);
  network::fold_constants(g);
  CHECK(count(g, "BatchNormalization") == 3);
}

TEST_CASE("channels_last: one transposition of the input is left") {
  network::graph g = typed("tiny_cnn");
  network::channels_last(g);
  CHECK(count(g, "Transpose") == 1);
  CHECK(print(g).find("%concat_14.last: float32 (1, 7, 6, 20)") != std::string::npos);
}

TEST_CASE("fuse: an anchor takes what is behind it") {
  network::graph g = typed("tiny_cnn");
  network::optimize(g);
  CHECK(count(g, "Conv_Relu") == 1);
  CHECK(count(g, "Conv_Add_Relu") == 1);
  CHECK(count(g, "Conv_Clip") == 1);
  CHECK(count(g, "Relu") + count(g, "Add") + count(g, "Clip") == 0);
}

TEST_CASE("remove_unused: nodes that nobody reads, and their constants") {
  network::graph g = typed("tiny_cnn");
  const std::size_t nodes = g.nodes.size();
  for (const network::node& n : g.nodes)
    if (n.op == "Flatten") g.outputs = {n.outputs[0]};
  network::remove_unused(g);
  CHECK(g.nodes.size() == nodes - 4);  // Dropout, Gemm, Softmax, Identity
  CHECK_FALSE(std::any_of(g.values.begin(), g.values.end(),
                          [](const network::value& v) { return v.name == "w20" && v.data; }));
}
