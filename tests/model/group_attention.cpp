// Attention as exporters write it becomes one kernel, whatever stands between its products.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/session.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

/// Attention of 2 heads as PyTorch exports it, with queries, keys and values side by side in x.
struct exported_attention : written_graph {
  network::value_id scores, weights;

  exported_attention(bool has_mask, bool has_guard) {
    g.name = "attention";
    const auto x = input("x", {1, 5, 24});
    const auto heads = [&](std::int64_t first, const list& order) {
      const auto part = add(
          "Slice", {x}, {{"starts", list{first}}, {"ends", list{first + 8}}, {"axes", list{2}}});
      const auto split =
          add("Reshape", {part, known(network::constant::of_integers({1, 5, 2, 4}))});
      return add("Transpose", {split}, {{"perm", order}});
    };
    const auto factor = known(waves({}, 0.7));
    const auto q = add("Mul", {heads(0, {0, 2, 1, 3}), factor});
    const auto k = add("Mul", {heads(8, {0, 2, 3, 1}), factor});
    scores = add("MatMul", {q, k});
    auto logits = scores;
    if (has_mask) logits = add("Add", {scores, input("mask", {1, 1, 5, 5})});
    weights = add("Softmax", {logits}, {{"axis", std::int64_t{-1}}});
    if (has_guard) weights = add("Where", {add("IsNaN", {weights}), known(waves({}, 0)), weights});
    const auto mixed = add("MatMul", {weights, heads(16, {0, 2, 1, 3})});
    const auto turned = add("Transpose", {mixed}, {{"perm", list{0, 2, 1, 3}}});
    g.outputs = {add("Reshape", {turned, known(network::constant::of_integers({1, 5, 8}))})};
  }
};

}  // namespace

TEST_CASE("group_attention: products, scale, mask, softmax and its guard are one kernel") {
  for (const bool has_mask : {false, true})
    for (const bool has_guard : {false, true}) {
      exported_attention a(has_mask, has_guard);
      network::infer_types(a.g);
      std::vector<network::constant> in{waves({1, 5, 24}, 0.3)};
      if (has_mask) {
        auto [mask, data] = network::constant::make({dtype::f32, {1, 1, 5, 5}});
        std::vector<float> bias(25, 0.0f);
        for (std::size_t k = 0; k < 25; ++k)
          if (k % 3 == 1 || (has_guard && k < 5)) bias[k] = -INFINITY;
        std::memcpy(data, bias.data(), 100);
        in.push_back(mask);
      }
      const network::constant expected = network::interpret(a.g, in).at(0);
      const std::vector<network::graph> all = network::alternatives_of(a.g);
      REQUIRE(all.size() == 2);
      const network::graph& g = all[1];
      CHECK(all[0].nodes.size() == 4);  // both products and softmax, and the reshape
      CHECK(difference(expected, network::interpret(all[0], in).at(0)) <= 2e-6);
      INFO(print(g));
      REQUIRE(g.nodes.size() == 2);  // the kernel, and the reshape of what it writes
      CHECK(g.nodes[0].op.find("Attention") != std::string::npos);
      CHECK(g.nodes[1].op == "Reshape");
      CHECK(difference(expected, network::interpret(g, in).at(0)) <= 2e-6);
      tuned_options options;
      options.mode = mode::off;
      options.database = ":memory:";
      options.threads = 1;
      const network::executable program(std::make_shared<const network::graph>(g), options);
      REQUIRE(program.launches().size() == 1);
      CHECK(program.arena_bytes() == 0);
      auto [y, data] = network::constant::make(expected.type());
      std::vector<const void*> inputs;
      for (const network::constant& c : in) inputs.push_back(c.data());
      program.run(inputs, {data});
      CHECK(difference(expected, y) <= 2e-6);
    }
}

TEST_CASE("alternatives: what is tuned decides, and is found again") {
  exported_attention a(false, true);
  model_options options;
  options.database = "/tmp/tilewright_alternatives." + std::to_string(::getpid()) + ".db";
  options.threads = 1;
  options.mode = mode::off;
  std::vector<float> x(120), y(40), z(40);
  const network::constant in = waves({1, 5, 24}, 0.3);
  std::memcpy(x.data(), in.data(), 480);
  const auto kernels = [](const model& m) { return m.program()->launches().size(); };
  {
    model m(a.g, options);
    CHECK(kernels(m) == 3);  // nothing is known
    m(x, y);
    const auto db = search::database::shared(options.database);
    double seconds[2];
    const std::vector<network::graph> all = network::alternatives_of(m.source());
    do {  // a machine with other work comes to all kernels later
      m.tune(4);
      for (std::size_t k = 0; k < 2; ++k) {
        tuned_options o;
        o.own_database = db;
        o.threads = 1;
        o.mode = mode::off;
        const network::executable program(std::make_shared<const network::graph>(all[k]), o);
        seconds[k] = network::known_seconds(program, *db);
      }
    } while (!std::isfinite(seconds[0] + seconds[1]));
    m(x, z);
    for (std::size_t k = 0; k < 40; ++k) CHECK(z[k] == doctest::Approx(y[k]).epsilon(1e-5));
    CHECK(kernels(m) == (seconds[0] <= seconds[1] ? 3 : 1));
    const model again(a.g, options);
    CHECK(kernels(again) == kernels(m));
    again(x, z);
    for (std::size_t k = 0; k < 40; ++k) CHECK(z[k] == doctest::Approx(y[k]).epsilon(1e-5));
  }
  for (const char* end : {"", "-wal", "-shm"}) std::remove((options.database + end).c_str());
}

TEST_CASE("group_attention: scores and weights that somebody else reads stay") {
  for (const bool of_weights : {false, true}) {
    exported_attention a(true, true);
    a.g.outputs.push_back(of_weights ? a.weights : a.scores);
    network::infer_types(a.g);
    const std::size_t nodes = a.g.nodes.size();
    network::group_attention(a.g);
    CHECK(a.g.nodes.size() == nodes);
    CHECK(count_of(a.g, "Attention") == 0);
  }
}

TEST_CASE("group_attention: softmax along another dimension is none") {
  written_graph w;
  const auto x = w.input("x", {4, 4});
  const auto p = w.add("Softmax", {w.add("MatMul", {x, x})}, {{"axis", std::int64_t{0}}});
  w.g.outputs = {w.add("MatMul", {p, x})};
  network::infer_types(w.g);
  network::group_attention(w.g);
  CHECK(w.g.nodes.size() == 3);
}

TEST_CASE("scale_products: factors of both sides are one behind the product") {
  written_graph w;
  const auto x = w.input("x", {3, 4}), y = w.input("y", {4, 2});
  const auto a = w.add("Mul", {x, w.known(waves({1}, 0.4))});
  const auto b = w.add("Div", {y, w.known(waves({}, 1.1))});
  w.g.outputs = {w.add("MatMul", {a, b})};
  network::infer_types(w.g);
  const std::vector<network::constant> in{waves({3, 4}, 0.3), waves({4, 2}, 0.5)};
  const network::constant expected = network::interpret(w.g, in).at(0);
  network::scale_products(w.g);
  REQUIRE(w.g.nodes.size() == 2);
  CHECK(w.g.nodes[0].op == "MatMul");
  CHECK(w.g.nodes[1].op == "Mul");
  CHECK(difference(expected, network::interpret(w.g, in).at(0)) <= 1e-6);
}

TEST_CASE("scale_products: a factor that others read, or of a narrow type, stays") {
  written_graph twice;
  const auto x = twice.input("x", {4, 4});
  const auto a = twice.add("Mul", {x, twice.known(waves({}, 0.4))});
  twice.g.outputs = {twice.add("MatMul", {a, x}), twice.add("Relu", {a})};
  network::infer_types(twice.g);
  network::scale_products(twice.g);
  CHECK(twice.g.nodes.size() == 3);
  written_graph narrow;
  const auto h = narrow.input("h", {4, 4}, dtype::f16);
  const auto small = network::constant::make({dtype::f16, {}});
  std::memset(small.second, 0x1c, 2);
  narrow.g.outputs = {narrow.add("MatMul", {narrow.add("Mul", {h, narrow.known(small.first)}), h})};
  network::infer_types(narrow.g);
  network::scale_products(narrow.g);
  CHECK(narrow.g.nodes[0].op == "Mul");
}

TEST_CASE("fuse: a sum and the normalization of its rows are one kernel") {
  written_graph w;
  const auto x = w.input("x", {3, 8}), y = w.input("y", {3, 8});
  const auto sum = w.add("Add", {x, y});
  w.g.outputs = {
      w.add("LayerNormalization", {sum, w.known(waves({8}, 0.9)), w.known(waves({8}, 1.3))})};
  network::infer_types(w.g);
  const std::vector<network::constant> in{waves({3, 8}, 0.3), waves({3, 8}, 0.5)};
  const network::constant expected = network::interpret(w.g, in).at(0);
  network::graph both = w.g;
  network::fuse(both);
  REQUIRE(both.nodes.size() == 1);
  CHECK(both.nodes[0].op == "Add_LayerNormalization");
  CHECK(difference(expected, network::interpret(both, in).at(0)) <= 1e-6);
  // a sum that goes on beside the norm is written once, and read by both
  w.g.outputs.push_back(sum);
  network::fuse(w.g);
  CHECK(w.g.nodes.size() == 2);
}

TEST_CASE("group_attention: the end of one is not the beginning of another") {
  written_graph w;
  w.g.name = "twice";
  auto x = w.add("MatMul", {w.input("x", {1, 3, 4}), w.known(waves({1, 4, 5}, 0.3))});
  for (const std::int64_t columns : {6, 2}) {
    const auto weights = w.add("Softmax", {x}, {{"axis", std::int64_t{-1}}});
    x = w.add("MatMul", {weights, w.known(waves({1, columns == 6 ? 5 : 6, columns}, 0.7))});
  }
  w.g.outputs = {x};
  network::infer_types(w.g);
  const network::constant in = waves({1, 3, 4}, 0.9);
  const network::constant expected = network::interpret(w.g, {in}).at(0);
  network::graph g = w.g;
  network::group_attention(g);
  INFO(print(g));
  CHECK(g.nodes.size() == 3);  // the first, softmax, and the last product
  CHECK(difference(expected, network::interpret(g, {in}).at(0)) <= 2e-6);
}
