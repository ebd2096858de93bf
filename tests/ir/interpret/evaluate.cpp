#include <tilewright/ir/interpret/evaluate.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>

#include "ir/programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// `to`[vi, ...] = value over all of `to`, as a block under loops of its own.
stmt each(const buffer& to, const std::vector<var>& iters, expr value) {
  block_node n;
  n.name = to->name;
  std::vector<var> loops;
  std::vector<expr> at;
  for (std::size_t d = 0; d < iters.size(); ++d) {
    n.iters.push_back({iters[d], {0, to->shape[d]}, iter_kind::spatial});
    loops.push_back(make_var("i" + std::to_string(d)));
  }
  n.writes = {test::point(to, iters)};
  n.body = make_store(to, iters, std::move(value));
  return test::nest(loops, to->shape, test::realize(loops, std::move(n)));
}

/// y = x with a border of zeros, then z[i] = y[i] + y[i + 1] + y[i + 2].
function padded(int n) {
  const buffer x = make_buffer("X", dtype::f32, {n}), y = make_buffer("Y", dtype::f32, {n + 2}),
               z = make_buffer("Z", dtype::f32, {n});
  const var p = make_var("vp"), i = make_var("vi");
  const expr inside = logical_and(ge(p, 1), lt(p, n + 1));
  const stmt border = each(y, {p}, if_then_else(inside, load(x, {p - 1}), real(dtype::f32, 0)));
  const stmt sum = each(z, {i}, load(y, {i}) + load(y, {i + 1}) + load(y, {i + 2}));
  return test::make_function({x, z}, make_seq({border, sum}), {y});
}

/// Element `index` of parameter `param`, which has to have a value.
double at(point_evaluator& e, std::size_t param, const std::vector<std::int64_t>& index) {
  const auto v = e.value(param, index);
  REQUIRE(v);
  return v->value;
}

/// y[i] = what `make` gives for x[i], over n elements.
function map_of(int n, dtype to, const std::function<expr(const expr&)>& make) {
  const buffer x = make_buffer("X", dtype::f32, {n}), y = make_buffer("Y", to, {n});
  const var i = make_var("vi");
  return test::make_function({x, y}, each(y, {i}, make(load(x, {i}))));
}

/// Y[`place` of vi] = X[vi] for vi below n; Y has m elements.
function stored_at(int n, int m, const std::function<expr(const var&)>& place) {
  const buffer x = make_buffer("X", dtype::f32, {n}), y = make_buffer("Y", dtype::f32, {m});
  block_node b;
  b.name = "Y";
  b.iters = {test::spatial("vi", n)};
  const var vi = b.iters[0].var, i = make_var("i");
  b.reads = {test::point(x, {vi})};
  b.writes = {test::point(y, {place(vi)})};
  b.body = make_store(y, {place(vi)}, load(x, {vi}));
  return test::make_function({x, y}, test::nest({i}, {n}, test::realize({i}, b)));
}

}  // namespace

TEST_CASE("an element of a product is the sum in double") {
  const int m = 3, n = 4, k = 50;
  std::vector<float> a, b, c(m * n);
  for (int i = 0; i < m * k; ++i) a.push_back(0.1f * static_cast<float>(i % 7));
  for (int i = 0; i < k * n; ++i) b.push_back(0.3f * static_cast<float>(i % 5) - 0.2f);
  point_evaluator e(test::matmul(m, n, k), {{a.data(), {}}, {b.data(), {}}, {c.data(), {}}});
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int l = 0; l < k; ++l) {
        const auto at = static_cast<std::size_t>(i * k + l),
                   bt = static_cast<std::size_t>(l * n + j);
        want += static_cast<double>(a[at]) * static_cast<double>(b[bt]);
      }
      const auto got = e.value(2, {i, j});
      REQUIRE(got);
      CHECK(got->value == doctest::Approx(want).epsilon(1e-14));
      CHECK(got->decided);
      CHECK(got->error > 0);
      CHECK(got->error < 1e-4);
    }
  CHECK(c == std::vector<float>(m * n));
}

TEST_CASE("inputs are read with their type and strides") {
  std::vector<float16> a{float16(0.5f), float16(9.0f), float16(0.25f), float16(9.0f)};
  std::vector<float16> b{float16(2.0f), float16(3.0f)};
  float c = 0;
  point_evaluator e(test::matmul(1, 1, 2, dtype::f16),
                    {{a.data(), {4, 2}}, {b.data(), {}}, {&c, {}}});
  CHECK(at(e, 2, {0, 0}) == 0.5 * 2 + 0.25 * 3);
}

TEST_CASE("temporaries are followed, and a guarded read stays in bounds") {
  std::vector<float> x{1, 2, 4, 8}, z(4);
  point_evaluator e(padded(4), {{x.data(), {}}, {z.data(), {}}});
  CHECK(at(e, 1, {0}) == 3);
  CHECK(at(e, 1, {1}) == 7);
  CHECK(at(e, 1, {3}) == 12);
  CHECK_THROWS_AS(e.value(1, {4}), argument_error);
  CHECK_THROWS_AS(e.value(0, {0}), argument_error);
}

TEST_CASE("nothing is rounded between input and output") {
  const buffer x = make_buffer("X", dtype::f32, {1}), y = make_buffer("Y", dtype::f32, {1});
  const var i = make_var("vi");
  const expr big = real(dtype::f32, 0x1p30);
  std::vector<float> in{1.0f}, out(1);
  point_evaluator e(test::make_function({x, y}, each(y, {i}, load(x, {i}) + big - big)),
                    {{in.data(), {}}, {out.data(), {}}});
  CHECK(at(e, 1, {0}) == 1.0);
}

TEST_CASE("the budget ends the evaluation, and so does a read out of bounds") {
  std::vector<float> a(100), b(100), c(1);
  point_evaluator small(test::matmul(1, 1, 100), {{a.data(), {}}, {b.data(), {}}, {c.data(), {}}},
                        50);
  CHECK_FALSE(small.value(2, {0, 0}));
  const buffer x = make_buffer("X", dtype::f32, {2}), y = make_buffer("Y", dtype::f32, {2});
  const var i = make_var("vi");
  point_evaluator outside(test::make_function({x, y}, each(y, {i}, load(x, {i + 1}))),
                          {{a.data(), {}}, {c.data(), {}}});
  CHECK(at(outside, 1, {0}) == 0.0);
  CHECK_FALSE(outside.value(1, {1}));
}

TEST_CASE("what is not supported is refused in words") {
  CHECK(point_evaluator::refusal(test::matmul(2, 2, 2)).empty());
  CHECK(point_evaluator::refusal(padded(4)).empty());
  CHECK_FALSE(point_evaluator::refusal(test::scheduled_matmul_relu()).empty());
  CHECK_FALSE(point_evaluator::refusal(test::symbolic_add()).empty());
  const buffer y = make_buffer("Y", dtype::f32, {4});
  const var i = make_var("vi");
  const std::string scan = point_evaluator::refusal(
      test::make_function({y}, each(y, {i}, load(y, {floormod(i + 1, 4)}))));
  CHECK(scan == "block Y reads Y at another place than it writes");
  CHECK_THROWS_AS(point_evaluator(test::symbolic_add(), {}), argument_error);
  CHECK_THROWS_AS(point_evaluator(test::argmax(), {}), argument_error);
}

TEST_CASE("a tuple of accumulators gives the largest value and its place") {
  std::vector<float> x(32 * 100), best(32);
  std::vector<std::int32_t> place(32);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7919) % 1000) - 500;
  point_evaluator e(test::argmax(), {{x.data(), {}}, {best.data(), {}}, {place.data(), {}}});
  for (std::int64_t row = 0; row < 32; ++row) {
    const auto from = x.begin() + row * 100, largest = std::max_element(from, from + 100);
    CHECK(at(e, 1, {row}) == static_cast<double>(*largest));
    CHECK(at(e, 2, {row}) == static_cast<double>(largest - from));
    CHECK(e.value(2, {row})->decided);
  }
}

TEST_CASE("an update starts from what the parameter holds, and later blocks from what it leaves") {
  const buffer y = make_buffer("Y", dtype::f32, {4}), z = make_buffer("Z", dtype::f32, {4}),
               w = make_buffer("W", dtype::f32, {4});
  const auto block = [&](const buffer& to, const std::function<expr(const var&)>& make) {
    const var i = make_var("vi");
    return each(to, {i}, make(i));
  };
  const function f = test::make_function(
      {y, z, w},
      make_seq({block(z, [&](const var& i) { return load(y, {i}); }),
                block(y, [&](const var& i) { return load(y, {i}) * real(dtype::f32, 2); }),
                block(w, [&](const var& i) { return load(y, {3 - i}); }),
                block(y, [&](const var& i) { return load(y, {i}) + load(w, {i}); })}));
  CHECK(point_evaluator::refusal(f) == "");
  std::vector<float> in{1, 2, 3, 4};
  point_evaluator e(f, {{in.data(), {}}, {nullptr, {}}, {nullptr, {}}});
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto k = static_cast<std::size_t>(i);
    CHECK(at(e, 1, {i}) == static_cast<double>(in[k]));
    CHECK(at(e, 2, {i}) == static_cast<double>(2 * in[3 - k]));
    CHECK(at(e, 0, {i}) == static_cast<double>(2 * in[k] + 2 * in[3 - k]));
  }
  CHECK_THROWS_AS(point_evaluator(f, {{nullptr, {}}, {nullptr, {}}, {nullptr, {}}}),
                  argument_error);
}

TEST_CASE("a sum without init adds to what is there") {
  const function f = parse(R"(@T.prim_func
def f(X: T.Buffer((4, 3), "float32"), Y: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 3):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            Y[vi] = Y[vi] + X[vi, vk]
)");
  std::vector<float> x(12, 1.0f), y{10, 20, 30, 40};
  point_evaluator e(f, {{x.data(), {}}, {y.data(), {}}});
  CHECK(at(e, 1, {2}) == 33);
  CHECK(y == std::vector<float>{10, 20, 30, 40});
}

TEST_CASE("elements are found where computed indices store them") {
  std::vector<float> x(12), y(40, -1.0f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  using place = std::function<std::int64_t(std::int64_t)>;
  const auto check = [&](const function& f, const place& of) {
    CHECK(point_evaluator::refusal(f) == "");
    point_evaluator e(f, {{x.data(), {}}, {y.data(), {}}});
    std::vector<double> want(40, -1.0);
    for (std::int64_t i = 0; i < 12; ++i)
      want[static_cast<std::size_t>(of(i))] = static_cast<double>(i + 1);
    for (std::int64_t i = 0; i < 40; ++i) CHECK(at(e, 1, {i}) == want[static_cast<std::size_t>(i)]);
  };
  check(stored_at(12, 40, [](const var& i) { return i * 3 + 2; }),
        [](std::int64_t i) { return i * 3 + 2; });
  check(stored_at(12, 40, [](const var& i) { return 30 - i * 2; }),
        [](std::int64_t i) { return 30 - i * 2; });
  check(stored_at(12, 40, [](const var& i) { return floormod(i, 4) * 9 + floordiv(i, 4); }),
        [](std::int64_t i) { return i % 4 * 9 + i / 4; });
}

TEST_CASE("a sum of several iteration variables is taken apart, whatever their signs") {
  const function f = parse(R"(@T.prim_func
def f(X: T.Buffer((3, 4, 5), "float32"), Y: T.Buffer((70, 3), "float32")):
    for i, j, k in T.grid(3, 4, 5):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            Y[vj * 15 + 8 - vk * 2 + vi, vi] = X[vi, vj, vk]
)");
  std::vector<float> x(60), y(210, -1.0f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  std::vector<float> want = y;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 5; ++k)
        want[(j * 15 + 8 - k * 2 + i) * 3 + i] = x[(i * 4 + j) * 5 + k];
  point_evaluator e(f, {{x.data(), {}}, {y.data(), {}}});
  for (std::int64_t n = 0; n < 210; ++n)
    CHECK(at(e, 1, {n / 3, n % 3}) == static_cast<double>(want[static_cast<std::size_t>(n)]));
}

TEST_CASE("a scatter is followed; an element that two iterations store has no value") {
  const function f = parse(R"(@T.prim_func
def f(X: T.Buffer((4,), "float32"), I: T.Buffer((4,), "int32"), Y: T.Buffer((6,), "float32")):
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[I[vi]] = X[vi] + Y[I[vi]]
)");
  std::vector<float> x{1, 2, 3, 4}, y{10, 20, 30, 40, 50, 60};
  std::vector<std::int32_t> to{5, 0, 2, 2};
  point_evaluator e(f, {{x.data(), {}}, {to.data(), {}}, {y.data(), {}}});
  CHECK(at(e, 2, {5}) == 61);
  CHECK(at(e, 2, {0}) == 12);
  CHECK(at(e, 2, {1}) == 20);
  CHECK_FALSE(e.value(2, {2}));
  CHECK_FALSE(e.exhausted());
}

TEST_CASE("what rounding decides is said to be undecided") {
  const auto tenth = [](const expr& x) { return x * real(dtype::f32, 0.1); };
  const function steps = map_of(3, dtype::i32, [&](const expr& x) {
    return cast(dtype::i32, tenth(x) * real(dtype::f32, 10));
  });
  std::vector<float> x{3, 3.5f, 0};
  point_evaluator e(steps, {{x.data(), {}}, {nullptr, {}}});
  CHECK_FALSE(e.value(1, {0})->decided);  // 3 or 2, as the products round
  CHECK(e.value(1, {1})->decided);
  CHECK(at(e, 1, {1}) == 3);

  // a kink is no jump: both branches are close, and the error says how close
  const function kink = map_of(3, dtype::f32, [&](const expr& v) {
    const expr y = tenth(v) - real(dtype::f32, 0.3);
    return select(gt(y, real(dtype::f32, 0)), y, real(dtype::f32, 0));
  });
  point_evaluator k(kink, {{x.data(), {}}, {nullptr, {}}});
  CHECK(k.value(1, {0})->error < 1e-6);
  CHECK(k.value(1, {1})->decided);

  // a jump is part of the error
  const function jump = map_of(3, dtype::f32, [&](const expr& v) {
    return call(dtype::f32, "floor", {tenth(v) * real(dtype::f32, 10)});
  });
  point_evaluator j(jump, {{x.data(), {}}, {nullptr, {}}});
  CHECK_FALSE(j.value(1, {0})->decided);
  CHECK(j.value(1, {0})->error == 1);
  CHECK(j.value(1, {1})->decided);
  CHECK(j.value(1, {1})->error == 0);
}

TEST_CASE("equal inputs are no near tie: where they lie decides") {
  std::vector<float> x(32 * 100, 1.0f);
  point_evaluator e(test::argmax(), {{x.data(), {}}, {nullptr, {}}, {nullptr, {}}});
  CHECK(e.value(2, {7})->decided);
  CHECK(at(e, 2, {7}) == 0);
}

TEST_CASE("functions of integers are those of the interpreter") {
  const buffer x = make_buffer("X", dtype::i32, {3}), y = make_buffer("Y", dtype::i32, {3});
  const var i = make_var("vi");
  const expr v = load(x, {i});
  const function f = test::make_function(
      {x, y}, each(y, {i},
                   call(dtype::i32, "abs", {v}) +
                       call(dtype::i32, "bitwise_and", {v, integer(dtype::i32, 6)})));
  std::vector<std::int32_t> in{-5, 7, 0};
  point_evaluator e(f, {{in.data(), {}}, {nullptr, {}}});
  for (std::int64_t k = 0; k < 3; ++k) {
    const int n = in[static_cast<std::size_t>(k)];
    CHECK(at(e, 1, {k}) == std::abs(n) + (n & 6));
  }
}

TEST_CASE("a block that sees parts of a sum has no value at a point") {
  const auto program = [](const char* reader) {
    return parse(R"(@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4,), "int32"), D: T.Buffer((4, 6), "int32")):
    for i in range(4):
        for k in range(6):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
)" + std::string(reader));
  };
  const char* const below = R"(
            with T.block("D"):
                vi, vk = T.axis.remap("SS", [i, k])
                D[vi, vk] = C[vi]
)";
  const char* const beside = R"(
        for k in range(6):
            with T.block("D"):
                vi, vk = T.axis.remap("SS", [i, k])
                D[vi, vk] = C[vi]
)";
  CHECK(point_evaluator::refusal(program(below)).find("C in turn") != std::string::npos);
  const function f = program(beside);
  CHECK(point_evaluator::refusal(f) == "");
  std::vector<std::int32_t> a(24, 2), c(4), d(24);
  point_evaluator points(f, {{a.data(), {}}, {c.data(), {}}, {d.data(), {}}});
  CHECK(points.value(2, {3, 1})->value == 12);
}
