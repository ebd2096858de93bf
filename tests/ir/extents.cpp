#include <tilewright/ir/extents.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include <tilewright/ir/specialize.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

std::string refusal(const ir::function& f) {
  try {
    ir::check_extents(f);
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

ir::function copy(const std::string& shape, const std::string& type = "float32") {
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer(" + shape + ", \"" + type +
                   "\"), B: T.Buffer((1,), \"" + type +
                   "\")):\n    for i in range(1):\n        B[i] = A[0, 0]\n");
}

ir::function sum(const std::string& loops) {
  return ir::parse("@T.prim_func\ndef main(B: T.Buffer((1,), \"float32\")):\n" + loops);
}

/// B[n] = A[n, m] added up over m.
ir::function rows(const std::string& type) {
  return ir::parse(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.)" + type +
                   R"(()
    m = T.)" + type +
                   R"(()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
)");
}

std::string specialized(const std::string& type, std::int64_t n, std::int64_t m) {
  try {
    ir::specialize(rows(type), {{"n", n}, {"m", m}});
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("buffers that no memory holds are refused by name") {
  CHECK(refusal(copy("(1024, 1024)")).empty());
  CHECK(refusal(copy("(4294967296, 4194304)")).empty());  // 2^56 bytes
  CHECK(refusal(copy("(4294967296, 4194305)")) ==
        "buffer A of 4294967296 x 4194305 elements of float32 is larger than memory can be");
  CHECK(refusal(copy("(4294967296, 4294967296)")).find("buffer A") == 0);  // 2^64 elements: 0
  CHECK(refusal(copy("(4611686018427387904, 4611686018427387904)", "int8")).find("buffer A") == 0);
  CHECK(refusal(copy("(4611686018427387904, 0)")).empty());
}

TEST_CASE("nests of loops that no machine runs to their end are refused by name") {
  CHECK(refusal(sum("    for i, j in T.grid(16777216, 16777216):\n        B[0] = T.float32(1)\n"))
            .empty());
  const std::string nest =
      refusal(sum("    for i, j, k in T.grid(16777216, 16777216, 16777216):\n        B[0] = "
                  "T.float32(1)\n"));
  CHECK(nest ==
        "loops i of 16777216, j of 16777216, k of 16777216 run more often than any machine could");
  const std::string block = refusal(sum(R"(    for j in range(T.int64(2)):
        with T.block("B"):
            vj = T.axis.reduce(T.int64(4611686018427387904), j)
            B[0] = B[0] + T.float32(1)
)"));
  CHECK(block.find("block B: variables vj of 4611686018427387904 run") == 0);
}

TEST_CASE("chosen extents are held by their type, not negative, and of a size") {
  CHECK(specialized("int32", 3, 4).empty());
  CHECK(specialized("int32", 0, 4).empty());
  CHECK(specialized("int32", 4294967299, 4) ==
        "n = 4294967299 does not fit into int32, its type in function main");
  CHECK(specialized("int32", 3, -4) == "extent m = -4 is negative; extents are 0 or more");
  CHECK(specialized("int64", std::int64_t{1} << 62, 4)
            .find("m = 4, n = 4611686018427387904: "
                  "buffer A of 4611686018427387904 x 4") == 0);
  CHECK(specialized("int64", std::int64_t{1} << 32, std::int64_t{1} << 32)
            .find("m = 4294967296, n = 4294967296: buffer A") == 0);
}

TEST_CASE("extents: elements and bytes of a buffer") {
  const ir::expr n = ir::make_var("n", dtype::i64);
  const ir::buffer literal = ir::make_buffer("A", dtype::f64, {3, 5}),
                   other = ir::make_buffer("B", dtype::i16, {3, n, 4}),
                   one = ir::make_buffer("C", dtype::f32, {}),
                   vast = ir::make_buffer("D", dtype::i8,
                                          {ir::integer(dtype::i64, std::int64_t{1} << 40),
                                           ir::integer(dtype::i64, std::int64_t{1} << 40)});
  CHECK(ir::elements_of(literal) == 15);
  CHECK(ir::bytes_of(literal) == 120);
  CHECK(ir::elements_of(other) == 12);
  CHECK(ir::bytes_of(other) == 24);
  CHECK(ir::elements_of(other, 0) == 0);
  CHECK(ir::bytes_of(other, 7) == 168);
  CHECK(ir::elements_of(one, 0) == 1);
  CHECK(ir::bytes_of(one) == 4);
  CHECK(ir::bytes_of(vast) == std::numeric_limits<std::int64_t>::max());
}
