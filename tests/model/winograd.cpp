// Convolutions in tiles: the same results within the bound that model/winograd.hpp states.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/impl/ops/winograd/transform.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/search/database/database.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

constexpr std::int64_t extents_of_tiles[] = {2, 4, 6};

network::constant waves_of(dtype t, const network::shape& extents, double factor) {
  auto [c, data] = network::constant::make({t, extents});
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    const double x = std::sin(factor * static_cast<double>(k + 1));
    if (t == dtype::f64) {
      std::memcpy(data + 8 * k, &x, 8);
    } else {
      const float y = static_cast<float>(x);
      std::memcpy(data + 4 * k, &y, 4);
    }
  }
  return c;
}

/// What convolutions differ in.
struct image_and_window {
  dtype type = dtype::f32;
  network::shape image = {1, 5, 7, 9};  // N, C, H, W
  std::int64_t outputs = 6, window = 3, stride = 1, dilation = 1, groups = 1;
  list pads = {1, 1, 1, 1};
  bool bias = true;
};

/// A convolution, a residual and an activation, with channels last.
struct one_convolution : written_graph {
  network::graph source;  // channels first
  network::constant x, filter;
  std::string name;  // of what the convolution makes

  explicit one_convolution(const image_and_window& w) {
    g.name = "one";
    const auto in = input("x", w.image, w.type);
    x = waves_of(w.type, w.image, 0.9);
    filter = waves_of(w.type, {w.outputs, w.image[1] / w.groups, w.window, w.window}, 0.37);
    std::vector<network::value_id> inputs{in, known(filter)};
    if (w.bias) inputs.push_back(known(waves_of(w.type, {w.outputs}, 0.2)));
    const auto y = add("Conv", inputs,
                       {{"pads", w.pads},
                        {"strides", list{w.stride, w.stride}},
                        {"dilations", list{w.dilation, w.dilation}},
                        {"group", w.groups}});
    g.outputs = {add("Relu", {add("Add", {y, add("Abs", {y})})})};
    network::infer_types(g);
    source = g;
    network::channels_last(g);
    for (const network::node& n : g.nodes)
      if (n.op == "Conv") name = g.at(n.outputs[0]).name;
  }
  network::graph in_tiles(std::int64_t tile) const {
    network::graph out = g;
    network::transformed_filters filters;
    network::winograd(out, {{name, tile}}, filters);
    return out;
  }
  network::constant result(const network::graph& of) const {
    return network::interpret(of, {x}).at(0);
  }
};

double largest_difference(const network::constant& a, const network::constant& b) {
  REQUIRE(a.type().extents == b.type().extents);
  double out = 0;
  for (std::int64_t k = 0; k < a.type().elements(); ++k)
    out = std::max(out, std::abs(a.number(k) - b.number(k)));
  return out;
}

/// The algorithm on elements of size 1, all factors made positive, times u: what one result of C channels
/// can be off by, without (C + 4 m + 12).
double unit_bound(std::int64_t tile) {
  const ops::detail::winograd_transform t = ops::detail::transform_of_tile(tile);
  const auto n = static_cast<std::size_t>(t.points()), m = static_cast<std::size_t>(tile);
  std::vector<double> sums(n);  // of rows of |B|, times those of |G|
  for (std::size_t i = 0; i < n; ++i) {
    double b = 0, g = 0;
    for (std::size_t k = 0; k < n; ++k) b += std::abs(t.b[i * n + k]);
    for (std::size_t k = 0; k < 3; ++k) g += std::abs(t.g[i * 3 + k]);
    sums[i] = b * g;
  }
  double out = 0;
  for (std::size_t r = 0; r < m; ++r) {
    double row = 0;
    for (std::size_t i = 0; i < n; ++i) row += std::abs(t.a[r * n + i]) * sums[i];
    out = std::max(out, row * row);
  }
  return out * std::ldexp(1, -24);
}

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

}  // namespace

TEST_CASE("winograd: bounds are those that the header names, beside nine of the convolution") {
  const double u = std::ldexp(1, -24);
  CHECK(unit_bound(2) / (9 * u) == doctest::Approx(7.2).epsilon(0.02));
  CHECK(unit_bound(4) / (9 * u) == doctest::Approx(84).epsilon(0.02));
  CHECK(unit_bound(6) / (9 * u) == doctest::Approx(510).epsilon(0.02));
}

TEST_CASE("winograd: results are the convolution's within the bound") {
  const std::vector<image_and_window> all{
      {},
      {.image = {2, 3, 12, 4}, .outputs = 4, .pads = {0, 0, 0, 0}},
      {.image = {1, 17, 6, 6}, .outputs = 16, .pads = {1, 0, 2, 1}, .bias = false},
      {.image = {1, 2, 3, 14}, .outputs = 1, .pads = {2, 2, 2, 2}}};
  for (const image_and_window& w : all)
    for (const std::int64_t tile : extents_of_tiles) {
      CAPTURE(tile);
      image_and_window wide = w;
      wide.type = dtype::f64;
      const one_convolution exact(wide), rounded(w);
      const network::graph g = rounded.in_tiles(tile);
      INFO(print(g));
      CHECK(count_of(g, "Conv") == 0);
      CHECK(count_of(g, "WinogradInput") == 1);
      const network::constant expected = exact.result(exact.g);
      CHECK(largest_difference(expected, exact.result(exact.in_tiles(tile))) <= 1e-11);
      // elements are at most 1; what stands behind the convolution doubles a difference
      const auto channels = static_cast<double>(w.image[1]);
      const double bound =
          2 * channels * (channels + 4 * static_cast<double>(tile) + 12) * unit_bound(tile);
      const double apart = largest_difference(expected, rounded.result(g));
      CHECK(apart <= bound);
      network::graph fused = g;
      network::make_kernels(fused);
      CHECK(largest_difference(expected, run_plan(fused, rounded.x)) <= bound);
    }
}

TEST_CASE("winograd: what it cannot compute, or is not named, stays") {
  const auto stays = [](const image_and_window& w) {
    const one_convolution one(w);
    CHECK(count_of(one.in_tiles(4), "WinogradInput") == 0);
    CHECK(network::winograd_tiles(one.g, false).count(one.name) == 0);
  };
  stays({.stride = 2});
  stays({.image = {1, 4, 9, 9}, .dilation = 2, .pads = {2, 2, 2, 2}});
  stays({.image = {1, 4, 9, 9}, .groups = 2});
  stays({.window = 1, .pads = {0, 0, 0, 0}});
  stays({.window = 5, .pads = {2, 2, 2, 2}});
  one_convolution other{{}};
  other.name = "other";
  CHECK(count_of(other.in_tiles(4), "WinogradInput") == 0);
}

TEST_CASE("winograd: tiles are tried where they save work") {
  const auto tried = [](std::int64_t extent, std::int64_t channels, bool streams_weights) {
    written_graph w;
    w.g.outputs = {w.add("Conv",
                         {w.input("x", {1, channels, extent, extent}),
                          w.known(waves({channels, channels, 3, 3}, 0.3))},
                         {{"pads", list{1, 1, 1, 1}}})};
    network::infer_types(w.g);
    network::channels_last(w.g);
    const auto all = network::winograd_tiles(w.g, streams_weights);
    REQUIRE(all.size() == 1);
    return all.begin()->second;
  };
  CHECK(tried(56, 64, true).size() == 2);
  CHECK(tried(14, 256, true).front() <= 4);
  CHECK(tried(2, 8, false).empty());   // one tile computes what lies outside
  CHECK(tried(3, 512, true).empty());  // weights are read once
}

TEST_CASE("winograd: the database says which convolutions run in tiles") {
  const one_convolution one({.image = {1, 16, 12, 12}, .outputs = 16});
  const auto db = std::make_shared<search::database>(":memory:");
  tuned_options o;
  o.own_database = db;
  o.mode = mode::off;
  o.threads = 1;
  const auto program_of = [&](network::graph g) {
    network::make_kernels(g);
    return std::make_shared<const network::executable>(
        std::make_shared<const network::graph>(std::move(g)), o);
  };
  const auto direct = program_of(one.g), tiled = program_of(one.in_tiles(4));
  CHECK(network::faster_tiles(*direct, {tiled}, *db).empty());  // nothing is known
  while (!std::isfinite(network::known_seconds(*direct, *db) + network::known_seconds(*tiled, *db)))
    network::tune_kernels({direct, tiled}, 2, 42, *db);
  const auto say = [&](const network::executable& program, double seconds) {
    for (std::size_t k = 0; k < program.launches().size(); ++k) {
      std::optional<search::record> r = db->chosen(program.task(k).key);
      REQUIRE(r);
      for (double& s : r->seconds) s = seconds;
      db->add(*r);
    }
  };
  say(*direct, 1);
  say(*tiled, 0.25);
  CHECK(network::faster_tiles(*direct, {tiled}, *db) == network::tile_choice{{one.name, 4}});
  say(*tiled, 0.5);
  CHECK(network::faster_tiles(*direct, {tiled}, *db).empty());
  // what one thread knows counts for two, as long as these know nothing of the convolution as it stands
  say(*tiled, 0.25);
  o.threads = 2;
  const auto direct_on_two = program_of(one.g), tiled_on_two = program_of(one.in_tiles(4));
  CHECK(network::faster_tiles(*direct_on_two, {tiled_on_two}, *db) ==
        network::tile_choice{{one.name, 4}});
  CHECK(std::isinf(network::known_seconds(*direct_on_two, *db)));
  search::record alone;
  alone.trace = "of two threads";
  alone.seconds = {1};
  alone.chosen = true;
  for (std::size_t k = 0; k < direct_on_two->launches().size(); ++k) {
    alone.key = direct_on_two->task(k).key;
    CHECK(alone.key.threads == 2);
    db->add(alone);
  }
  CHECK(network::faster_tiles(*direct_on_two, {tiled_on_two}, *db).empty());
}

TEST_CASE("winograd: a tuned model is the interpreter's graph, whatever was chosen") {
  one_convolution one({.image = {1, 16, 24, 24}, .outputs = 16});
  const network::constant expected = one.result(one.g);
  model_options options;
  options.database = ":memory:";
  options.threads = 1;
  options.seconds = 4;
  const model m(one.source, options);
  auto [y, data] = network::constant::make(expected.type());
  const auto floats = [](const network::constant& c) {
    const auto* first = reinterpret_cast<const float*>(c.data());
    return std::vector<float>(first, first + c.type().elements());
  };
  const std::vector<float> in = floats(one.x);
  std::vector<float> out = floats(y);
  m(in, out);
  std::memcpy(data, out.data(), static_cast<std::size_t>(y.type().bytes()));
  CHECK(difference(expected, y) <= 5e-6);
}
