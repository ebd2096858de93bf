// Products that share an input become one, and their parts are what they were.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/passes.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

network::constant result_of(const network::graph& g, const network::constant& x) {
  return network::interpret(g, {x}).at(0);
}

/// What the plan of a graph computes.
network::constant run_plan(const network::graph& g, const network::constant& x) {
  tuned_options options;
  options.mode = mode::off;
  options.database = ":memory:";
  options.threads = 1;
  const network::executable program(std::make_shared<const network::graph>(g), options);
  auto [y, data] = network::constant::make(g.type_of(g.outputs[0]));
  program.run({x.data()}, {data});
  return y;
}

/// Three products of one input with biases, as queries, keys and values of a transformer are made.
struct three_products : written_graph {
  three_products() {
    g.name = "three";
    const auto x = input("x", {4, 6});
    std::vector<network::value_id> made;
    for (const std::int64_t columns : {8, 3, 8}) {
      const double c = 0.1 * static_cast<double>(made.size() + 1);
      const auto p = add("MatMul", {x, known(waves({6, columns}, c))});
      made.push_back(add("Add", {known(waves({columns}, 3 * c)), p}));
    }
    const auto turned = add("Transpose", {made[2]}, {{"perm", list{1, 0}}});
    const auto scores = add("MatMul", {made[0], turned});
    g.outputs = {add("MatMul", {scores, made[1]})};
    network::infer_types(g);
  }
};

/// Two convolutions of one image, of which others make more.
struct two_convolutions : written_graph {
  explicit two_convolutions(bool to_concat, std::int64_t second_stride = 1) {
    g.name = "two";
    const auto x = input("x", {1, 5, 6, 6});
    const auto conv = [&](network::value_id of, std::int64_t k, std::int64_t c, std::int64_t window,
                          double factor, std::int64_t stride) {
      return add(
          "Relu",
          {add("Conv",
               {of, known(waves({k, c, window, window}, factor)), known(waves({k}, 2 * factor))},
               {{"strides", list{stride, stride}}})});
    };
    const auto a = conv(x, 4, 5, 1, 0.3, 1), b = conv(x, 7, 5, 1, 0.7, second_stride);
    if (to_concat)
      g.outputs = {add("Concat", {a, b}, {{"axis", std::int64_t{1}}})};
    else
      g.outputs = {add("Concat",
                       {add("GlobalAveragePool", {conv(a, 3, 4, 3, 0.2, 1)}),
                        add("GlobalAveragePool", {conv(b, 2, 7, 1, 0.4, 1)})},
                       {{"axis", std::int64_t{1}}})};
    network::infer_types(g);
  }
};

int joined_convolutions(network::graph g) {
  network::channels_last(g);
  const int before = count_of(g, "Conv");
  network::join_products(g);
  return before - count_of(g, "Conv");
}

}  // namespace

TEST_CASE("join_products: three with their biases are one, and three slices") {
  const three_products three;
  const network::constant x = waves({4, 6}, 0.9);
  const network::constant expected = result_of(three.g, x);
  network::graph g = three.g;
  network::join_products(g);
  INFO(print(g));
  CHECK(count_of(g, "MatMul") == 3);  // of five
  CHECK(count_of(g, "Add") == 1);
  CHECK(count_of(g, "Slice") == 3);
  CHECK(difference(expected, result_of(g, x)) <= 1e-6);
}

TEST_CASE("join_products: convolutions of one image, whose parts others read where they lie") {
  const two_convolutions two(false);
  const network::constant x = waves({1, 5, 6, 6}, 0.9);
  const network::constant expected = result_of(two.g, x);
  CHECK(joined_convolutions(two.g) == 1);
  const std::vector<network::graph> all = network::alternatives_of(two.g);
  REQUIRE(all.size() == 2);
  INFO(print(all[1]));
  CHECK(count_of(all[1], "Part") == 2);
  for (const network::graph& g : all) {
    CHECK(difference(expected, result_of(g, x)) <= 1e-6);
    CHECK(difference(expected, run_plan(g, x)) <= 1e-6);
  }
}

TEST_CASE("join_products: what would have to be copied, or differs, stays") {
  CHECK(joined_convolutions(two_convolutions(true).g) == 0);  // Concat takes them as they are made
  CHECK(joined_convolutions(two_convolutions(false, 2).g) == 0);  // other strides
  three_products outside;
  outside.g.outputs.push_back(outside.g.nodes[1].outputs[0]);
  network::join_products(outside.g);
  CHECK(count_of(outside.g, "MatMul") == 4);  // the other two are joined
}
