// Primitives on integers of any width, floats of 8 bits and less, and vectors: what a buffer holds is
// no business of most of them.
#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// A, as B of the type, through D, to C.
std::string chain(const std::string& type) {
  return "@T.prim_func\ndef main(A: T.Buffer((8, 6), \"float32\"), C: T.Buffer((8, 6), "
         "\"float32\")):\n"
         "    B = T.alloc_buffer((8, 6), \"" +
         type + "\")\n    D = T.alloc_buffer((8, 6), \"" + type +
         R"(")
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast(")" +
         type + R"(", A[vi, vj])
    for i, j in T.grid(8, 6):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] * B[vi, vj]
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.Cast("float32", D[vi, vj])
)";
}

/// Sums of rows of B, of the type, which is made of A; `zero` is the type's.
std::string sums(const std::string& type, const std::string& zero) {
  return "@T.prim_func\ndef main(A: T.Buffer((4, 8), \"int32\"), C: T.Buffer((4,), \"int32\")):\n"
         "    B = T.alloc_buffer((4, 8), \"" +
         type + "\")\n    D = T.alloc_buffer((4,), \"" + type +
         R"(")
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast(")" +
         type + R"(", A[vi, vj])
    for i, k in T.grid(4, 8):
        with T.block("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = )" +
         zero + R"(
            D[vi] = D[vi] + B[vi, vk]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.remap("S", [i])
            C[vi] = T.Cast("int32", D[vi])
)";
}

/// As `sums`, of vectors, whose lanes are summed at the end.
constexpr const char* sums_of_vectors = R"(
@T.prim_func
def main(A: T.Buffer((4, 32), "float32"), C: T.Buffer((16,), "float32")):
    D = T.alloc_buffer((4,), "float32x4")
    for i, k in T.grid(4, 8):
        with T.block("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = T.Broadcast(T.float32(0), 4)
            D[vi] = D[vi] + A[vi, vk * 4:vk * 4 + 4]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.remap("S", [i])
            C[vi * 4:vi * 4 + 4] = D[vi]
)";

constexpr const char* small_types[] = {
    "int4",        "uint4",         "int12",         "float8_e4m3fn",
    "float8_e5m2", "float4_e2m1fn", "float6_e3m2fn", "float8_e4m3b11fnuz"};

}  // namespace

TEST_CASE("element types: chains of blocks are scheduled whatever they hold") {
  for (const char* type : small_types) {
    CAPTURE(std::string(type));
    const ir::function f = ir::parse(chain(type));
    schedule s(f);
    const block_rv b = s.block("B"), d = s.block("D"), c = s.block("C");
    auto [i, j] = s.loops<2>(c);
    auto [i0, i1] = s.split(i, {infer, 3});
    s.compute_at(d, i0, true);
    s.compute_inline(b);
    s.cache_write(d, 0, "local");
    s.transform_layout(d, written_buffer(0), "lambda a, b: (b, a)");
    s.set_scope(d, 0, "shared");
    s.vectorize(j);
    s.parallel(i0);
    check_meaning(s, f);
  }
}

TEST_CASE("element types: the same element by element in vectors") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 24), "float32"), C: T.Buffer((8, 24), "float32")):
    B = T.alloc_buffer((8, 6), "float32x4")
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj * 4:vj * 4 + 4] * T.float32(3)
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, T.Ramp(vj * 4, 1, 4)] = T.max(B[vi, vj], T.float32x4(0))
)");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  auto [i, j] = s.loops<2>(c);
  auto [i0, i1] = s.split(i, {infer, 3});
  s.compute_at(b, i0);
  s.cache_write(b, 0, "local");
  s.cache_read(c, 0, "shared");
  s.transform_layout(b, written_buffer(0), "lambda a, b: (b, a)");
  s.fuse({i1, j});
  check_meaning(s, f);
  schedule inlined(f);
  inlined.compute_inline(inlined.block("B"));
  CHECK(ir::print(inlined.function()).find("T.max(A[vi, T.Ramp(vj * 4, 1, 4)] * ") !=
        std::string::npos);
  check_meaning(inlined, f);
}

TEST_CASE("element types: reductions") {
  for (const std::string type : {"int4", "uint4", "int24", "float8_e5m2"}) {
    CAPTURE(type);
    const ir::function f = ir::parse(sums(type, "T." + type + "(0)"));
    schedule s(f);
    auto [i, k] = s.loops<2>(s.block("D"));
    auto [k0, k1] = s.split(k, {infer, 4});
    if (is_float(*dtype_from_name(type))) {  // another order would round otherwise
      s.decompose_reduction(s.block("D"), k0);
    } else {
      const block_rv part = s.rfactor(k0, 0);
      s.decompose_reduction(part, s.get_loops(part)[0]);
      s.blockize(s.get_loops(s.block("D"))[1]);
    }
    check_meaning(s, f);
  }
  const ir::function f = ir::parse(sums_of_vectors);
  schedule s(f);
  auto [i, k] = s.loops<2>(s.block("D"));
  auto [k0, k1] = s.split(k, {infer, 4});
  s.rfactor(k0, 0);
  s.decompose_reduction(s.block("D"), s.get_loops(s.block("D"))[1]);
  check_meaning(s, f);  // sums of small integers, in any order
}

TEST_CASE("element types: unsafe_set_dtype to them") {
  const ir::function f = ir::parse(chain("int12"));
  schedule s(f);
  s.unsafe_set_dtype(s.block("D"), 0, "int24");
  check_meaning(s, f);
  s.unsafe_set_dtype(s.block("D"), 0,
                     "float8_e4m3fn");  // holds squares of numbers up to 5, rounded
  CHECK(s.get(s.block("D")).block->writes[0].buffer->type == dtype_from_name("float8_e4m3fn"));
  check_schedule(s, f);
  const block_rv d = s.block("D");
  check_refusal(s, "unsafe_set_dtype", 2, [&] { s.unsafe_set_dtype(d, 0, "float32x4"); });
  check_refusal(s, "unsafe_set_dtype", 2, [&] { s.unsafe_set_dtype(d, 0, "int65"); });
}
