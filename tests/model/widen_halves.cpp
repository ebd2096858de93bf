// Networks of f16 on a CPU: f32 between their inputs and outputs, unless their weights come from memory for a few rows.
#include <tilewright/model/passes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/support/numbers/float16.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

network::constant halves(const network::constant& c) {
  auto [out, data] = network::constant::make({dtype::f16, c.type().extents});
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    const float16 x(c.number(k));
    std::memcpy(data + 2 * k, &x, 2);
  }
  return out;
}

/// A convolution, a product, and norms that are computed in f32, as exporters write them.
written_graph layers(std::int64_t rows) {
  written_graph w;
  w.g.name = "halves";
  const auto half = [&](const network::shape& extents, double factor) {
    return w.known(halves(waves(extents, factor)));
  };
  const network::value_id x = w.input("x", {rows, 24}, dtype::f16);
  const network::value_id h =
      w.add("Relu", {w.add("Add", {w.add("MatMul", {x, half({24, 32}, 0.3)}), half({32}, 0.7)})});
  const network::value_id wide = w.add("Cast", {h}, {{"to", std::int64_t{1}}});
  const network::value_id norm =
      w.add("Cast", {w.add("Softmax", {wide})}, {{"to", std::int64_t{10}}});
  const network::value_id ones =
      w.add("ConstantOfShape", {w.known(network::constant::of_integers({32}))},
            {{"value", halves(waves({1}, 0.5))}});
  w.g.outputs = {w.add("MatMul", {w.add("Mul", {norm, ones}), half({32, 8}, 0.9)}), h};
  w.g.at(w.g.outputs[0]).name = "y";
  return w;
}

network::graph typed(network::graph g) {
  network::infer_types(g);
  return g;
}

std::size_t halves_in(const network::graph& g) {
  return static_cast<std::size_t>(
      std::count_if(g.values.begin(), g.values.end(),
                    [](const network::value& v) { return v.type && v.type->type == dtype::f16; }));
}

std::vector<network::constant> call(const model& m, const network::constant& x) {
  std::vector<network::constant> out;
  std::vector<named_argument> outputs;
  const auto argument = [](const network::tensor_type& t, const void* data) {
    dsl::argument a;
    a.data = const_cast<void*>(data);
    a.type = t.type;
    a.rank = 1;
    a.extents[0] = t.elements();
    a.strides[0] = 1;
    return a;
  };
  for (const network::value_id v : m.source().outputs) {
    auto [c, data] = network::constant::make(m.source().type_of(v));
    outputs.emplace_back(m.source().at(v).name, argument(c.type(), data));
    out.push_back(c);
  }
  m.run({{"x", argument(x.type(), x.data())}}, outputs);
  return out;
}

model_options untuned() {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.threads = 1;
  return o;
}

}  // namespace

TEST_CASE("widen_halves: inputs and outputs stay f16, and nothing else does") {
  network::graph g = typed(layers(40).g);
  const network::constant x = halves(waves({40, 24}, 0.2));
  const std::vector<network::constant> before = network::interpret(g, {x});
  network::widen_halves(g);
  CHECK(halves_in(g) == 3);
  CHECK(g.at(g.inputs[0]).name == "x");
  CHECK(g.at(g.outputs[0]).name == "y");
  CHECK(g.type_of(g.inputs[0]).type == dtype::f16);
  for (const network::value_id v : g.outputs) CHECK(g.type_of(v).type == dtype::f16);
  CHECK(count_of(g, "Cast") == 3);  // of the ports; those around the norm are gone
  const std::vector<network::constant> after = network::interpret(g, {x});
  for (std::size_t k = 0; k < 2; ++k) CHECK(difference(before[k], after[k]) <= 3e-3);
  network::widen_halves(g);
  CHECK(count_of(g, "Cast") <= 6);
  CHECK(difference(after[0], network::interpret(g, {x})[0]) == 0);
}

TEST_CASE("widen_halves: a model computes in f32, or as the graph has it") {
  const network::constant x = halves(waves({40, 24}, 0.2));
  // f16 weights in f32: what the network stands for
  network::graph wide = typed(layers(40).g);
  network::widen_halves(wide);
  const std::vector<network::constant> expected = network::interpret(wide, {x});
  const model m(layers(40).g, untuned());
  CHECK(m.source().type_of(m.source().outputs[0]).type == dtype::f16);
  const std::vector<network::constant> y = call(m, x);
  for (std::size_t k = 0; k < 2; ++k) CHECK(difference(expected[k], y[k]) <= 1e-3);  // one rounding
  model_options o = untuned();
  o.keep_f16 = true;
  const model kept(layers(40).g, o);
  CHECK(halves_in(kept.graph()) > halves_in(m.graph()));
  const std::vector<network::constant> narrow = call(kept, x);
  for (std::size_t k = 0; k < 2; ++k) CHECK(difference(expected[k], narrow[k]) <= 5e-3);
  o = untuned();
  o.reductions = reductions::in_order;
  CHECK(halves_in(model(layers(40).g, o).graph()) > 3);
}

TEST_CASE("widen_halves: what stays as it is") {
  const auto stays = [](const network::graph& from) {
    network::graph g = typed(from);
    const std::string before = network::print(g);
    network::widen_halves(g);
    return network::print(g) == before;
  };
  CHECK_FALSE(stays(layers(17).g));
  CHECK(stays(layers(16).g));  // weights come from memory for a few rows
  written_graph rounds;
  const network::value_id x = rounds.input("x", {40, 24});
  const network::value_id half = rounds.add("Cast", {x}, {{"to", std::int64_t{10}}});
  rounds.g.outputs = {rounds.add("Cast", {half}, {{"to", std::int64_t{1}}})};
  CHECK(stays(rounds.g));  // on purpose
  written_graph single;
  single.g.outputs = {single.add("Relu", {single.input("x", {4})})};
  CHECK(stays(single.g));
}
