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
#include <tilewright/support/random.hpp>

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
                                                       {"replace_nan", network::replace_nan},
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

namespace {

/// A graph that is written node by node.
struct written_graph {
  network::graph g;

  network::value_id input(const char* name, const network::shape& extents) {
    network::value v;
    v.name = name;
    v.type = network::tensor_type{dtype::f32, extents};
    g.inputs.push_back(g.add(v));
    return g.inputs.back();
  }
  network::value_id known(const network::constant& c) {
    network::value v;
    v.name = "c" + std::to_string(g.values.size());
    v.type = c.type();
    v.data = c;
    return g.add(v);
  }
  network::value_id add(const std::string& op, const std::vector<network::value_id>& inputs,
                        std::map<std::string, network::attribute, std::less<>> attributes = {}) {
    network::value v;
    v.name = "v" + std::to_string(g.values.size());
    network::node n;
    n.op = op;
    n.name = v.name;
    n.version = 17;
    n.inputs = inputs;
    n.outputs = {g.add(v)};
    n.attributes = std::move(attributes);
    g.nodes.push_back(n);
    return n.outputs[0];
  }
};

using list = std::vector<std::int64_t>;

network::constant floats(const network::shape& extents, double factor) {
  auto [c, data] = network::constant::make({dtype::f32, extents});
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    const float x = static_cast<float>(std::sin(factor * static_cast<double>(k + 1)));
    std::memcpy(data + 4 * k, &x, 4);
  }
  return c;
}

}  // namespace

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
  const std::vector<network::constant> in{floats({5, 12}, 0.3), floats({2, 5, 5}, 0.7)};
  const auto expected = network::interpret(w.g, in);
  network::fuse(w.g);
  REQUIRE(w.g.nodes.size() == 1);
  CHECK(w.g.nodes[0].op == "Slice_Reshape_Transpose_MatMul_Transpose");
  CHECK(difference(expected[0], network::interpret(w.g, in)[0]) <= 1e-6);
}

TEST_CASE("fuse: a copy that two read stays, and so does one that folds dimensions of a sum") {
  written_graph twice;
  const auto x = twice.input("x", {4, 4});
  const auto t = twice.add("Transpose", {x});
  twice.g.outputs = {twice.add("MatMul", {x, t}), twice.add("Relu", {t})};
  network::infer_types(twice.g);
  network::fuse(twice.g);
  CHECK(count(twice.g, "Transpose") == 1);
  written_graph folded;
  const auto y = folded.input("y", {2, 3, 4}), z = folded.input("z", {8, 5});
  const auto turned = folded.add("Transpose", {y}, {{"perm", list{1, 0, 2}}});
  const auto flat =
      folded.add("Reshape", {turned, folded.known(network::constant::of_integers({3, 8}))});
  folded.g.outputs = {folded.add("MatMul", {flat, z})};
  network::infer_types(folded.g);
  network::fuse(folded.g);
  CHECK(count(folded.g, "Transpose_Reshape") == 1);
  CHECK(count(folded.g, "MatMul") == 1);
}

TEST_CASE("replace_nan: the guard behind softmax is one node, and keeps masked rows at 0") {
  written_graph w;
  const auto x = w.input("x", {3, 4});
  const auto s = w.add("Softmax", {x}, {{"axis", std::int64_t{-1}}});
  w.g.outputs = {w.add("Where", {w.add("IsNaN", {s}), w.known(floats({}, 0)), s})};
  network::infer_types(w.g);
  auto [in, data] = network::constant::make({dtype::f32, {3, 4}});
  std::vector<float> rows(12, -INFINITY);
  for (std::size_t k = 4; k < 12; ++k) rows[k] = static_cast<float>(k);
  std::memcpy(data, rows.data(), 48);
  network::replace_nan(w.g);
  CHECK(count(w.g, "ReplaceNaN") == 1);
  CHECK(count(w.g, "IsNaN") + count(w.g, "Where") == 0);
  network::fuse(w.g);
  REQUIRE(w.g.nodes.size() == 1);
  const network::constant y = network::interpret(w.g, {in})[0];
  CHECK(y.number(0) == 0);
  CHECK(y.number(4) > 0);
}

namespace {

/// A graph of `nodes` operators on tensors of three dimensions, drawn from a seed.
network::graph drawn_graph(std::uint64_t seed, int nodes) {
  support::random random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.next() % n); };
  written_graph w;
  w.g.name = "drawn" + std::to_string(seed);
  std::vector<network::value_id> values{w.input("x", {2, 3, 4}), w.input("y", {2, 4, 3})};
  std::vector<network::shape> shapes{{2, 3, 4}, {2, 4, 3}};
  const auto add = [&](network::value_id v, const network::shape& s) {
    values.push_back(v);
    shapes.push_back(s);
  };
  for (int k = 0; k < nodes; ++k) {
    // late values more often, so that chains become long
    const std::size_t at = values.size() - 1 - std::min(below(values.size()), below(values.size()));
    const network::value_id v = values[at];
    const network::shape s = shapes[at];
    switch (below(12)) {
      case 0: add(w.add("Relu", {v}), s); break;
      case 1: add(w.add("Tanh", {v}), s); break;
      case 2: add(w.add("Mul", {v, w.known(floats({s[2]}, 0.5))}), s); break;
      case 3: {
        std::size_t other = at;
        for (std::size_t i = 0; i < values.size(); ++i)
          if (shapes[i] == s && below(2) == 0) other = i;
        add(w.add("Add", {v, values[other]}), s);
        break;
      }
      case 4: {
        list p{0, 1, 2};
        std::swap(p[below(3)], p[below(3)]);
        add(w.add("Transpose", {v}, {{"perm", p}}),
            {s[static_cast<std::size_t>(p[0])], s[static_cast<std::size_t>(p[1])],
             s[static_cast<std::size_t>(p[2])]});
        break;
      }
      case 5: {
        const network::shape to =
            below(2) ? network::shape{1, s[0] * s[1], s[2]} : network::shape{s[0], s[1] * s[2], 1};
        add(w.add("Reshape", {v, w.known(network::constant::of_integers(to))}), to);
        break;
      }
      case 6: {
        const std::size_t d = below(3);
        if (s[d] < 2) break;
        network::shape to = s;
        to[d] -= 1;
        add(w.add("Slice", {v},
                  {{"starts", list{1}},
                   {"ends", list{s[d]}},
                   {"axes", list{static_cast<std::int64_t>(d)}}}),
            to);
        break;
      }
      case 7: {
        const network::shape to{s[0], s[1], 5};
        add(w.add("MatMul", {v, w.known(floats({s[2], 5}, 0.9))}), to);
        break;
      }
      case 8: {
        const auto other = w.add("Transpose", {v}, {{"perm", list{0, 2, 1}}});
        add(w.add("MatMul", {v, other}), {s[0], s[1], s[1]});
        break;
      }
      case 9: {
        const auto p = w.add("Softmax", {v}, {{"axis", std::int64_t{-1}}});
        add(w.add("Where", {w.add("IsNaN", {p}), w.known(floats({}, 0)), p}), s);
        break;
      }
      case 10: {
        const network::shape to{s[0], s[1], 2 * s[2]};
        if (2 * s[2] > 24) break;
        add(w.add("Concat", {v, v}, {{"axis", std::int64_t{2}}}), to);
        break;
      }
      default:
        add(w.add("ReduceMean", {v}, {{"axes", list{1}}, {"keepdims", std::int64_t{1}}}),
            {s[0], 1, s[2]});
    }
  }
  w.g.outputs = {values.back(), values[values.size() / 2]};
  if (w.g.outputs[0] == w.g.outputs[1]) w.g.outputs.pop_back();
  network::infer_types(w.g);
  return w.g;
}

}  // namespace

TEST_CASE("passes: drawn graphs compute the same before and after each") {
  const std::vector<network::constant> in{floats({2, 3, 4}, 0.3), floats({2, 4, 3}, 0.7)};
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    const network::graph before = drawn_graph(seed, 5 + static_cast<int>(seed % 25));
    const auto expected = network::interpret(before, in);
    for (const auto& [name, run] : passes) {
      network::graph after = before;
      run(after);
      INFO(std::string(name), " of ", print(before));
      const auto y = network::interpret(after, in);
      for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK(difference(expected[k], y.at(k)) <= 2e-6);
    }
  }
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
