// Integers of any width, floats of 8 bits and less, and vectors: read, printed, told apart, computed.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/interpret/scalarize.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// Read, checked, and the same when it is printed and read again.
function read(const std::string& text) {
  const function f = parse(text);
  verify(f);
  const std::string printed = print(f);
  CHECK(equal(f, parse(printed)));
  CHECK(print(parse(printed)) == printed);
  CHECK(workload_key(f) == workload_key(parse(printed)));
  return f;
}

std::string copies(const std::string& type) {
  return "@T.prim_func\ndef main(A: T.Buffer((8,), \"" + type + "\"), B: T.Buffer((8,), \"" + type +
         "\")):\n    for i in range(8):\n        with T.block(\"copy\"):\n"
         "            vi = T.axis.spatial(8, i)\n            B[vi] = A[vi]\n";
}

/// B = expression of A and i, element by element.
std::string maps(const std::string& from, const std::string& to, const std::string& value,
                 int n = 16) {
  const std::string size = std::to_string(n);
  return "@T.prim_func\ndef main(A: T.Buffer((" + size + ",), \"" + from + "\"), B: T.Buffer((" +
         size + ",), \"" + to + "\")):\n    for i in range(" + size +
         "):\n        with T.block(\"map\"):\n            vi = T.axis.spatial(" + size +
         ", i)\n            B[vi] = " + value + "\n";
}

template <class To, class From>
std::vector<To> computed(const std::string& text, std::vector<From> a, std::size_t size = 0) {
  std::vector<To> b(size ? size : a.size());
  interpret(read(text), {{a.data(), {}}, {b.data(), {}}});
  return b;
}

std::vector<std::int8_t> nibbles() {
  std::vector<std::int8_t> out;
  for (int i = 0; i < 16; ++i) out.push_back(static_cast<std::int8_t>(i - 8));
  return out;
}

}  // namespace

TEST_CASE("element types: every type is read, printed and told apart") {
  std::vector<std::string> types;
  for (dtype t : all_dtypes) types.emplace_back(name(t));
  for (int width : {1, 2, 3, 4, 7, 12, 24, 48, 63}) {
    types.push_back("int" + std::to_string(width));
    if (width > 1) types.push_back("uint" + std::to_string(width));
  }
  for (const auto& f : tilewright::detail::dtypes::narrow_floats) types.emplace_back(f.name);
  for (const char* vector : {"float32x4", "float32x8", "int8x4", "float16x8", "boolx4", "int4x8",
                             "float8_e4m3fnx4", "float32xvscalex4"})
    types.emplace_back(vector);
  std::set<support::hash128> keys;
  for (const std::string& type : types) {
    CAPTURE(type);
    const function f = read(copies(type));
    CHECK(std::string(name(f.params[0].buffer->type)) == type);
    keys.insert(workload_key(f));
    CHECK(!equal(f, parse(copies(type == "int8" ? "int4" : "int8"))));
  }
  CHECK(keys.size() == types.size());
}

TEST_CASE("element types: the keys of what was there before stand") {
  CHECK(named_workload_key(parse(copies("float32"))).hex() == "7635d7df50a3013ca2bd1e50d0a04a79");
  CHECK(named_workload_key(parse(copies("bool"))).hex() == "1cd36f6d53e2f12f95e06b4cb6beb055");
  CHECK(named_workload_key(parse(copies("uint64"))).hex() == "5938de73295079a49a46a78aded99c0f");
  CHECK(named_workload_key(parse(copies("bfloat16"))).hex() == "5beb35fec305e2b5079bc99c0e6db0d2");
}

TEST_CASE("element types: literals") {
  const auto value = [](const std::string& type, const std::string& e) {
    return print(
        as_store(as_realize(as_loop(as_realize(read(maps(type, type, e)).body)->block->body)->body)
                     ->block->body)
            ->value);
  };
  CHECK(value("int4", "T.int4(-8)") == "T.int4(-8)");
  CHECK(value("int4", "A[vi] + 3") == "A[vi] + T.int4(3)");
  CHECK(value("float8_e4m3fn", "T.float8_e4m3fn(0.3)") == "T.float8_e4m3fn(0.3125)");
  CHECK(value("float8_e5m2", "T.float8_e5m2(\"inf\")") == "T.float8_e5m2(\"inf\")");
  CHECK(value("float8_e4m3fn", "T.max_value(\"float8_e4m3fn\")") == "T.float8_e4m3fn(448.0)");
  CHECK(value("float4_e2m1fn", "T.min_value(\"float4_e2m1fn\")") == "T.float4_e2m1fn(-6.0)");
  CHECK(value("int4", "T.Cast(\"int4\", T.Cast(\"int12\", A[vi]))") ==
        "T.Cast(\"int4\", T.Cast(\"int12\", A[vi]))");
  CHECK_THROWS_AS(parse(maps("int4", "int4", "T.int4(8)")), parse_error);
  CHECK_THROWS_AS(parse(maps("uint4", "uint4", "T.uint4(-1)")), parse_error);
  CHECK_THROWS_AS(parse(maps("float8_e4m3fn", "float8_e4m3fn", "T.infinity(\"float8_e4m3fn\")")),
                  parse_error);
  CHECK_THROWS_AS(parse(copies("int65")), parse_error);
  CHECK_THROWS_AS(parse(copies("float7_e3m3")), parse_error);
}

TEST_CASE("element types: a literal that the other type does not hold is no literal of it") {
  const ir::expr x = ir::make_var("x", dtype::i8);
  const ir::expr wide = x * ir::integer(dtype::i16, 256);  // as i8 it would be 0
  CHECK(wide.type() == dtype::i16);
  CHECK(wide->args[1]->integer == 256);
  CHECK((x * ir::integer(dtype::i16, 100)).type() == dtype::i8);
  const ir::expr small = ir::make_var("y", integer_type(3, false));
  CHECK((small * ir::integer(integer_type(4, false), -8)).type() == integer_type(4, false));
  CHECK((small + ir::integer(dtype::i32, -4)).type() == integer_type(3, false));
}

TEST_CASE("element types: small integers wrap at their width") {
  const std::vector<std::int8_t> a = nibbles();
  const auto wrapped = [](int v) { return static_cast<std::int8_t>(((v + 8) & 15) - 8); };
  const auto sum = computed<std::int8_t>(maps("int4", "int4", "A[vi] + T.int4(5)"), a);
  const auto product = computed<std::int8_t>(maps("int4", "int4", "A[vi] * A[vi]"), a);
  const auto shifted = computed<std::int8_t>(maps("int4", "int4", "A[vi] << T.int4(2)"), a);
  const auto inverse = computed<std::int8_t>(maps("int4", "int4", "~A[vi]"), a);
  const auto wide =
      computed<std::int32_t>(maps("int4", "int32", "T.Cast(\"int32\", A[vi]) * 10"), a);
  const auto as_unsigned =
      computed<std::uint8_t>(maps("int4", "uint4", "T.reinterpret(\"uint4\", A[vi])"), a);
  const auto ones = computed<std::int8_t>(maps("int4", "int4", "T.popcount(A[vi])"), a);
  for (int i = 0; i < 16; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int v = i - 8;
    CHECK(sum[at] == wrapped(v + 5));
    CHECK(product[at] == wrapped(v * v));
    CHECK(shifted[at] == wrapped(v * 4));
    CHECK(inverse[at] == wrapped(-v - 1));
    CHECK(wide[at] == v * 10);
    CHECK(as_unsigned[at] == (v & 15));
    CHECK(ones[at] == wrapped(__builtin_popcount(static_cast<unsigned>(v & 15))));
  }
  // Bits of memory above the width are none of the value.
  CHECK(computed<std::int32_t>(maps("int4", "int32", "T.Cast(\"int32\", A[vi])", 2),
                               std::vector<std::uint8_t>{0x0f, 0xf7}) ==
        std::vector<std::int32_t>{-1, 7});
  CHECK(computed<std::uint16_t>(maps("float32", "uint12", "T.Cast(\"uint12\", A[vi])", 4),
                                std::vector<float>{-3.0f, 7.9f, 5000.0f, 4095.0f}) ==
        std::vector<std::uint16_t>{0, 7, 4095, 4095});
  CHECK(computed<std::int32_t>(maps("int32", "int24", "T.Cast(\"int24\", A[vi]) << T.int24(25)", 2),
                               std::vector<std::int32_t>{1, 0x1400000}) ==
        std::vector<std::int32_t>{2, -0x800000});
}

TEST_CASE("element types: narrow floats are computed in f32 and rounded where they are stored") {
  const auto raw = [](const char* type, double x) {
    return round_to_narrow(*dtype_from_name(type), x);
  };
  for (const char* type : {"float8_e4m3fn", "float8_e5m2", "float8_e3m4", "float6_e2m3fn",
                           "float4_e2m1fn", "float8_e4m3b11fnuz"}) {
    CAPTURE(type);
    const std::vector<float> x{0.0f, 0.3f, -1.7f, 2.6f, 1.0f / 3};
    std::vector<std::uint8_t> stored;
    for (float v : x) stored.push_back(raw(type, v));
    const std::string cast = "T.Cast(\"" + std::string(type) + "\", A[vi])";
    CHECK(computed<std::uint8_t>(maps("float32", type, cast, 5), x) == stored);
    std::vector<float> wide;
    std::vector<std::uint8_t> sums;
    for (std::uint8_t r : stored) {
      const float v = widen_narrow(*dtype_from_name(type), r);
      wide.push_back(v);
      sums.push_back(raw(type, static_cast<double>(v * v + v)));
    }
    CHECK(computed<float>(maps(type, "float32", "T.Cast(\"float32\", A[vi])", 5), stored) == wide);
    CHECK(computed<std::uint8_t>(maps(type, type, "A[vi] * A[vi] + A[vi]", 5), stored) == sums);
  }
  CHECK(computed<std::uint8_t>(maps("float8_e4m3fn", "uint8", "T.reinterpret(\"uint8\", A[vi])", 2),
                               std::vector<std::uint8_t>{0x38, 0x81}) ==
        std::vector<std::uint8_t>{0x38, 0x81});
  CHECK(computed<float>(maps("uint8", "float32",
                             "T.Cast(\"float32\", T.reinterpret(\"float8_e5m2\", A[vi]))", 2),
                        std::vector<std::uint8_t>{0x3c, 0xbc}) == std::vector<float>{1.0f, -1.0f});
}

TEST_CASE("vectors: values have lanes, and scalars beside them are spread") {
  const function f = read(
      "@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((4,), \"float32x4\")):\n"
      "    for i in range(4):\n        with T.block(\"b\"):\n"
      "            vi = T.axis.spatial(4, i)\n"
      "            B[vi] = T.max(A[vi * 4:vi * 4 + 4] * T.float32(2), T.float32x4(1.0)) + B[vi]\n");
  const std::string text = print(f);
  CHECK(text.find("T.Broadcast(T.float32(2.0), 4)") != std::string::npos);
  CHECK(text.find("T.Broadcast(T.float32(1.0), 4)") != std::string::npos);
  CHECK(text.find("T.reads(A[vi * 4:vi * 4 + 4], B[vi])") != std::string::npos);
  const auto refused = [](const std::string& line) {
    CHECK_THROWS_AS(
        parse("@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((4,), "
              "\"float32x4\")):\n    " +
              line + "\n"),
        parse_error);
  };
  refused("B[0] = A[0:8]");
  refused("B[0] = A[0:4] + A[0:8]");
  refused("A[0] = B[0]");
  refused("A[T.Ramp(0, 1, 0)] = B[0]");
  refused("A[0:4] = T.Broadcast(B[0], 4)");
  refused("A[0:4] = T.if_then_else(B[0] > B[1], B[0], B[1])");
}

TEST_CASE("vectors: computed lane by lane, all lanes before the first is stored") {
  std::vector<float> a(16);
  for (std::size_t i = 0; i < 16; ++i) a[i] = static_cast<float>(i);
  const auto run = [&](const std::string& body, std::vector<float> b) {
    const function f = read(
        "@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((4,), "
        "\"float32x4\")):\n" +
        body);
    std::vector<float> x = a;
    interpret(f, {{x.data(), {}}, {b.data(), {}}});
    b.insert(b.end(), x.begin(), x.end());
    return b;
  };
  const std::vector<float> zeros(16);
  std::vector<float> out =
      run("    for i in range(4):\n        B[i] = A[i * 4:i * 4 + 4] + T.float32(1)\n", zeros);
  for (std::size_t i = 0; i < 16; ++i) CHECK(out[i] == a[i] + 1);
  out = run("    A[0:8] = A[1:9]\n", zeros);  // the old values move, not the new ones
  for (std::size_t i = 0; i < 8; ++i) CHECK(out[16 + i] == a[i + 1]);
  out =
      run("    A[T.Ramp(0, 3, 4)] = T.Select(A[0:4] > T.float32(1), A[0:4], "
          "T.Broadcast(T.float32(-1), 4))\n",
          zeros);
  CHECK(out[16] == -1.0f);
  CHECK(out[16 + 3] == -1.0f);
  CHECK(out[16 + 6] == 2.0f);
  CHECK(out[16 + 9] == 3.0f);
  out =
      run("    x: T.float32x4 = A[4:8]\n    B[0] = x * x\n    B[1] = T.Shuffle([x, A[0:4]], [0, 5, "
          "2, 7])\n"
          "    A[0:2] = T.vectorhigh(\"float32x2\", x)\n    B[2] = T.vectorcombine(\"float32x4\", "
          "A[8:10], A[10:12])\n",
          zeros);
  CHECK(std::vector<float>(out.begin(), out.begin() + 12) ==
        std::vector<float>{16, 25, 36, 49, 4, 1, 6, 3, 8, 9, 10, 11});
  CHECK(out[16] == 6.0f);
  CHECK(out[17] == 7.0f);
  out = run("    B[1] = T.Cast(\"float32x4\", T.Cast(\"int32x4\", T.sqrt(A[0:4] + A[1:5])))\n",
            zeros);
  CHECK(std::vector<float>(out.begin() + 4, out.begin() + 8) == std::vector<float>{1, 1, 2, 2});
}

TEST_CASE("vectors: the bits of one number of lanes as another") {
  const std::string text =
      "@T.prim_func\ndef main(A: T.Buffer((2,), \"int32\"), B: T.Buffer((8,), \"uint8\")):\n"
      "    for i in range(2):\n        x: T.uint8x4 = T.reinterpret(\"uint8x4\", A[i])\n"
      "        B[i * 4:i * 4 + 4] = x\n"
      "        A[i] = T.reinterpret(\"int32\", T.Shuffle([x], [3, 2, 1, 0]))\n";
  std::vector<std::int32_t> a{0x04030201, -2};
  std::vector<std::uint8_t> b(8);
  interpret(read(text), {{a.data(), {}}, {b.data(), {}}});
  CHECK(b == std::vector<std::uint8_t>{1, 2, 3, 4, 254, 255, 255, 255});
  CHECK(a == std::vector<std::int32_t>{0x01020304, -0x01000001});
}

TEST_CASE("vectors: taken apart, a program has none and keeps its memory") {
  const function f = read(
      "@T.prim_func\ndef main(A: T.Buffer((4, 2), \"float16x8\", strides=(3, 1)), B: "
      "T.Buffer((8,), "
      "\"float16x8\")):\n    for i, j in T.grid(4, 2):\n        with T.block(\"b\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n            B[vi * 2 + vj] = A[vi, "
      "vj]\n");
  CHECK(has_vectors(f));
  const function g = scalarize(f);
  verify(g);
  CHECK(!has_vectors(g));
  CHECK(equal(g, parse(print(g))));
  CHECK(print(g).find("A: T.Buffer((4, 2, 8), \"float16\", strides=(24, 8, 1))") !=
        std::string::npos);
  CHECK(print(g).find("T.reads(A[vi, vj, 0:8])") != std::string::npos);
  const function none = parse(copies("float32"));
  CHECK(scalarize(none).body == none.body);
  CHECK_THROWS_AS(scalarize(parse(copies("float32xvscalex4"))), argument_error);
}

TEST_CASE("vectors: a shuffle is printed with its lists") {
  const function f = read(
      "@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\")):\n"
      "    A[0:4] = T.Shuffle([A[4:8], A[8:10]], [5, 0, 1, 4])\n");
  CHECK(print(f).find("T.Shuffle([A[T.Ramp(4, 1, 4)], A[T.Ramp(8, 1, 2)]], [5, 0, 1, 4])") !=
        std::string::npos);
}

TEST_CASE("vectors: programs for machines are read and printed") {
  read(
      "@T.prim_func\ndef main(A: T.Buffer((16,), \"int8\"), B: T.Buffer((16,), \"int8\"), C: "
      "T.Buffer((4,), \"int32\")):\n    with T.block(\"root\"):\n"
      "        T.reads(A[0:16], B[0:16], C[0:4])\n        T.writes(C[0:4])\n"
      "        x = A.vload([0], dtype=\"int8x16\")\n"
      "        y: T.int32x4 = T.reinterpret(\"int32x4\", x)\n"
      "        C[T.Ramp(0, 1, 4)] = T.call_llvm_pure_intrin(\"int32x4\", \"llvm.x\", C[0:4], y, "
      "T.Broadcast(1, 4))\n");
  read(
      "@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\")):\n"
      "    A[T.Ramp(0, 1, 4 * T.vscale())] = T.Broadcast(T.float32(1), 4 * T.vscale())\n");
}
