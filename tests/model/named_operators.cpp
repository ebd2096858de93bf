// The operators that networks are made of, each in every element type that it has: what a narrow
// type gives is what f64 gives on the same values.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/device/emulated_program.hpp>
#include <tilewright/model/emission.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "model/named_operator.hpp"
#include "model/one_node.hpp"

using namespace tilewright;
using namespace network_tests;
using namespace network_tests::named;

namespace {

const std::vector<named_operator>& named_operators() {
  static const std::vector<named_operator> all{
      {"Abs", numbers, each("Abs")},
      {"Add", numbers, pair("Add")},
      {"And", boolean, pair("And")},
      {"ArgMax", numbers, each("ArgMax")},
      {"ArgMin", numbers, each("ArgMin")},
      {"Attention", floats_only,
       [](const value_source& v) {
         return one_node("Attention")
             .input(v({1, 2, 3, 4}))
             .input(v({1, 2, 5, 4}, 1))
             .input(v({1, 2, 5, 3}, 2));
       }},
      {"AveragePool", floats_only, image("AveragePool")},
      {"BatchNormalization", floats_only,
       [](const value_source& v) {
         return one_node("BatchNormalization", 15)
             .input(v({2, 3, 4}))
             .input(v({3}, 1))
             .input(v({3}, 2))
             .input(v({3}, 3))
             .input(v({3}, 4, 0.5));
       }},
      {"Cast", any_type,
       [](const value_source& v) {
         return one_node("Cast").with("to", one).input(v({3, 4}));
       }},
      {"CastLike", any_type,
       [](const value_source& v) {
         return one_node("CastLike").input(v({3, 4})).input(floats({1}));
       }},
      {"Ceil", floats_only, each("Ceil")},
      {"Clip", numbers,
       [](const value_source& v) {
         const value_source limit{v.type, true, false};
         return one_node("Clip").input(v({3, 4})).input(limit({}, 0, -1), true);
       }},
      {"Concat", any_type,
       [](const value_source& v) {
         return one_node("Concat").with("axis", one).input(v({2, 3})).input(v({2, 4}, 1));
       }},
      {"Constant", any_type,
       [](const value_source& v) {
         return one_node("Constant").with("value", v({2, 3}));
       }},
      {"ConstantOfShape", any_type,
       [](const value_source& v) {
         return one_node("ConstantOfShape").with("value", v({1})).input(integers({2, 3}), true);
       }},
      {"Conv", floats_only,
       [](const value_source& v) {
         return one_node("Conv")
             .with("group", std::int64_t{2})
             .with("pads", list{1, 0, 0, 1})
             .with("dilations", list{1, 2})
             .input(v({1, 4, 5, 6}))
             .input(v({2, 2, 2, 3}, 1))
             .input(v({2}, 2));
       }},
      {"ConvTranspose", floats_only,
       [](const value_source& v) {
         return one_node("ConvTranspose")
             .with("strides", list{2, 1})
             .input(v({1, 2, 3, 4}))
             .input(v({2, 3, 2, 2}, 1));
       }},
      {"Cos", floats_only, each("Cos")},
      {"CumSum", numbers,
       [](const value_source& v) {
         return one_node("CumSum").input(v({3, 4})).input(integer(1), true);
       }},
      {"DepthToSpace", any_type,
       [](const value_source& v) {
         return one_node("DepthToSpace").with("blocksize", std::int64_t{2}).input(v({1, 8, 2, 3}));
       }},
      {"Div", floats_only, pair("Div", 0.5)},
      {"Dropout", floats_only, each("Dropout")},
      {"Einsum", floats_only,
       [](const value_source& v) {
         return one_node("Einsum")
             .with("equation", std::string("bij,bjk->bik"))
             .input(v({2, 3, 4}))
             .input(v({2, 4, 5}, 1));
       }},
      {"Elu", floats_only, each("Elu")},
      {"Equal", any_type, pair("Equal")},
      {"Erf", floats_only, each("Erf")},
      {"Exp", floats_only, each("Exp")},
      {"Expand", any_type,
       [](const value_source& v) {
         return one_node("Expand").input(v({3, 1})).input(integers({2, 1, 4}), true);
       }},
      {"EyeLike", numbers,
       [](const value_source& v) {
         return one_node("EyeLike").with("k", one).input(v({3, 4}));
       }},
      {"Flatten", any_type, each("Flatten")},
      {"Floor", floats_only, each("Floor")},
      {"Gather", any_type,
       [](const value_source& v) {
         return one_node("Gather").with("axis", one).input(v({2, 4})).input(integers({3, -4, 0}));
       }},
      {"GatherElements", any_type,
       [](const value_source& v) {
         return one_node("GatherElements")
             .with("axis", one)
             .input(v({2, 4}))
             .input(integers({3, -4, 0, 1}).reshaped({2, 2}));
       }},
      {"GatherND", any_type,
       [](const value_source& v) {
         return one_node("GatherND")
             .input(v({2, 4}))
             .input(integers({1, 3, 0, -1}).reshaped({2, 2}));
       }},
      {"Gelu", floats_only,
       [](const value_source& v) {
         return one_node("Gelu").with("approximate", std::string("tanh")).input(v({3, 4}));
       }},
      {"Gemm", floats_only,
       [](const value_source& v) {
         return one_node("Gemm")
             .with("transA", one)
             .with("transB", one)
             .with("alpha", 0.5)
             .with("beta", 2.0)
             .input(v({4, 3}))
             .input(v({5, 4}, 1))
             .input(v({5}, 2));
       }},
      {"GlobalAveragePool", floats_only,
       [](const value_source& v) {
         return one_node("GlobalAveragePool").input(v({1, 2, 3, 4}));
       }},
      {"GlobalMaxPool", floats_only,
       [](const value_source& v) {
         return one_node("GlobalMaxPool").input(v({1, 2, 3, 4}));
       }},
      {"Greater", numbers, pair("Greater")},
      {"GreaterOrEqual", numbers, pair("GreaterOrEqual")},
      {"GroupNormalization", floats_only,
       [](const value_source& v) {
         return one_node("GroupNormalization", 21)
             .with("num_groups", std::int64_t{2})
             .input(v({2, 4, 5}))
             .input(v({4}, 1))
             .input(v({4}, 2));
       },
       32},
      {"HardSigmoid", floats_only, each("HardSigmoid")},
      {"HardSwish", floats_only, each("HardSwish")},
      {"Identity", any_type, each("Identity")},
      {"InstanceNormalization", floats_only,
       [](const value_source& v) {
         return one_node("InstanceNormalization")
             .input(v({2, 3, 7}))
             .input(v({3}, 1))
             .input(v({3}, 2));
       },
       32},
      {"IsInf", floats_only, each("IsInf")},
      {"IsNaN", floats_only, each("IsNaN")},
      {"LRN", floats_only,
       [](const value_source& v) {
         return one_node("LRN").with("size", std::int64_t{3}).input(v({1, 5, 2, 2}));
       }},
      {"LayerNormalization", floats_only, normalized("LayerNormalization", true), 32},
      {"LeakyRelu", floats_only, each("LeakyRelu")},
      {"Less", numbers, pair("Less")},
      {"LessOrEqual", numbers, pair("LessOrEqual")},
      {"Log", floats_only, each("Log", 0.5)},
      {"LogSoftmax", floats_only, each("LogSoftmax")},
      {"LpNormalization", floats_only, each("LpNormalization")},
      {"MatMul", numbers,
       [](const value_source& v) {
         return one_node("MatMul").input(v({2, 1, 3, 4})).input(v({3, 4, 2}, 1));
       }},
      {"Max", numbers, pair("Max")},
      {"MaxPool", floats_only, image("MaxPool")},
      {"Mean", floats_only, pair("Mean")},
      {"Min", numbers, pair("Min")},
      {"Mish", floats_only, each("Mish")},
      {"Mod", numbers,
       [](const value_source& v) {
         const value_source divisors{v.type, true, false};
         return one_node("Mod").input(v({2, 1, 3})).input(divisors({4, 1}, 1, 1));
       }},
      {"Mul", numbers, pair("Mul")},
      {"Neg", numbers, each("Neg")},
      {"Not", boolean, each("Not")},
      {"OneHot", any_type,
       [](const value_source& v) {
         return one_node("OneHot")
             .input(integers({1, -1, 0}))
             .input(integer(3), true)
             .input(v({2}));
       }},
      {"Or", boolean, pair("Or")},
      {"PRelu", floats_only, pair("PRelu")},
      {"Pad", any_type,
       [](const value_source& v) {
         return one_node("Pad").input(v({2, 3})).input(integers({1, 0, 0, 2}), true);
       }},
      {"Pow", floats_only, pair("Pow", 2)},
      {"RMSNormalization", floats_only, normalized("RMSNormalization", false), 32},
      {"Range", numbers,
       [](const value_source& v) {
         const value_source w{v.type, true, false};
         const auto number = [&](double x) {
           return network::detail::filled({w.type, {}}, x, static_cast<std::int64_t>(x));
         };
         return one_node("Range")
             .input(number(1), true)
             .input(number(9), true)
             .input(number(3), true);
       }},
      {"Reciprocal", floats_only, each("Reciprocal", 0.5)},
      {"ReduceL1", numbers, reduced("ReduceL1")},
      {"ReduceL2", floats_only, reduced("ReduceL2")},
      {"ReduceLogSum", floats_only, reduced("ReduceLogSum", 0.5)},
      {"ReduceLogSumExp", floats_only, reduced("ReduceLogSumExp")},
      {"ReduceMax", numbers, reduced("ReduceMax")},
      {"ReduceMean", floats_only, reduced("ReduceMean")},
      {"ReduceMin", numbers, reduced("ReduceMin")},
      {"ReduceProd", floats_only, reduced("ReduceProd", 0.5)},
      {"ReduceSum", numbers, reduced("ReduceSum")},
      {"ReduceSumSquare", floats_only, reduced("ReduceSumSquare")},
      {"Relu", numbers, each("Relu")},
      {"Reshape", any_type,
       [](const value_source& v) {
         return one_node("Reshape").input(v({3, 4})).input(integers({2, -1}), true);
       }},
      {"Resize", floats_only,
       [](const value_source& v) {
         return one_node("Resize", 19)
             .with("mode", std::string("linear"))
             .input(v({1, 1, 2, 3}))
             .without()
             .without()
             .input(integers({1, 1, 4, 3}), true);
       }},
      {"RotaryEmbedding", floats_only,
       [](const value_source& v) {
         return one_node("RotaryEmbedding")
             .with("num_heads", std::int64_t{2})
             .input(v({1, 3, 8}))
             .input(v({5, 2}, 1))
             .input(v({5, 2}, 2))
             .input(integers({4, 0, 2}).reshaped({1, 3}));
       }},
      {"Round", floats_only, each("Round")},
      {"Selu", floats_only, each("Selu")},
      {"Shape", any_type, each("Shape")},
      {"Sigmoid", floats_only, each("Sigmoid")},
      {"Sign", numbers, each("Sign")},
      {"Sin", floats_only, each("Sin")},
      {"Size", any_type, each("Size")},
      {"Slice", any_type,
       [](const value_source& v) {
         return one_node("Slice")
             .input(v({4, 6}))
             .input(integers({-1, 1}), true)
             .input(integers({-5, 9}), true)
             .input(integers({0, 1}), true)
             .input(integers({-1, 2}), true);
       }},
      {"Softmax", floats_only, each("Softmax")},
      {"Softplus", floats_only, each("Softplus")},
      {"Softsign", floats_only, each("Softsign")},
      {"SpaceToDepth", any_type,
       [](const value_source& v) {
         return one_node("SpaceToDepth").with("blocksize", std::int64_t{2}).input(v({1, 2, 4, 6}));
       }},
      {"Split", any_type,
       [](const value_source& v) {
         return one_node("Split").with("axis", one).input(v({2, 5})).input(integers({5}), true);
       }},
      {"Sqrt", floats_only, each("Sqrt", 0.5)},
      {"Squeeze", any_type,
       [](const value_source& v) {
         return one_node("Squeeze").input(v({3, 1, 4})).input(integers({1}), true);
       }},
      {"Sub", numbers, pair("Sub")},
      {"Sum", floats_only, pair("Sum")},
      {"Swish", floats_only,
       [](const value_source& v) {
         return one_node("Swish", 24).input(v({3, 4}));
       }},
      {"Tanh", floats_only, each("Tanh")},
      {"ThresholdedRelu", floats_only, each("ThresholdedRelu")},
      {"Tile", any_type,
       [](const value_source& v) {
         return one_node("Tile").input(v({2, 3})).input(integers({2, 3}), true);
       }},
      {"Transpose", any_type,
       [](const value_source& v) {
         return one_node("Transpose").with("perm", list{2, 0, 1}).input(v({2, 3, 4}));
       }},
      {"Trilu", any_type,
       [](const value_source& v) {
         return one_node("Trilu").input(v({3, 4})).input(integer(1), true);
       }},
      {"Unsqueeze", any_type,
       [](const value_source& v) {
         return one_node("Unsqueeze").input(v({3, 4})).input(integers({0, -1}), true);
       }},
      {"Where", any_type,
       [](const value_source& v) {
         const value_source bits{dtype::boolean, false, true};
         return one_node("Where").input(bits({4, 1})).input(v({2, 1, 3})).input(v({1}, 1));
       }},
      {"Xor", boolean, pair("Xor")}};
  return all;
}

double epsilon_of(dtype t) {
  switch (t) {
    case dtype::f16: return 0x1p-10;
    case dtype::bf16: return 0x1p-7;
    case dtype::f32: return 0x1p-23;
    case dtype::f64: return 0x1p-52;
    default: return 0;
  }
}

/// Empty when the two agree.
std::string mismatch(const constant& expected, const constant& actual, double tolerance) {
  if (expected.type().extents != actual.type().extents)
    return text_of(expected.type()) + " and " + text_of(actual.type());
  double largest = 0;
  for (std::int64_t k = 0; k < expected.type().elements(); ++k)
    largest = std::max(largest, std::abs(expected.number(k)));
  for (std::int64_t k = 0; k < expected.type().elements(); ++k)
    if (!(std::abs(expected.number(k) - actual.number(k)) <= tolerance * largest))
      return "element " + std::to_string(k) + " is " + std::to_string(actual.number(k)) + ", not " +
             std::to_string(expected.number(k));
  return "";
}

constant result_of(one_node n) {
  const network::graph g = n.finished();
  return network::interpret(g, n.arguments).at(0);
}

std::vector<dtype> types_of(unsigned set) {
  std::vector<dtype> out;
  if (set & floats_only)
    for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16}) out.push_back(t);
  if (set & whole)
    for (const dtype t : {dtype::i8, dtype::i16, dtype::i32, dtype::i64}) out.push_back(t);
  if (set & boolean) out.push_back(dtype::boolean);
  return out;
}

}  // namespace

TEST_CASE("named operators: the table holds 113, each of which is known") {
  std::set<std::string> names;
  for (const named_operator& o : named_operators()) {
    names.insert(o.name);
    network::node n;
    n.op = o.name;
    n.version = 24;
    CHECK_MESSAGE(network::find_operator(n) != nullptr, o.name);
  }
  CHECK(names.size() == 113);
}

TEST_CASE("named operators: every element type gives what f64 gives") {
  for (const named_operator& o : named_operators())
    for (const dtype t : types_of(o.types)) {
      if (t == dtype::boolean && o.types == boolean) continue;  // f64 has no such operator
      INFO(std::string(o.name), " of ", std::string(name(t)));
      const bool is_bit = t == dtype::boolean, is_whole = is_integer(t);
      const constant expected = result_of(o.make({dtype::f64, is_whole, is_bit}));
      const constant actual = result_of(o.make({t, is_whole, is_bit}));
      CHECK(expected.type().elements() > 0);
      CHECK(mismatch(expected, actual, o.tolerance * epsilon_of(t)) == "");
    }
}

TEST_CASE("named operators: logic of bits") {
  const value_source bits{dtype::boolean, false, true};
  const constant a = bits({2, 1, 3}), b = bits({4, 1}, 1);
  const auto check = [&](const char* op, auto f) {
    const constant y = result_of(pair(op)(bits));
    REQUIRE(y.type().extents == shape{2, 4, 3});
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        for (std::int64_t k = 0; k < 3; ++k)
          CHECK((y.integer((i * 4 + j) * 3 + k) != 0) ==
                f(a.integer(i * 3 + k) != 0, b.integer(j) != 0));
  };
  check("And", [](bool x, bool y) { return x && y; });
  check("Or", [](bool x, bool y) { return x || y; });
  check("Xor", [](bool x, bool y) { return x != y; });
  const constant n = result_of(each("Not")(bits)), x = bits({3, 4});
  for (std::int64_t k = 0; k < 12; ++k) CHECK(n.integer(k) == 1 - x.integer(k));
}

TEST_CASE("named operators: eight dimensions, broadcast from either side") {
  const value_source v{dtype::f32, false, false};
  const shape wide{2, 1, 2, 1, 3, 1, 2, 2}, tall{1, 3, 1, 2, 3, 2, 1, 2};
  const constant a = v(wide), b = v(tall, 1);
  for (const char* op : {"Add", "Mul", "Max", "Less"}) {
    const constant y = one_node(op).input(a).input(b).result();
    REQUIRE(y.type().extents == shape{2, 3, 2, 2, 3, 2, 2, 2});
    std::int64_t at[8] = {};
    for (std::int64_t k = 0; k < y.type().elements(); ++k) {
      std::int64_t rest = k, i = 0, j = 0;
      for (std::size_t d = 8; d-- > 0;) {
        at[d] = rest % y.type().extents[d];
        rest /= y.type().extents[d];
      }
      for (std::size_t d = 0; d < 8; ++d) {
        i = i * wide[d] + (wide[d] == 1 ? 0 : at[d]);
        j = j * tall[d] + (tall[d] == 1 ? 0 : at[d]);
      }
      const double p = a.number(i), q = b.number(j);
      const std::string name = op;
      const double expected = name == "Add"   ? p + q
                              : name == "Mul" ? p * q
                              : name == "Max" ? std::max(p, q)
                                              : p < q;
      REQUIRE(y.number(k) == expected);
    }
  }
}

TEST_CASE("named operators: each has kernels for a GPU by its default schedule") {
  const target::gpu gpu = target::named_gpu("sm_90a");
  const search::database none(":memory:");
  tuned_options options;
  options.database = ":memory:";
  options.mode = mode::off;
  std::size_t kernels = 0;
  for (const named_operator& o : named_operators()) {
    INFO(std::string(o.name));
    const bool is_float = o.types & floats_only, is_whole = !is_float && (o.types & whole);
    const dtype t = is_float ? dtype::f32 : is_whole ? dtype::i64 : dtype::boolean;
    const auto graph = std::make_shared<const network::graph>(
        o.make({t, is_whole, t == dtype::boolean}).finished());
    const network::executable plan(graph, options, &gpu);
    for (std::size_t k = 0; k < plan.launches().size(); ++k) {
      std::string why;
      try {
        kernels += network::gpu_kernels_of(plan, k, none, 42).kernels.size();
      } catch (const build_error& e) {
        why = e.what();
      }
      CHECK(why == "");
    }
  }
  CHECK(kernels >= 100);
}
