#include <tilewright/ir/evaluate.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/support/error.hpp>
#include <tilewright/support/float16.hpp>

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
      CHECK(*got == doctest::Approx(want).epsilon(1e-14));
    }
  CHECK(c == std::vector<float>(m * n));
}

TEST_CASE("inputs are read with their type and strides") {
  std::vector<float16> a{float16(0.5f), float16(9.0f), float16(0.25f), float16(9.0f)};
  std::vector<float16> b{float16(2.0f), float16(3.0f)};
  float c = 0;
  point_evaluator e(test::matmul(1, 1, 2, dtype::f16),
                    {{a.data(), {4, 2}}, {b.data(), {}}, {&c, {}}});
  CHECK(e.value(2, {0, 0}) == 0.5 * 2 + 0.25 * 3);
}

TEST_CASE("temporaries are followed, and a guarded read stays in bounds") {
  std::vector<float> x{1, 2, 4, 8}, z(4);
  point_evaluator e(padded(4), {{x.data(), {}}, {z.data(), {}}});
  CHECK(e.value(1, {0}) == 3);
  CHECK(e.value(1, {1}) == 7);
  CHECK(e.value(1, {3}) == 12);
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
  CHECK(e.value(1, {0}) == 1.0);
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
  CHECK(outside.value(1, {0}) == 0.0);
  CHECK_FALSE(outside.value(1, {1}));
}

TEST_CASE("what is not supported is refused in words") {
  CHECK(point_evaluator::refusal(test::matmul(2, 2, 2)).empty());
  CHECK(point_evaluator::refusal(padded(4)).empty());
  CHECK_FALSE(point_evaluator::refusal(test::scheduled_matmul_relu()).empty());
  CHECK_FALSE(point_evaluator::refusal(test::symbolic_add()).empty());
  CHECK_FALSE(point_evaluator::refusal(test::argmax()).empty());
  const buffer y = make_buffer("Y", dtype::f32, {4});
  const var i = make_var("vi");
  const std::string twice = point_evaluator::refusal(
      test::make_function({y}, each(y, {i}, load(y, {i}) * real(dtype::f32, 2))));
  CHECK(twice.find("Y") != std::string::npos);
  CHECK_THROWS_AS(point_evaluator(test::argmax(), {}), argument_error);
}
