#include <tilewright/ir/interpret/interpret.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

function make_function(std::vector<buffer> params, stmt body) {
  function f;
  for (buffer& p : params) f.params.push_back({std::move(p), {}});
  f.body = std::move(body);
  return f;
}

std::string message_of(const function& f, std::vector<tensor_view> args,
                       interpret_options options = {}) {
  try {
    interpret(f, std::move(args), options);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// out[0] = value, with `x` (one element) available as a parameter.
template <class Out, class In>
Out compute(dtype out, dtype in, const std::function<expr(const expr&)>& formula, In input) {
  const buffer x = make_buffer("x", in, {1}), y = make_buffer("y", out, {1});
  Out result{};
  interpret(make_function({x, y}, make_store(y, {0}, formula(load(x, {0})))),
            {{&input, {}}, {&result, {}}});
  return result;
}

/// C[vi, vj] += A[vi, vk] * B[vk, vj] under loops that split i by `tile`, guarded by a predicate.
function matmul(std::int64_t m, std::int64_t n, std::int64_t k, int tile) {
  const auto dim = [](std::int64_t v) { return integer(dtype::i32, v); };
  const buffer a = make_buffer("A", dtype::f32, {dim(m), dim(k)}),
               b = make_buffer("B", dtype::f32, {dim(k), dim(n)}),
               c = make_buffer("C", dtype::f32, {dim(m), dim(n)});
  const var vi = make_var("vi"), vj = make_var("vj"), vk = make_var("vk");
  const var i0 = make_var("i0"), i1 = make_var("i1"), j = make_var("j"), kk = make_var("k");
  block_node body;
  body.name = "C";
  body.iters = {{vi, {0, dim(m)}, iter_kind::spatial},
                {vj, {0, dim(n)}, iter_kind::spatial},
                {vk, {0, dim(k)}, iter_kind::reduce}};
  body.reads = {{a, point_box({vi, vk})}, {b, point_box({vk, vj})}};
  body.writes = {{c, point_box({vi, vj})}};
  body.init = make_store(c, {vi, vj}, real(dtype::f32, 0));
  body.body = make_store(c, {vi, vj}, load(c, {vi, vj}) + load(a, {vi, vk}) * load(b, {vk, vj}));
  const expr row = i0 * tile + i1;
  stmt s = make_realize({row, j, kk}, lt(row, dim(m)), make_block(body));
  s = make_loop(kk, 0, dim(k), s);
  s = make_loop(j, 0, dim(n), s);
  s = make_loop(i1, 0, tile, s);
  s = make_loop(i0, 0, ceildiv(dim(m), tile), s);
  return make_function({a, b, c}, make_root(s));
}

}  // namespace

TEST_CASE("a scheduled matmul with a non-dividing tile computes in float") {
  const std::int64_t m = 7, n = 5, k = 9;
  std::vector<float> a, b, c(35, std::numeric_limits<float>::quiet_NaN()), want(35, 0.0f);
  for (int x = 0; x < m * k; ++x) a.push_back(0.1f * static_cast<float>(x % 11 - 5));
  for (int x = 0; x < k * n; ++x) b.push_back(0.3f * static_cast<float>(x % 7 - 3));
  interpret(matmul(m, n, k, 4), {{a.data(), {}}, {b.data(), {}}, {c.data(), {}}});
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t x = 0; x < 9; ++x) {
        const volatile float product = a[i * 9 + x] * b[x * 5 + j];
        want[i * 5 + j] += product;
      }
  CHECK(c == want);
}

TEST_CASE("strides come from the call") {
  const buffer x = make_buffer("x", dtype::i32, {2, 3}), y = make_buffer("y", dtype::i32, {2, 3});
  const var i = make_var("i"), j = make_var("j");
  const function f = make_function(
      {x, y}, make_loop(i, 0, 2, make_loop(j, 0, 3, make_store(y, {i, j}, load(x, {i, j}) + 1))));
  std::vector<std::int32_t> in{0, 10, 1, 11, 2, 12}, out(6);
  interpret(f, {{in.data(), {1, 2}}, {out.data(), {}}});  // in is column-major
  CHECK(out == std::vector<std::int32_t>{1, 2, 3, 11, 12, 13});
  interpret(f, {{in.data() + 5, {-1, -2}}, {out.data(), {}}});
  CHECK(out == std::vector<std::int32_t>{13, 12, 11, 3, 2, 1});
}

TEST_CASE("integers wrap at their width and divide as Python does") {
  CHECK(compute<std::int8_t>(
            dtype::i8, dtype::i8, [](const expr& x) { return x + integer(dtype::i8, 1); },
            std::int8_t{127}) == -128);
  CHECK(compute<std::uint8_t>(
            dtype::u8, dtype::u8, [](const expr& x) { return x - integer(dtype::u8, 1); },
            std::uint8_t{0}) == 255);
  CHECK(compute<std::int32_t>(
            dtype::i32, dtype::i32, [](const expr& x) { return x * 2 + 1; },
            std::int32_t{0x7fffffff}) == -1);
  CHECK(compute<std::int32_t>(
            dtype::i32, dtype::i32, [](const expr& x) { return floordiv(x, 4); }, -7) == -2);
  CHECK(compute<std::int32_t>(
            dtype::i32, dtype::i32, [](const expr& x) { return floormod(x, 4); }, -7) == 1);
  CHECK(compute<std::int32_t>(
            dtype::i32, dtype::i32, [](const expr& x) { return div(x, 4); }, -7) == -1);
  CHECK(compute<std::uint64_t>(
            dtype::u64, dtype::u64, [](const expr& x) { return max(x, integer(dtype::u64, 1)); },
            ~std::uint64_t{0}) == ~std::uint64_t{0});
  CHECK(compute<std::int32_t>(
            dtype::i32, dtype::f32, [](const expr& x) { return cast(dtype::i32, x); }, 1e20f) ==
        std::numeric_limits<std::int32_t>::max());
}

TEST_CASE("narrow floats are computed in f32 and rounded when stored or cast") {
  // 2048 + 1 is no f16; the sum is rounded once, at the store.
  const auto sum = [](const expr& x) {
    return x + literal(dtype::f16, 1) + literal(dtype::f16, 1);
  };
  CHECK(static_cast<float>(compute<float16>(dtype::f16, dtype::f16, sum, float16(2048.0f))) ==
        2050.0f);
  const auto rounded = [](const expr& x) { return cast(dtype::f32, cast(dtype::bf16, x)); };
  CHECK(compute<float>(dtype::f32, dtype::f32, rounded, 1.00390625f) == 1.0f);
  CHECK(compute<float>(dtype::f32, dtype::f32, rounded, 1.01171875f) == 1.015625f);
  // a sum that only double would keep
  CHECK(
      compute<float>(
          dtype::f32, dtype::f32,
          [](const expr& x) { return x + literal(dtype::f32, 1) - literal(dtype::f32, 16777216); },
          16777216.0f) == 0.0f);
}

TEST_CASE("casts keep numbers and reinterpretations keep bits, between any two types") {
  const auto through = [](dtype first, dtype second, double x) {
    return compute<double>(
        dtype::f64, dtype::f64,
        [&](const expr& e) { return cast(dtype::f64, cast(second, cast(first, e))); }, x);
  };
  const auto there_and_back = [](dtype first, dtype second, double x) {
    return compute<double>(
        dtype::f64, dtype::f64,
        [&](const expr& e) {
          const expr there = call(second, "reinterpret", {cast(first, e)});
          return cast(dtype::f64, call(first, "reinterpret", {there}));
        },
        x);
  };
  const dtype types[] = {dtype::i8,  dtype::i16, dtype::i32, dtype::i64,  dtype::u8,  dtype::u16,
                         dtype::u32, dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64};
  for (const dtype first : types) {
    for (const dtype second : types) {
      CAPTURE(std::string(name(first)));
      CAPTURE(std::string(name(second)));
      CHECK(through(first, second, 100) == 100);
      if (bits(first) == bits(second)) CHECK(there_and_back(first, second, 100) == 100);
    }
    CHECK(through(first, dtype::boolean, 100) == 1);
    CHECK(through(dtype::boolean, first, 100) == 1);
  }
  CHECK(through(dtype::i8, dtype::u64, -3) == 18446744073709551616.0);
  CHECK(through(dtype::u64, dtype::f32, 18446744073709549568.0) == 18446744073709551616.0);
  CHECK(through(dtype::u8, dtype::i8, 200) == -56);
  const auto one_bits = [](const expr& e) { return call(dtype::i32, "reinterpret", {e}); };
  CHECK(compute<std::int32_t>(dtype::i32, dtype::f32, one_bits, 1.0f) == 0x3f800000);
}

TEST_CASE("comparisons follow the sign of the type") {
  const auto is_below_one = [](dtype t) {
    return compute<std::int8_t>(
        dtype::i8, dtype::i64,
        [&](const expr& e) { return cast(dtype::i8, lt(cast(t, e), literal(t, 1))); },
        std::int64_t{-1});
  };
  for (const dtype t : {dtype::i8, dtype::i32, dtype::i64, dtype::f16, dtype::f32, dtype::f64})
    CHECK(is_below_one(t) == 1);
  for (const dtype t : {dtype::u8, dtype::u32, dtype::u64}) CHECK(is_below_one(t) == 0);
}

TEST_CASE("intrinsics") {
  const auto f32 = [](const char* name, float x) {
    return compute<float>(
        dtype::f32, dtype::f32, [&](const expr& e) { return call(dtype::f32, name, {e}); }, x);
  };
  CHECK(f32("exp", 1.5f) == doctest::Approx(4.48168907));
  CHECK(f32("tanh", 0.3f) == doctest::Approx(0.29131261));
  CHECK(f32("erf", 0.3f) == doctest::Approx(0.32862676));
  CHECK(f32("rsqrt", 4.0f) == 0.5f);
  CHECK(f32("round", 2.5f) == 2.0f);
  CHECK(f32("round", 3.5f) == 4.0f);
  CHECK(f32("round", -2.5f) == -2.0f);
  CHECK(f32("abs", -2.0f) == 2.0f);
  CHECK(f32("sigmoid", 0.0f) == 0.5f);
  CHECK(compute<double>(
            dtype::f64, dtype::f64,
            [](const expr& x) {
              return call(dtype::f64, "pow", {x, real(dtype::f64, 3)});
            },
            3.0) == 27.0);
  CHECK(compute<std::int32_t>(
            dtype::i32, dtype::i32, [](const expr& x) { return call(dtype::i32, "abs", {x}); },
            -5) == 5);
  CHECK(compute<std::uint8_t>(
            dtype::u8, dtype::u8, [](const expr& x) { return call(dtype::u8, "bitwise_not", {x}); },
            std::uint8_t{1}) == 254);
  float x = 0, y = 0;
  const buffer bx = make_buffer("x", dtype::f32, {1}), by = make_buffer("y", dtype::f32, {1});
  CHECK(contains(
      message_of(make_function({bx, by},
                               make_store(by, {0}, call(dtype::f32, "gibberish", {load(bx, {0})}))),
                 {{&x, {}}, {&y, {}}}),
      "gibberish"));
}

TEST_CASE("symbolic extents and scalars") {
  const var n = make_var("n"), alpha = make_var("alpha", dtype::f32), i = make_var("i");
  const buffer x = make_buffer("x", dtype::f32, {n});
  function f = make_function({x}, make_loop(i, 0, n, make_store(x, {i}, load(x, {i}) * alpha)));
  f.params.push_back({{}, alpha});
  std::vector<float> data{1, 2, 3};
  float scale = 2;
  interpret_options options;
  options.dims["n"] = 3;
  interpret(f, {{data.data(), {}}, {&scale, {}}}, options);
  CHECK(data == std::vector<float>{2, 4, 6});
  CHECK(contains(message_of(f, {{data.data(), {}}, {&scale, {}}}), "extent n"));
  CHECK(contains(message_of(f, {{data.data(), {}}}, options), "takes 2 arguments"));
}

TEST_CASE("accesses out of bounds, unwritten reads and races are refused") {
  const buffer y = make_buffer("y", dtype::f32, {4}), t = make_buffer("t", dtype::f32, {4});
  const var i = make_var("i");
  std::vector<float> data(4);
  const auto run = [&](stmt s, interpret_options options = {}) {
    return message_of(make_function({y}, std::move(s)), {{data.data(), {}}}, options);
  };
  const expr one = real(dtype::f32, 1);
  const std::string bounds = run(make_loop(i, 0, 5, make_store(y, {i}, one)));
  CHECK(contains(bounds, "out of bounds: y[4]"));
  CHECK(contains(run(make_loop(i, 0, 4, make_store(y, {i - 1}, one))), "y[-1]"));
  const stmt copy = make_loop(i, 0, 4, make_store(y, {i}, load(t, {i})));
  CHECK(contains(run(make_allocate(t, make_seq({make_store(t, {1}, one), copy}))),
                 "unwritten memory: t[0]"));
  CHECK(
      run(make_allocate(t, make_seq({make_loop(i, 0, 4, make_store(t, {i}, one)), copy}))).empty());
  CHECK(contains(run(make_store(t, {0}, one)), "neither a parameter nor allocated"));
  interpret_options races;
  races.check_races = true;
  const stmt all_to_one =
      make_loop(i, 0, 4, make_store(y, {0}, load(y, {0}) + one), loop_kind::parallel);
  CHECK(contains(run(all_to_one, races), "race"));
  CHECK(run(all_to_one).empty());
  const stmt apart =
      make_loop(i, 0, 4, make_store(y, {i}, load(y, {i}) + one), loop_kind::parallel);
  CHECK(run(make_seq({apart, apart}), races).empty());
}

TEST_CASE("match buffers alias a region") {
  const buffer y = make_buffer("y", dtype::f32, {4, 4}),
               part = make_buffer("part", dtype::f32, {2});
  const var i = make_var("i"), vi = make_var("vi"), j = make_var("j");
  block_node b;
  b.name = "B";
  b.iters = {{vi, {0, 4}, iter_kind::spatial}};
  b.match_buffers = {{part, {y, {{vi, 1}, {1, 2}}}}};
  b.body = make_loop(j, 0, 2, make_store(part, {j}, cast(dtype::f32, vi * 10 + j)));
  std::vector<float> data(16);
  interpret(make_function({y}, make_root(make_loop(
                                   i, 0, 4, make_realize({i}, boolean(true), make_block(b))))),
            {{data.data(), {}}});
  CHECK(data[1] == 0);
  CHECK(data[2] == 1);
  CHECK(data[4 * 3 + 1] == 30);
  CHECK(data[4 * 3 + 2] == 31);
  CHECK(data[4 * 3 + 3] == 0);
}

TEST_CASE("division by zero in integers is an error, in floats it is not") {
  CHECK_THROWS_AS(
      compute<std::int32_t>(
          dtype::i32, dtype::i32, [](const expr& x) { return floordiv(expr(1), x); }, 0),
      error);
  CHECK(std::isinf(compute<float>(
      dtype::f32, dtype::f32, [](const expr& x) { return div(literal(dtype::f32, 1), x); }, 0.0f)));
}
