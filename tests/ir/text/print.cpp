#include <tilewright/ir/text/print.hpp>

#include <doctest/doctest.h>

#include "../programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;

TEST_CASE("a whole script") {
  CHECK(print(test::matmul(128, 64, 32, dtype::bf16)) == R"(# from tvm.script import tir as T

@T.prim_func
def main(A: T.Buffer((128, 32), "bfloat16"), B: T.Buffer((32, 64), "bfloat16"), C: T.Buffer((128, 64), "float32")):
    # with T.block("root"):
    for i, j, k in T.grid(128, 64, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0.0)
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])
)");
}

TEST_CASE("operators keep their grouping") {
  const var x = make_var("x"), y = make_var("y"), z = make_var("z");
  CHECK(print((x + y) * z) == "(x + y) * z");
  CHECK(print(x + y * z) == "x + y * z");
  CHECK(print(x - (y - z)) == "x - (y - z)");
  CHECK(print(x - y - z) == "x - y - z");
  CHECK(print(floordiv(x, y) * z) == "x // y * z");
  CHECK(print(floormod(x, y * z)) == "x % (y * z)");
  CHECK(print(x + -3) == "x + -3");
  CHECK(print(logical_and(lt(x, y), logical_or(eq(x, 0), logical_not(ge(y, z))))) ==
        "x < y and (x == 0 or not y >= z)");
  CHECK(print(logical_not(logical_and(lt(x, y), lt(y, z)))) == "not (x < y and y < z)");
  CHECK(print(eq(lt(x, y), lt(y, z))) == "(x < y) == (y < z)");
  CHECK(print(div(x, y)) == "T.Div(x, y)");
  CHECK(print(mod(x, y)) == "T.truncmod(x, y)");
}

TEST_CASE("literals and calls") {
  const var h = make_var("h", dtype::f16);
  CHECK(print(integer(dtype::i64, -3)) == "T.int64(-3)");
  CHECK(print(boolean(false)) == "T.bool(False)");
  CHECK(print(real(dtype::f32, 0.1)) == "T.float32(0.1)");
  CHECK(print(real(dtype::f64, 1e30)) == "T.float64(1e+30)");
  CHECK(print(lowest_value(dtype::f16)) == "T.float16(\"-inf\")");
  CHECK(print(call(dtype::f16, "exp", {h})) == "T.exp(h)");
  CHECK(print(call(dtype::boolean, "isnan", {h})) == "T.isnan(h)");
  CHECK(print(call(dtype::f32, "exp", {h})) == "T.call_extern(\"float32\", \"exp\", h)");
  CHECK(print(cast(dtype::f32, h)) == "T.Cast(\"float32\", h)");
}

TEST_CASE("names are made unique and usable, in the same way each time") {
  const buffer a = make_buffer("A", dtype::i32, {4, 4, 4}), b = make_buffer("A", dtype::i32, {4});
  const var i = make_var("i"), j = make_var("i"), k = make_var("for"), odd = make_var("2 x");
  const stmt s =
      make_loop(i, 0, 4,
                make_seq({make_loop(j, 0, 4, make_store(a, {i, j, 0}, i), loop_kind::parallel),
                          make_loop(k, 0, 4, make_store(a, {i, k, 0}, odd), loop_kind::parallel)}));
  const char* expected = R"(for i in range(4):
    for i_1 in T.parallel(4):
        A[i, i_1, 0] = i
    for for_1 in T.parallel(4):
        A[i, for_1, 0] = _2_x
)";
  CHECK(print(s) == expected);
  CHECK(print(s) == expected);
  CHECK(print(load(a, {load(b, {0}), 0, 0})) == "A[A_1[0], 0, 0]");
}

TEST_CASE("nests print as one grid only where bounds allow it") {
  const buffer a = make_buffer("A", dtype::i32, {8, 8});
  const var i = make_var("i"), j = make_var("j");
  const stmt body = make_store(a, {i, j}, 1);
  CHECK(print(make_loop(i, 0, 8, make_loop(j, 0, i, body))) ==
        "for i in range(8):\n    for j in range(i):\n        A[i, j] = 1\n");
  CHECK(print(make_loop(i, 0, 8, make_loop(j, i, 8, body))) ==
        "for i in range(8):\n    for j in range(i, i + 8):\n        A[i, j] = 1\n");
  CHECK(print(make_loop(i, 2, 3, make_loop(j, 0, 4, body), loop_kind::vectorized, {{"n", 1}})) ==
        "for i in T.vectorized(2, 5, annotations={\"n\": 1}):\n    for j in range(4):\n        "
        "A[i, j] = 1\n");
}

TEST_CASE("regions") {
  const buffer a = make_buffer("A", dtype::f32, {8, 8}), s = make_buffer("S", dtype::f32, {});
  const var i = make_var("i");
  CHECK(print(buffer_region{a, {{i, 1}, {i * 4, 4}}}) == "A[i, i * 4:i * 4 + 4]");
  CHECK(print(full_region(a)) == "A[0:8, 0:8]");
  CHECK(print(full_region(s)) == "S[()]");
}
