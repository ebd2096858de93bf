#include <tilewright/ir/equal.hpp>

#include <cmath>

#include <doctest/doctest.h>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;
using test::point;

TEST_CASE("programs equal themselves built anew, and no other") {
  const auto once = test::all_programs(), again = test::all_programs();
  for (std::size_t i = 0; i < once.size(); ++i)
    for (std::size_t j = 0; j < again.size(); ++j)
      CHECK(equal(once[i].second, again[j].second) == (i == j));
}

TEST_CASE("names do not count") {
  const function a = test::matmul(8, 8, 8);
  function b = test::matmul(8, 8, 8, dtype::f32, "other");
  b.name = "renamed";
  CHECK(equal(a, b));
}

TEST_CASE("types, shapes, scopes, annotations and attributes count") {
  const function base = test::matmul(8, 8, 8);
  CHECK_FALSE(equal(base, test::matmul(8, 8, 9)));
  CHECK_FALSE(equal(base, test::matmul(8, 8, 8, dtype::f16)));
  function attributed = base;
  attributed.attrs["k"] = 1;
  CHECK_FALSE(equal(base, attributed));
  const var i = make_var("i");
  const buffer a = make_buffer("A", dtype::f32, {4}),
               l = make_buffer("A", dtype::f32, {4}, "local");
  const auto loop = [&](const buffer& b, loop_kind kind, annotations notes) {
    return make_loop(i, 0, 4, make_store(b, {i}, real(dtype::f32, 0)), kind, std::move(notes));
  };
  const stmt s = loop(a, loop_kind::serial, {});
  CHECK(equal(s, loop(a, loop_kind::serial, {})));
  CHECK_FALSE(equal(s, loop(l, loop_kind::serial, {})));
  CHECK_FALSE(equal(s, loop(a, loop_kind::parallel, {})));
  CHECK_FALSE(equal(s, loop(a, loop_kind::serial, {{"x", 1}})));
  CHECK_FALSE(
      equal(loop(a, loop_kind::serial, {{"x", 1.0}}), loop(a, loop_kind::serial, {{"x", 1}})));
}

TEST_CASE("bound variables match by binding, free ones by identity") {
  const var i = make_var("i"), j = make_var("i"), n = make_var("n"), m = make_var("n");
  const buffer a = make_buffer("A", dtype::i32, {4, 4});
  const auto nest = [&](const var& outer, const var& inner, const expr& value) {
    return make_loop(outer, 0, 4, make_loop(inner, 0, 4, make_store(a, {outer, inner}, value)));
  };
  CHECK(equal(nest(i, j, i), nest(j, i, j)));
  CHECK_FALSE(equal(nest(i, j, i), nest(i, j, j)));
  CHECK(equal(nest(i, j, n), nest(i, j, n)));
  CHECK_FALSE(equal(nest(i, j, n), nest(i, j, m)));
  CHECK(equal(n + 1, n + 1));
  CHECK_FALSE(equal(n + 1, m + 1));
}

TEST_CASE("buffers match by first use, one to one") {
  const buffer a = make_buffer("A", dtype::f32, {4}), b = make_buffer("B", dtype::f32, {4});
  const auto copy = [](const buffer& from, const buffer& to) {
    return make_store(to, {0}, load(from, {0}));
  };
  const auto of = [&](const stmt& body) { return test::make_function({a, b}, body); };
  CHECK(equal(test::make_function({a, b}, copy(a, b)), test::make_function({b, a}, copy(b, a))));
  CHECK_FALSE(equal(of(copy(a, b)), of(copy(b, a))));
  CHECK_FALSE(equal(of(copy(a, b)), of(copy(a, a))));
  CHECK_FALSE(equal(of(copy(a, a)), of(copy(a, b))));
}

TEST_CASE("buffers match by allocation in a statement, free ones by identity") {
  const buffer a = make_buffer("A", dtype::f32, {4}), b = make_buffer("B", dtype::f32, {4});
  const buffer c = make_buffer("C", dtype::f32, {4}), d = make_buffer("D", dtype::f32, {4});
  const auto copy = [](const buffer& from, const buffer& to) {
    return make_store(to, {0}, load(from, {0}));
  };
  CHECK(equal(load(a, {0}), load(a, {0})));
  CHECK_FALSE(equal(load(a, {0}), load(b, {0})));
  CHECK_FALSE(equal(load(a, {0}) + load(b, {0}), load(b, {0}) + load(a, {0})));
  CHECK_FALSE(equal(copy(a, c), copy(b, c)));
  CHECK_FALSE(equal(copy(a, c), copy(a, d)));
  CHECK(equal(make_allocate(c, copy(a, c)), make_allocate(d, copy(a, d))));
  CHECK_FALSE(equal(make_allocate(c, copy(a, c)), make_allocate(d, copy(b, d))));
}

TEST_CASE("literals compare by type and value; NaN equals NaN; zeros have a sign") {
  CHECK_FALSE(equal(integer(dtype::i32, 1), integer(dtype::i64, 1)));
  CHECK(equal(real(dtype::f32, NAN), real(dtype::f32, -NAN)));
  CHECK_FALSE(equal(real(dtype::f32, 0.0), real(dtype::f32, -0.0)));
}
