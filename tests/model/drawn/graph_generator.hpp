// Graphs drawn from a seed: operators of all families, whose values stay of moderate size, so that
// two ways to compute them can be compared.
//
// Operators that jump (rounding, comparisons, positions of extremes) only get values that have no
// rounding errors: inputs, constants, and what moves or compares those.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/support/random.hpp>

#include "model/drawn/moved_values.hpp"

namespace network_tests {

class graph_generator : moved_values {
 public:
  explicit graph_generator(std::uint64_t seed) : moved_values(seed) {
    w_.g.name = "drawn" + std::to_string(seed);
  }

  /// A graph of `nodes` operators or a few more. Inputs and outputs have types.
  network::graph draw(int nodes) {
    static const network::shape shapes[] = {{2, 6, 4},    {1, 4, 6, 5}, {3, 8},
                                            {2, 2, 4, 4}, {7},          {1, 2, 3, 2, 4}};
    const std::size_t first = below(6);
    for (std::size_t k = 0; k < 2; ++k) {
      const network::shape& s = shapes[(first + k * (1 + below(5))) % 6];
      const dtype t = k == 1 && below(4) == 0 ? dtype::i64 : dtype::f32;
      add_known(w_.input("x" + std::to_string(k), s, t), {t, s}, 2, true);
    }
    while (static_cast<int>(w_.g.nodes.size()) < nodes) step();
    for (const drawn& d : values_)
      if (!is_read(d.id) && w_.g.outputs.size() < 4) w_.g.outputs.push_back(d.id);
    if (w_.g.outputs.empty()) w_.g.outputs.push_back(values_.back().id);
    for (const drawn& d : values_)
      for (const network::value_id v : w_.g.outputs)
        if (d.id == v) w_.g.at(v).type = d.type;
    return w_.g;
  }

  /// Elements for the inputs: eighths between -2 and 2, or small integers.
  static std::vector<network::constant> arguments_of(const network::graph& g, std::uint64_t seed) {
    std::vector<network::constant> out;
    support::random random(seed + 1);
    for (const network::value_id v : g.inputs) {
      const network::tensor_type& t = g.type_of(v);
      auto [c, data] = network::constant::make(t);
      for (std::int64_t k = 0; k < t.elements(); ++k) {
        const auto n = static_cast<std::int64_t>(random.next() % 33) - 16;
        network::detail::store_number(data, t.type, k, static_cast<double>(n) / 8, n / 4);
      }
      out.push_back(c);
    }
    return out;
  }

 private:
  void step() {
    using rule = void (graph_generator::*)(const drawn&);
    static const rule rules[] = {
        &graph_generator::unary,     &graph_generator::unary,      &graph_generator::unary,
        &graph_generator::binary,    &graph_generator::binary,     &graph_generator::binary,
        &graph_generator::jumping,   &graph_generator::product,    &graph_generator::product,
        &graph_generator::image,     &graph_generator::image,      &graph_generator::reduction,
        &graph_generator::rows,      &graph_generator::transposed, &graph_generator::reshaped,
        &graph_generator::sliced,    &graph_generator::split,      &graph_generator::joined,
        &graph_generator::joined,    &graph_generator::copied,     &graph_generator::gathered,
        &graph_generator::attention, &graph_generator::attention,  &graph_generator::whole_numbers};
    const rule r = rules[below(sizeof rules / sizeof *rules)];
    const bool any_type = r == &graph_generator::transposed || r == &graph_generator::reshaped ||
                          r == &graph_generator::sliced || r == &graph_generator::joined ||
                          r == &graph_generator::copied || r == &graph_generator::gathered ||
                          r == &graph_generator::jumping || r == &graph_generator::whole_numbers;
    (this->*r)(any_type ? pick() : pick_float());
  }

  void unary(const drawn& x) {
    struct one {
      const char* op;
      double bound;  // 0: that of x
    };
    static const one all[] = {
        {"Relu", 0},      {"Tanh", 1},        {"Sigmoid", 1},   {"Abs", 0},  {"Neg", 0},
        {"Erf", 1},       {"Softplus", 0},    {"Softsign", 1},  {"Elu", 0},  {"Selu", 0},
        {"LeakyRelu", 0}, {"HardSigmoid", 1}, {"HardSwish", 0}, {"Mish", 0}, {"Gelu", 0},
        {"Sin", 1},       {"Cos", 1},         {"Identity", 0},  {"Celu", 0}};
    const one u = all[below(sizeof all / sizeof *all)];
    const std::string op = u.op;
    const bool keeps = op == "Relu" || op == "Abs" || op == "Neg" || op == "Identity";
    switch (below(8)) {
      case 0: {
        const drawn c =
            make("Clip", {x.id, scalar(x.type.type, -2), scalar(x.type.type, 2)}, 2, x.is_exact);
        make("Exp", {c.id}, 8, false);
        break;
      }
      case 1: {
        const drawn a = make("Abs", {x.id}, x.bound, x.is_exact);
        const drawn b = make("Add", {a.id, scalar(x.type.type, 1)}, x.bound + 1, false);
        static const char* const ops[] = {"Sqrt", "Log", "Reciprocal"};
        make(ops[below(3)], {b.id}, std::sqrt(x.bound + 1), false);
        break;
      }
      case 2: make("Dropout", {x.id}, x.bound, x.is_exact); break;
      default:
        // above 0 the constants of these functions stretch by 2 at most
        make(op, {x.id}, u.bound != 0 ? u.bound : 2 * x.bound + 1, keeps && x.is_exact);
    }
  }

  void binary(const drawn& x) {
    const drawn y = partner(x);
    std::vector<network::value_id> in{x.id, y.id};
    if (y.type == x.type && below(2)) std::swap(in[0], in[1]);
    const double most = std::max(x.bound, y.bound);
    switch (below(10)) {
      case 0:
      case 1:
      case 2: make("Add", in, x.bound + y.bound, false); break;
      case 3: make("Sub", in, x.bound + y.bound, false); break;
      case 4:
      case 5: make("Mul", in, x.bound * y.bound, false); break;
      case 6: make("Max", in, most, x.is_exact && y.is_exact); break;
      case 7: make("Min", in, most, x.is_exact && y.is_exact); break;
      case 8: {
        const drawn d = partner(x, 0.5);
        make(below(2) ? "Div" : "PRelu", {x.id, d.id}, 2 * x.bound, false);
        break;
      }
      default: {
        const network::value_id c = numbers(dtype::boolean, narrower(x.type.extents));
        make("Where", {c, in[0], in[1]}, most, x.is_exact && y.is_exact);
      }
    }
  }

  void jumping(const drawn& x) {
    if (!x.is_exact || x.type.type == dtype::boolean) return;
    const drawn y = partner(x);
    switch (below(5)) {
      case 0: {
        static const char* const ops[] = {"Floor", "Ceil", "Round"};
        if (x.is_float()) make(ops[below(3)], {x.id}, x.bound + 1, true);
        break;
      }
      case 1: make("Sign", {x.id}, 1, true); break;
      case 2: {
        if (!y.is_exact) return;
        static const char* const ops[] = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                                          "Equal"};
        const drawn c = make(ops[below(5)], {x.id, y.id}, 1, true);
        const drawn n = below(2) ? make("Not", {c.id}, 1, true) : c;
        static const char* const joins[] = {"And", "Or", "Xor"};
        const drawn j = make(joins[below(3)], {c.id, n.id}, 1, true);
        if (x.is_float()) make("Where", {j.id, x.id, y.id}, std::max(x.bound, y.bound), true);
        break;
      }
      case 3:
        if (x.rank() == 0) return;
        make(below(2) ? "ArgMax" : "ArgMin", {x.id}, 8, true,
             {{"axis", between(0, static_cast<std::int64_t>(x.rank()) - 1)},
              {"keepdims", between(0, 1)},
              {"select_last_index", between(0, 1)}});
        break;
      default: {
        const drawn c =
            make("Clip", {x.id, scalar(x.type.type, -4), scalar(x.type.type, 4)}, 4, true);
        static const dtype types[] = {dtype::f32, dtype::f64, dtype::i32, dtype::i64};
        const std::int64_t numbers_of[] = {1, 11, 6, 7};
        const std::size_t t = below(4);
        const drawn d = make("Cast", {c.id}, 4, true, {{"to", numbers_of[t]}});
        if (types[t] == dtype::f64) make("Cast", {d.id}, 4, true, {{"to", std::int64_t{1}}});
      }
    }
  }

  /// Integers: remainders and quotients by numbers that are not 0.
  void whole_numbers(const drawn& x) {
    if (!is_integer(x.type.type) || x.type.type == dtype::boolean) return;
    const network::value_id small = scalar(x.type.type, static_cast<double>(between(2, 5)));
    static const char* const ops[] = {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min"};
    const drawn y = make(ops[below(7)], {x.id, small}, 5 * x.bound, true);
    if (y.rank() > 0 && below(3) == 0)
      make("ReduceSum", {y.id, integers({0})}, 8 * y.bound, true, {{"keepdims", between(0, 1)}});
    if (y.rank() > 0 && below(3) == 0)
      make("CumSum", {y.id, integers_scalar(0)}, 8 * y.bound, true);
  }
  void product(const drawn& x) {
    if (x.rank() == 0) return;
    const network::shape& s = x.type.extents;
    const std::int64_t k = s.back(), n = between(1, 6);
    const double bound = static_cast<double>(k) * x.bound;
    switch (below(4)) {
      case 0:
        if (x.rank() >= 2) {
          number_list p;
          for (std::size_t d = 0; d < x.rank(); ++d) p.push_back(static_cast<std::int64_t>(d));
          std::swap(p[x.rank() - 1], p[x.rank() - 2]);
          const drawn t = make("Transpose", {x.id}, x.bound, x.is_exact, {{"perm", p}});
          make("MatMul", {x.id, t.id}, bound * x.bound, false);
          break;
        }
        [[fallthrough]];
      case 1:
        if (x.rank() == 2) {
          const std::int64_t ta = between(0, 1), tb = between(0, 1);
          const std::int64_t inner = ta ? s[0] : s[1];
          std::vector<network::value_id> in{
              x.id, numbers(x.type.type, tb ? network::shape{n, inner} : network::shape{inner, n})};
          if (below(2)) in.push_back(numbers(x.type.type, {n}));
          make("Gemm", in, static_cast<double>(inner) * x.bound + 1, false,
               {{"transA", ta}, {"transB", tb}, {"alpha", 0.5}, {"beta", below(2) ? 1.0 : 0.25}});
          break;
        }
        [[fallthrough]];
      case 2: {
        const drawn a = make("Mul", {x.id, scalar(x.type.type, 0.5)}, x.bound / 2, false);
        make("MatMul", {a.id, numbers(x.type.type, {k, n})}, bound, false);
        break;
      }
      default: make("MatMul", {x.id, numbers(x.type.type, {k, n})}, bound, false);
    }
  }

  void image(const drawn& x) {
    if (x.rank() != 4 && x.rank() != 3) return;
    const std::size_t space = x.rank() - 2;
    const std::int64_t c = x.type.extents[1];
    for (std::size_t d = 0; d < x.rank(); ++d)
      if (x.type.extents[d] < (d < 2 ? 1 : 2)) return;
    const auto each = [&](std::int64_t n) { return number_list(space, n); };
    number_list pads;
    for (std::size_t k = 0; k < 2 * space; ++k) pads.push_back(between(0, 1));
    switch (below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::int64_t widest = below(2) ? 2 : 3;  // a window of 3 needs a border
        if (widest == 3) pads.assign(pads.size(), 1);
        const std::int64_t groups = c % 2 == 0 && widest == 2 ? between(1, 2) : 1;
        const std::int64_t m = 2 * between(1, 3);
        network::shape f{m, c / groups};
        for (std::size_t d = 0; d < space; ++d) f.push_back(widest == 3 ? widest : between(1, 2));
        std::vector<network::value_id> in{x.id, numbers(x.type.type, f)};
        if (below(2)) in.push_back(numbers(x.type.type, {m}));
        const double bound = static_cast<double>(c / groups * widest * widest) * x.bound + 1;
        const drawn y = make("Conv", in, bound, false,
                             {{"group", groups},
                              {"pads", pads},
                              {"strides", each(widest == 3 ? 1 : between(1, 2))},
                              {"kernel_shape", number_list(f.begin() + 2, f.end())}});
        if (below(2))
          make(
              "BatchNormalization",
              {y.id, numbers(y.type.type, {y.type.extents[1]}, 0.5),
               numbers(y.type.type, {y.type.extents[1]}), numbers(y.type.type, {y.type.extents[1]}),
               numbers(y.type.type, {y.type.extents[1]}, 0.5)},
              2 * y.bound + 4, false);
        break;
      }
      case 3:
        make("MaxPool", {x.id}, x.bound, x.is_exact,
             {{"kernel_shape", each(2)},
              {"strides", each(between(1, 2))},
              {"pads", pads},
              {"ceil_mode", between(0, 1)}});
        break;
      case 4:
        make("AveragePool", {x.id}, x.bound, false,
             {{"kernel_shape", each(2)},
              {"strides", each(between(1, 2))},
              {"pads", pads},
              {"count_include_pad", between(0, 1)}});
        break;
      case 5: make(below(2) ? "GlobalAveragePool" : "GlobalMaxPool", {x.id}, x.bound, false); break;
      case 6:
        make("InstanceNormalization", {x.id, numbers(x.type.type, {c}), numbers(x.type.type, {c})},
             8, false, {{"epsilon", 0.25}});
        break;
      default: {
        network::shape f{c, 2};
        for (std::size_t d = 0; d < space; ++d) f.push_back(2);
        make("ConvTranspose", {x.id, numbers(x.type.type, f)}, static_cast<double>(4 * c) * x.bound,
             false, {{"strides", each(between(1, 2))}});
      }
    }
  }

  void reduction(const drawn& x) {
    if (x.rank() == 0) return;
    number_list axes;
    for (std::size_t d = 0; d < x.rank(); ++d)
      if (below(2)) axes.push_back(static_cast<std::int64_t>(d));
    if (axes.empty()) axes.push_back(static_cast<std::int64_t>(x.rank()) - 1);
    double count = 1;
    for (const std::int64_t a : axes)
      count *= static_cast<double>(x.type.extents[static_cast<std::size_t>(a)]);
    struct one {
      const char* op;
      double bound;
    };
    const one all[] = {
        {"ReduceMean", x.bound},         {"ReduceSum", count * x.bound},
        {"ReduceMax", x.bound},          {"ReduceMin", x.bound},
        {"ReduceL1", count * x.bound},   {"ReduceSumSquare", count * x.bound * x.bound},
        {"ReduceLogSumExp", x.bound + 8}};
    const one r = all[below(7)];
    make(r.op, {x.id, integers(axes)}, r.bound, false, {{"keepdims", between(0, 1)}});
  }

  void rows(const drawn& x) {
    if (x.rank() == 0) return;
    const auto axis = between(0, static_cast<std::int64_t>(x.rank()) - 1);
    const network::shape rest(x.type.extents.begin() + axis, x.type.extents.end());
    switch (below(4)) {
      case 0: {
        const drawn p = make("Softmax", {x.id}, 1, false, {{"axis", axis}});
        if (below(2)) {
          const drawn n = make("IsNaN", {p.id}, 1, true);
          make("Where", {n.id, scalar(x.type.type, 0), p.id}, 1, false);
        }
        break;
      }
      case 1: make("LogSoftmax", {x.id}, 2 * x.bound + 8, false, {{"axis", axis}}); break;
      default:
        make("LayerNormalization", {x.id, numbers(x.type.type, rest), numbers(x.type.type, rest)},
             8, false, {{"axis", axis}, {"epsilon", 0.25}});
    }
  }

  /// Softmax of products, which weighs rows.
  void attention(const drawn& x) {
    if (x.rank() < 2) return;
    const network::shape& s = x.type.extents;
    const std::int64_t size = s.back(), keys = between(2, 5);
    const dtype t = x.type.type;
    drawn q = make("Mul", {x.id, scalar(t, 0.5)}, x.bound / 2, false);
    drawn p = make("MatMul", {q.id, numbers(t, {size, keys})}, static_cast<double>(size) * q.bound,
                   false);
    if (below(2)) p = make("Add", {p.id, numbers(t, {s[s.size() - 2], keys})}, p.bound + 1, false);
    p = make("Softmax", {p.id}, 1, false, {{"axis", std::int64_t{-1}}});
    if (below(2)) {
      const drawn n = make("IsNaN", {p.id}, 1, true);
      p = make("Where", {n.id, scalar(t, 0), p.id}, 1, false);
    }
    make("MatMul", {p.id, numbers(t, {keys, between(1, 4)})}, 1, false);
  }
};

}  // namespace network_tests
