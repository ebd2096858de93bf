// Each pass leaves what a graph computes as it is: the interpreter before and after, and the results
// of ONNX Runtime that lie beside the files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/passes.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

network::graph typed(const std::string& name, const network::extent_values& extents = {}) {
  network::graph g = interop::read_onnx(data_folder + name + ".onnx");
  network::bind_extents(g, extents);
  network::infer_types(g);
  return g;
}

using pass = void (*)(network::graph&);
const std::vector<std::pair<const char*, pass>> passes{
    {"remove_unused", network::remove_unused},     {"fold_constants", network::fold_constants},
    {"remove_repeated", network::remove_repeated}, {"channels_last", network::channels_last},
    {"replace_nan", network::replace_nan},         {"scale_products", network::scale_products},
    {"widen_halves", network::widen_halves},       {"group_attention", network::group_attention},
    {"join_products", network::join_products},     {"fuse", network::fuse},
    {"place_parts", network::place_parts},         {"optimize", network::optimize}};

}  // namespace

TEST_CASE("network: a convolutional one, interpreted, is what ONNX Runtime computes") {
  const network::graph g = typed("tiny_cnn");
  const auto y = network::interpret(g, {read_array("tiny_cnn.x.npy")});
  CHECK(difference(read_array("tiny_cnn.y.npy"), y.at(0)) <= 1e-6);
}

TEST_CASE("network: attention with an open extent, whose shape arithmetic folds at load") {
  const network::graph g = typed("tiny_attention", {{"batch", 2}});
  for (const char* op : {"Shape", "Range", "Unsqueeze", "GreaterOrEqual"})
    CHECK(count_of(g, op) == 0);
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
  CHECK(count_of(g, "BatchNormalization") == 3);
  network::fold_constants(g);
  CHECK(count_of(g, "BatchNormalization") == 0);
  CHECK(count_of(g, "Conv") == 4);
}

TEST_CASE("fold_constants: a convolution that others read keeps its weights") {
  network::graph g = typed("tiny_cnn");
  for (const network::node& n : g.nodes)
    if (n.op == "Conv") g.outputs.push_back(n.outputs[0]);
  network::fold_constants(g);
  CHECK(count_of(g, "BatchNormalization") == 3);
}

TEST_CASE("fold_constants: constants whose elements move are what their nodes make of them") {
  const auto folded = [](const std::string& op, const network::shape& extents,
                         attribute_map about) {
    written_graph w;
    w.g.name = "moved";
    const auto x = w.input("x", {1});
    w.g.outputs = {w.add("Add", {w.add(op, {w.known(waves(extents, 0.7))}, std::move(about)), x})};
    network::infer_types(w.g);
    const network::constant in = waves({1}, 0.3);
    const network::constant expected = network::interpret(w.g, {in}).at(0);
    network::fold_constants(w.g);
    CHECK(count_of(w.g, op) == 0);
    CHECK(difference(expected, network::interpret(w.g, {in}).at(0)) == 0);
  };
  folded("Transpose", {3, 5}, {});
  folded("Transpose", {2, 3, 4}, {});
  folded("Transpose", {2, 3, 4, 5}, {{"perm", list{2, 0, 3, 1}}});
  folded("Flatten", {2, 3, 4}, {{"axis", std::int64_t{2}}});
}

TEST_CASE("channels_last: one transposition of the input is left") {
  network::graph g = typed("tiny_cnn");
  network::channels_last(g);
  CHECK(count_of(g, "Transpose") == 1);
  CHECK(print(g).find("%concat_14.last: float32 (1, 7, 6, 20)") != std::string::npos);
}

TEST_CASE("fuse: an anchor takes what is behind it") {
  network::graph g = typed("tiny_cnn");
  network::optimize(g);
  CHECK(count_of(g, "Conv_Relu") == 1);
  CHECK(count_of(g, "Conv_Add_Relu") == 1);
  CHECK(count_of(g, "Conv_Clip") == 1);
  CHECK(count_of(g, "Relu") + count_of(g, "Add") + count_of(g, "Clip") == 0);
}

TEST_CASE("fuse: copies become indices of the product that reads them, and of where it writes") {
  written_graph w;
  const auto x = w.input("x", {5, 12}), u = w.input("u", {2, 5, 5});
  const auto part =
      w.add("Slice", {x}, {{"starts", list{4}}, {"ends", list{12}}, {"axes", list{1}}});
  const auto heads = w.add("Reshape", {part, w.known(network::constant::of_integers({5, 2, 4}))});
  const auto turned = w.add("Transpose", {heads}, {{"perm", list{1, 0, 2}}});
  const auto product = w.add("MatMul", {u, turned});
  w.g.outputs = {w.add("Transpose", {product}, {{"perm", list{1, 0, 2}}})};
  network::infer_types(w.g);
  const std::vector<network::constant> in{waves({5, 12}, 0.3), waves({2, 5, 5}, 0.7)};
  const auto expected = network::interpret(w.g, in);
  network::fuse(w.g);
  REQUIRE(w.g.nodes.size() == 1);
  CHECK(w.g.nodes[0].op == "Slice_Reshape_Transpose_MatMul_Transpose");
  CHECK(difference(expected[0], network::interpret(w.g, in)[0]) <= 1e-6);
}

TEST_CASE("fuse: a slice that is read at one place alone") {
  written_graph w;
  const auto x = w.input("x", {2, 4});
  const auto column =
      w.add("Slice", {x}, {{"starts", list{1}}, {"ends", list{2}}, {"axes", list{1}}});
  const auto wide = w.add("Expand", {column, w.known(network::constant::of_integers({2, 3}))});
  w.g.outputs = {w.add("Neg", {wide})};
  network::infer_types(w.g);
  const std::vector<network::constant> in{waves({2, 4}, 0.3)};
  const auto expected = network::interpret(w.g, in);
  network::fuse(w.g);
  REQUIRE(w.g.nodes.size() == 1);
  CHECK(difference(expected[0], network::interpret(w.g, in)[0]) == 0);
}

TEST_CASE("fuse: a copy that two read stays, and so does one that folds dimensions of a sum") {
  written_graph twice;
  const auto x = twice.input("x", {4, 4});
  const auto t = twice.add("Transpose", {x});
  twice.g.outputs = {twice.add("MatMul", {x, t}), twice.add("Relu", {t})};
  network::infer_types(twice.g);
  network::fuse(twice.g);
  CHECK(count_of(twice.g, "Transpose") == 1);
  written_graph folded;
  const auto y = folded.input("y", {2, 3, 4}), z = folded.input("z", {8, 5});
  const auto turned = folded.add("Transpose", {y}, {{"perm", list{1, 0, 2}}});
  const auto flat =
      folded.add("Reshape", {turned, folded.known(network::constant::of_integers({3, 8}))});
  folded.g.outputs = {folded.add("MatMul", {flat, z})};
  network::infer_types(folded.g);
  network::fuse(folded.g);
  CHECK(count_of(folded.g, "Transpose_Reshape") == 1);
  CHECK(count_of(folded.g, "MatMul") == 1);
}

TEST_CASE("replace_nan: the guard behind softmax is one node, and keeps masked rows at 0") {
  written_graph w;
  const auto x = w.input("x", {3, 4});
  const auto s = w.add("Softmax", {x}, {{"axis", std::int64_t{-1}}});
  w.g.outputs = {w.add("Where", {w.add("IsNaN", {s}), w.known(waves({}, 0)), s})};
  network::infer_types(w.g);
  auto [in, data] = network::constant::make({dtype::f32, {3, 4}});
  std::vector<float> rows(12, -INFINITY);
  for (std::size_t k = 4; k < 12; ++k) rows[k] = static_cast<float>(k);
  std::memcpy(data, rows.data(), 48);
  network::replace_nan(w.g);
  CHECK(count_of(w.g, "ReplaceNaN") == 1);
  CHECK(count_of(w.g, "IsNaN") + count_of(w.g, "Where") == 0);
  network::fuse(w.g);
  REQUIRE(w.g.nodes.size() == 1);
  const network::constant y = network::interpret(w.g, {in})[0];
  CHECK(y.number(0) == 0);
  CHECK(y.number(4) > 0);
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

TEST_CASE("remove_repeated: nodes that compute the same from the same values") {
  written_graph w;
  const network::value_id x = w.input("x", {3, 4});
  const auto leaky = [&](double slope) { return w.add("LeakyRelu", {x}, {{"alpha", slope}}); };
  const network::value_id first = w.add("Tanh", {x}), second = w.add("Tanh", {x});
  const network::value_id half = w.known(waves({1}, 0.5)), again = w.known(waves({1}, 0.5));
  const network::value_id a = w.add("Mul", {first, half}), b = w.add("Mul", {second, again});
  const network::value_id other = w.add("Sub", {leaky(0.5), leaky(0.25)});
  w.g.outputs = {w.add("Add", {w.add("Sub", {a, w.add("Exp", {b})}), other})};
  network::infer_types(w.g);
  const network::graph before = w.g;
  network::remove_repeated(w.g);
  CHECK(count_of(w.g, "Tanh") == 1);
  CHECK(count_of(w.g, "Mul") == 1);
  CHECK(count_of(w.g, "LeakyRelu") == 2);
  CHECK(w.g.nodes.size() == before.nodes.size() - 2);
  const network::constant in = waves({3, 4}, 0.7);
  const network::constant y = network::interpret(w.g, {in})[0],
                          expected = network::interpret(before, {in})[0];
  for (std::int64_t k = 0; k < 12; ++k) CHECK(y.number(k) == expected.number(k));
}

TEST_CASE("remove_repeated: copies, and what the outside wants, stay") {
  written_graph w;
  const network::value_id x = w.input("x", {4, 4});
  const auto product = [&] {
    return w.add("MatMul", {w.add("Transpose", {x}, {{"perm", list{1, 0}}}), x});
  };
  const network::value_id p = product(), q = product();
  const network::value_id wanted = w.add("Neg", {x}), too = w.add("Neg", {x});
  w.g.outputs = {w.add("Add", {p, q}), wanted, too};
  network::infer_types(w.g);
  network::remove_repeated(w.g);
  CHECK(count_of(w.g, "Transpose") == 2);
  CHECK(count_of(w.g, "MatMul") == 1);  // of equal elements
  CHECK(count_of(w.g, "Neg") == 2);
  network::remove_unused(w.g);
  CHECK(count_of(w.g, "Transpose") == 1);
}
