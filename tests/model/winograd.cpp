// Convolutions in tiles: the same results within the bound that ops/winograd.hpp states.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tilewright/expr/reify.hpp>
#include <tilewright/impl/ops/winograd/transform.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/model/emission.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/ops/winograd.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/session.hpp>

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
  network::constant x, residual;

  explicit one_convolution(const image_and_window& w, const char* last = "Relu") {
    g.name = "one";
    const auto in = input("x", w.image, w.type);
    x = waves_of(w.type, w.image, 0.9);
    const network::constant filter =
        waves_of(w.type, {w.outputs, w.image[1] / w.groups, w.window, w.window}, 0.37);
    std::vector<network::value_id> inputs{in, known(filter)};
    if (w.bias) inputs.push_back(known(waves_of(w.type, {w.outputs}, 0.2)));
    const auto y = add("Conv", inputs,
                       {{"pads", w.pads},
                        {"strides", list{w.stride, w.stride}},
                        {"dilations", list{w.dilation, w.dilation}},
                        {"group", w.groups}});
    network::shape made{w.image[0], w.outputs};
    for (std::size_t d = 0; d < 2; ++d)
      made.push_back(
          (w.image[2 + d] + w.pads[d] + w.pads[2 + d] - w.dilation * (w.window - 1) - 1) /
              w.stride +
          1);
    residual = waves_of(w.type, made, 0.51);
    g.outputs = {add(last, {add("Add", {y, input("r", made, w.type)})})};
    network::infer_types(g);
    source = g;
    network::channels_last(g);
  }
  /// In kernels, of which that of the convolution has the algorithm beside it.
  network::graph in_tiles(std::int64_t tile) const {
    network::graph out = g;
    for (network::node& n : out.nodes)
      if (n.op == "Conv") n.attributes[network::winograd_attribute] = list{tile};
    network::make_kernels(out);
    return out;
  }
  /// The same with the tiles that may pay.
  network::graph in_kernels() const {
    network::graph out = g;
    network::make_kernels(out);
    network::winograd(out);
    return out;
  }
  network::constant result(const network::graph& of) const {
    return network::interpret(of, {x, residual}).at(0);
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

/// The algorithms of the kernel that has several.
std::vector<ir::function> algorithms_of(const network::graph& g, const network::node& n) {
  const network::network_kernel made = network::emit(g, n);
  const ir::function f = reify(made.kernel);
  return ir::alternatives(made.derive ? made.derive(f) : f);
}

/// What the graph computes where the kernel that has several algorithms runs the second.
network::constant by_second_algorithm(const network::graph& g,
                                      const std::vector<network::constant>& inputs) {
  std::map<network::value_id, network::constant> values;
  for (std::size_t k = 0; k < inputs.size(); ++k) values[g.inputs[k]] = inputs[k];
  for (std::size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].data) values[static_cast<network::value_id>(v)] = *g.values[v].data;
  int several = 0;
  for (const network::node& n : g.nodes) {
    std::vector<network::constant> in;
    for (const network::value_id v : n.inputs) in.push_back(values.at(v));
    const std::vector<ir::function> algorithms = algorithms_of(g, n);
    if (algorithms.size() == 1) {
      values[n.outputs[0]] = network::evaluate(g, n, in).at(0);
      continue;
    }
    ++several;
    auto [y, data] = network::constant::make(g.type_of(n.outputs[0]));
    std::vector<ir::tensor_view> views;
    for (const network::value_id v : network::emit(g, n).params)
      views.push_back({v == n.outputs[0] ? data : const_cast<std::byte*>(values.at(v).data()), {}});
    ir::interpret(algorithms[1], std::move(views));
    values[n.outputs[0]] = y;
  }
  CHECK(several == 1);
  return values.at(g.outputs[0]);
}

/// Tiles that the kernels of a graph try, of all convolutions together.
list tiles_of(const network::graph& g) {
  list out;
  const auto add = [&](const network::node& n) {
    const list own = n.integers(network::winograd_attribute);
    out.insert(out.end(), own.begin(), own.end());
  };
  for (const network::node& n : g.nodes) {
    add(n);
    if (const network::graph* body = network::body_of(n))
      for (const network::node& part : body->nodes) add(part);
  }
  return out;
}

std::vector<float> floats(const network::constant& c) {
  const auto* first = reinterpret_cast<const float*>(c.data());
  return std::vector<float>(first, first + c.type().elements());
}

double largest_difference(const network::constant& a, const std::vector<float>& b) {
  double out = 0;
  for (std::size_t k = 0; k < b.size(); ++k)
    out =
        std::max(out, std::abs(a.number(static_cast<std::int64_t>(k)) - static_cast<double>(b[k])));
  return out;
}

}  // namespace

TEST_CASE("winograd: bounds are those that the header names, beside nine of the convolution") {
  const double u = std::ldexp(1, -24);
  CHECK(unit_bound(2) / (9 * u) == doctest::Approx(7.2).epsilon(0.02));
  CHECK(unit_bound(4) / (9 * u) == doctest::Approx(84).epsilon(0.02));
  CHECK(unit_bound(6) / (9 * u) == doctest::Approx(510).epsilon(0.02));
}

TEST_CASE("winograd: kernels have the algorithm with all that is fused, within the bound") {
  const std::vector<image_and_window> all{
      {},
      {.image = {2, 3, 12, 4}, .outputs = 4, .pads = {0, 0, 0, 0}},
      {.image = {1, 17, 6, 6}, .outputs = 16, .pads = {1, 0, 2, 1}, .bias = false},
      {.image = {1, 2, 3, 14}, .outputs = 1, .pads = {2, 2, 2, 2}},
      {.image = {1, 1, 1, 1}, .outputs = 2},
      {.image = {3, 1, 5, 1}, .outputs = 1, .pads = {1, 1, 1, 1}}};
  for (const image_and_window& w : all)
    for (const std::int64_t tile : extents_of_tiles) {
      CAPTURE(tile);
      image_and_window wide = w;
      wide.type = dtype::f64;
      const one_convolution exact(wide), rounded(w);
      const network::constant expected = exact.result(exact.g);
      // elements are at most 1
      const auto channels = static_cast<double>(w.image[1]);
      const double bound =
          channels * (channels + 4 * static_cast<double>(tile) + 12) * unit_bound(tile);
      for (const one_convolution* each : {&exact, &rounded}) {
        const network::graph g = each->in_tiles(tile);
        INFO(print(g));
        CHECK(largest_difference(expected, by_second_algorithm(g, {each->x, each->residual})) <=
              (each == &exact ? 1e-11 : bound));
      }
    }
}

TEST_CASE("winograd: what it cannot compute stays") {
  const auto stays = [](const image_and_window& w) {
    CHECK(tiles_of(one_convolution(w).in_kernels()).empty());
  };
  const network::shape large{1, 16, 28, 28};
  stays({.image = large, .outputs = 16, .stride = 2});
  stays({.image = large, .outputs = 16, .dilation = 2, .pads = {2, 2, 2, 2}});
  stays({.image = large, .outputs = 16, .groups = 2});
  stays({.image = large, .outputs = 16, .window = 1, .pads = {0, 0, 0, 0}});
  stays({.image = large, .outputs = 16, .window = 5, .pads = {2, 2, 2, 2}});
  CHECK(tiles_of(one_convolution({.image = large, .outputs = 16}).in_kernels()).size() >= 1);
  // behind which a small difference becomes a large one
  for (const char* op : {"Exp", "Reciprocal", "Floor", "Sign"})
    CHECK(tiles_of(one_convolution({.image = large, .outputs = 16}, op).in_kernels()).empty());
}

TEST_CASE("winograd: tiles are tried where they save work, and are allowed") {
  const auto tried = [](std::int64_t extent, std::int64_t channels,
                        const network::winograd_limits& limits) {
    written_graph w;
    w.g.outputs = {w.add("Conv",
                         {w.input("x", {1, channels, extent, extent}),
                          w.known(waves({channels, channels, 3, 3}, 0.3))},
                         {{"pads", list{1, 1, 1, 1}}})};
    network::infer_types(w.g);
    network::channels_last(w.g);
    network::winograd(w.g, limits);
    return tiles_of(w.g);
  };
  CHECK(tried(56, 64, {.streams_weights = true}) == list{6, 4});
  CHECK(tried(14, 256, {.streams_weights = true}).size() == 2);
  CHECK(tried(2, 8, {}).empty());                           // one tile computes what lies outside
  CHECK(tried(3, 512, {.streams_weights = true}).empty());  // weights are read once
  CHECK(tried(56, 64, {.error = ops::winograd_error(4, 64)}) == list{4});
  CHECK(tried(56, 64, {.error = ops::winograd_error(2, 64)}) == list{2});
  CHECK(tried(56, 64, {.error = 1e-6}).empty());
}

TEST_CASE("winograd: options say which convolutions try it") {
  const one_convolution one({.image = {1, 16, 28, 28}, .outputs = 16});
  const auto tried = [&](double error, reductions r = reductions::any_order) {
    model_options o;
    o.database = ":memory:";
    o.mode = mode::off;
    o.threads = 1;
    o.convolution_error = error;
    o.reductions = r;
    return tiles_of(model(one.source, o).graph());
  };
  const double any = std::numeric_limits<double>::infinity();
  CHECK(tried(any) == list{6, 4});
  CHECK(tried(ops::winograd_error(4, 16)) == list{4});
  CHECK(tried(0).empty());
  network::graph g = one.in_tiles(4);
  CHECK(network::winograd_bytes(g) == (36 - 9) * 16 * 16 * 4);
  CHECK(tried(any, reductions::in_order).empty());
  const auto refuse = [&](double error) {
    try {
      tried(error);
    } catch (const argument_error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  CHECK(refuse(-1) ==
        "convolution_error has to be 0 or more; 0 is for convolutions as the graph has them");
}

TEST_CASE("winograd: the database says which algorithm runs, and is saved") {
  const image_and_window w{.image = {1, 16, 22, 18}, .outputs = 24};
  const one_convolution one(w);
  const auto folder = std::filesystem::current_path() / ("winograd_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0700);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  model_options o;
  o.database = path("records.db");
  o.mode = mode::off;
  o.threads = 1;
  const network::constant expected = one.result(one.g);
  const double bound = 16.0 * (16 + 4 * 6 + 12) * unit_bound(6);
  const auto db = search::database::shared(o.database);
  // of the kernel with the convolution
  const auto schedules_of = [&](const std::string& algorithm, const search::record_key& key) {
    return db->all([&](const search::record& known) {
      return known.key == key && search::algorithm_of(trace::parse(known.trace)) == algorithm;
    });
  };
  const std::vector<float> x = floats(one.x), r = floats(one.residual);
  for (const int tile : {2, 4}) {
    o.convolution_error = ops::winograd_error(tile, 16);  // leaves one
    const std::string wanted = "Conv_Transpose_Add_Relu_winograd_" + std::to_string(tile);
    INFO(wanted);
    const auto before = model(one.source, o).program();
    std::size_t k = 0;
    while (!ir::has_alternatives(before->task(k).function)) ++k;
    const search::record_key key = before->task(k).key;
    search::session_options session;
    session.seconds = 60;
    session.trials = 1;
    search::tune(before->task(k), session, *db);
    std::vector<search::record> found = schedules_of(wanted, key);
    REQUIRE(!found.empty());
    found[0].chosen = true;
    for (double& s : found[0].seconds) s = 1e-9;
    db->add(found[0]);
    const model m(one.source, o);
    CHECK(m.kernel_reports().at(k).algorithm == wanted);
    std::vector<float> y(static_cast<std::size_t>(expected.type().elements()), -1);
    m(x, r, y);
    CHECK(largest_difference(expected, y) <= bound);
    m.save(path("one.twm"));
    std::fill(y.begin(), y.end(), -1.f);
    load_model(path("one.twm"))(x, r, y);
    CHECK(largest_difference(expected, y) <= bound);
    // the filter is there as its tiles want it
    const std::int64_t points = tile + 2;
    CHECK(static_cast<std::int64_t>(std::filesystem::file_size(path("one.twm"))) >=
          points * points * 16 * 24 * 4);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("winograd: each algorithm gets its turn, however short sessions are") {
  const one_convolution one({.image = {1, 16, 22, 18}, .outputs = 24});
  const auto db = std::make_shared<search::database>(":memory:");
  tuned_options o;
  o.own_database = db;
  o.mode = mode::off;
  o.threads = 1;
  const auto g = std::make_shared<const network::graph>(one.in_kernels());
  const network::executable program(g, o);
  std::size_t k = 0;
  while (!ir::has_alternatives(program.task(k).function)) ++k;
  const search::workload& w = program.task(k);
  search::session_options session;
  session.seconds = 60;
  session.trials = 1;
  for (int times = 0; times < 2; ++times) search::tune(w, session, *db);
  std::set<std::string> met;
  for (const search::record& r : db->all([&](const search::record& x) { return x.key == w.key; }))
    met.insert(search::algorithm_of(trace::parse(r.trace)));
  CHECK(met.size() == 3);
}

TEST_CASE("winograd: a tuned model is the interpreter's graph, whatever was chosen") {
  const one_convolution one({.image = {1, 16, 24, 24}, .outputs = 16});
  const network::constant expected = one.result(one.g);
  model_options options;
  options.database = ":memory:";
  options.threads = 1;
  options.seconds = 4;
  const model m(one.source, options);
  std::vector<float> out(static_cast<std::size_t>(expected.type().elements()));
  m(floats(one.x), floats(one.residual), out);
  CHECK(largest_difference(expected, out) <= 16.0 * (16 + 4 * 6 + 12) * unit_bound(6));
}
