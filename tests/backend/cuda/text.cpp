// Every type, operator and function in the text of kernels, emulated, against the interpreter.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"

using namespace tilewright;

namespace {

/// C[i] = what `body` says of A[i] and B[i], 64 elements of a type, 32 threads in a block.
ir::function elementwise(dtype type, const std::string& body, dtype to) {
  const std::string t{name(type)}, r{name(to)};
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((64,), "TYPE"), B: T.Buffer((64,), "TYPE"), C: T.Buffer((64,), "RESULT")):
    for i_0 in T.thread_binding(2, thread="blockIdx.x"):
        for i_1 in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("C"):
                vi = T.axis.spatial(64, i_0 * 32 + i_1)
                C[vi] = BODY
)";
  const auto put = [&](const std::string& mark, const std::string& value) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  };
  put("BODY", body);
  put("TYPE", t);
  put("RESULT", r);
  return ir::parse(text);
}

harness::options with(std::map<std::string, std::vector<double>> values) {
  harness::options out;
  out.values = std::move(values);
  return out;
}

void check(dtype type, const std::string& body, dtype to, double tolerance = 0,
           const harness::options& o = {}) {
  CAPTURE(body);
  cases::check_emulated(elementwise(type, body, to), tolerance, o);
}

}  // namespace

TEST_CASE("arithmetic of integers wraps at the width of each type") {
  for (const dtype t : {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
                        dtype::u32, dtype::u64}) {
    CAPTURE(name(t));
    check(t, "T.max(A[vi] * B[vi] * A[vi] - B[vi], A[vi] + B[vi])", t);
  }
  check(dtype::i32, "A[vi] // B[vi] + A[vi] % B[vi]", dtype::i32, 0, with({{"B", {3, -3, 7, -1}}}));
  check(dtype::i8, "A[vi] // B[vi]", dtype::i8, 0,
        with({{"A", {-128, 127, -7}}, {"B", {-1, 3, -3, 2}}}));
  check(dtype::i32,
        "T.bitwise_xor(T.shift_left(A[vi], T.int32(3)), T.shift_right(B[vi], T.int32(1)))",
        dtype::i32);
}

TEST_CASE("floats of 16 bits are rounded where they are stored") {
  for (const dtype t : {dtype::f16, dtype::bf16}) {
    CAPTURE(name(t));
    check(t, "A[vi] * B[vi] + A[vi]", t);
    check(t, "T.cast(A[vi] * B[vi], \"float32\") * T.float32(1.0009765625)", dtype::f32, 1e-6);
  }
  check(dtype::f32, "T.cast(A[vi] * B[vi] * T.float32(1.001), \"float16\")", dtype::f16);
  check(dtype::f64, "A[vi] / (B[vi] + T.float64(10))", dtype::f64);
}

TEST_CASE("casts from floats to integers truncate and stay within the range") {
  const harness::options o = with({{"A", {1e20, -1e20, 127.9, -128.9, 3.5, -3.5, 0, 300}}});
  for (const dtype t : {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u32}) {
    CAPTURE(name(t));
    check(dtype::f32, "T.cast(A[vi], \"" + std::string(name(t)) + "\")", t, 0, o);
    check(dtype::f64, "T.cast(A[vi], \"" + std::string(name(t)) + "\")", t, 0, o);
  }
}

TEST_CASE("conditions choose, and only what is chosen is read") {
  check(dtype::f32, "T.if_then_else(vi >= 5, A[vi - 5], T.float32(0))", dtype::f32);
  check(dtype::f32, "T.Select(A[vi] > B[vi] and vi % 3 != 1, A[vi], B[vi] - A[vi])", dtype::f32);
}

TEST_CASE("functions of floats") {
  for (const char* f : {"exp", "exp2", "log1p", "sqrt", "rsqrt", "tanh", "erf", "sigmoid", "floor",
                        "ceil", "trunc", "sin", "cos", "atan"}) {
    const std::string body = "T." + std::string(f) + "(A[vi] * A[vi] + T.float32(0.25))";
    check(dtype::f32, body, dtype::f32, 1e-5);
  }
  check(dtype::f32, "T.pow(A[vi] * A[vi] + T.float32(1), B[vi])", dtype::f32, 1e-4);
}

TEST_CASE("loops of 64 bits become kernels that count in 32 where that is enough") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((T.int64(40), T.int64(30)), "float32"), B: T.Buffer((T.int64(30), T.int64(40)), "float32")):
    for i in T.thread_binding(T.int64(40), thread="blockIdx.x"):
        for j in T.thread_binding(T.int64(32), thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(T.int64(40), i)
                vj = T.axis.spatial(T.int64(30), j)
                T.where(j < T.int64(30))
                B[vj, vi] = A[vi, vj] + T.cast(vi // T.int64(7) % T.int64(3), "float32")
)");
  const cases::cu::program p = cases::cu::print(pass::lower(f, cases::device()), cases::device());
  CHECK_MESSAGE(p.text.find("long long") == p.text.npos, p.text);
  cases::check_emulated(f);
}
