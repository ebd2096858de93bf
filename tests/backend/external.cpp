// C functions in programs: the interpreter and machine code call the same ones.
#include <tilewright/ir/external.hpp>

#include <tilewright/backend/compile.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>

#include "harness.hpp"

using namespace tilewright;

namespace {

void product(const float* a, const float* b, float* c, int m, int n, std::int64_t k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      c[i * n + j] = 0;
      for (std::int64_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
}
float blend(float x, double y, int z) { return x + static_cast<float>(y) * static_cast<float>(z); }
std::int64_t count_of(const float* a, std::int64_t n) {
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < n; ++i) out += a[i] > 0 ? 1 : 0;
  return out;
}
/// Doubles as many elements as the third argument says, times the fourth.
void scale(const ir::packed_argument* a, std::int32_t count) {
  if (count != 4 || a[2].type != static_cast<std::int32_t>(dtype::i32)) return;
  const auto* from = static_cast<const float*>(a[0].value.pointer);
  auto* to = static_cast<float*>(a[1].value.pointer);
  for (std::int64_t i = 0; i < a[2].value.integer; ++i) to[i] = from[i] * a[3].value.f32;
}

struct known {
  known() {
    ir::add_external("test_product", &product);
    ir::add_external("test_blend", &blend);
    ir::add_external("test_count", &count_of);
    ir::add_packed("test_scale", &scale);
  }
  ~known() {
    for (const char* name : {"test_product", "test_blend", "test_count", "test_scale"})
      ir::remove_external(name);
  }
};

constexpr const char* plain = R"(@T.prim_func
def main(A: T.Buffer((6, 8), "float32"), B: T.Buffer((8, 10), "float32"), D: T.Buffer((6, 10), "float32")):
    C = T.alloc_buffer((6, 10), "float32")
    for i, j, k in T.grid(6, 10, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(6, 10):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)";

constexpr const char* by_library = R"(@T.prim_func
def by_library(A: T.Buffer((6, 8), "float32"), B: T.Buffer((8, 10), "float32"), D: T.Buffer((6, 10), "float32")):
    C = T.alloc_buffer((6, 10), "float32")
    with T.block("C"):
        T.reads(A[0:6, 0:8], B[0:8, 0:10])
        T.writes(C[0:6, 0:10])
        T.evaluate(T.call_extern("int32", "test_product", A.data, B.data, C.data, 6, 10, 8))
    for i, j in T.grid(6, 10):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)";

/// What the interpreter leaves in the parameters.
std::vector<harness::argument> interpreted(const ir::function& f) {
  std::vector<harness::argument> out = harness::make_arguments(f, {});
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : out) views.push_back({a.bytes.data(), a.strides});
  ir::interpret(f, views, {});
  return out;
}

/// Interpreted and compiled, `f` leaves what `expected` says.
void check_both(const ir::function& f, const std::vector<harness::argument>& expected) {
  const std::vector<harness::argument> slow = interpreted(f);
  for (std::size_t i = 0; i < slow.size(); ++i)
    CHECK(harness::difference(slow[i], expected[i]) < 1e-6);
  if (!harness::have_compiler()) return;
  std::vector<harness::argument> fast = harness::make_arguments(f, {});
  const ir::function lowered = pass::lower(f, target::host());
  REQUIRE(harness::run_compiled(lowered, target::host(), fast, {}) == backend::call_done);
  for (std::size_t i = 0; i < fast.size(); ++i)
    CHECK(harness::difference(fast[i], expected[i]) < 1e-6);
}

std::string refusal_of(const std::string& call) {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    with T.block("C"):
        T.reads(A[0:6, 0:8])
        T.writes(C[0:6, 0:8])
        T.evaluate()" + call + ")\n");
  try {
    interpreted(f);
  } catch (const error& e) {
    if (!harness::have_compiler()) return e.what();
    const std::string slow = e.what();
    try {
      backend::compile(pass::lower(f, target::host()), target::host());
    } catch (const error&) {
      return slow;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("external: a library's product instead of a block") {
  const known functions;
  const auto expected = interpreted(ir::parse(plain));
  check_both(ir::parse(by_library), expected);
}

TEST_CASE("external: scalars, results, pointers into the middle, loops that run in parallel") {
  const known functions;
  check_both(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32"), N: T.Buffer((4,), "int64")):
    for i in T.parallel(4):
        with T.block("N"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(N[vi])
            N[vi] = T.call_extern("int64", "test_count", A.access_ptr("r", offset=vi * 8), 8)
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.call_extern("float32", "test_blend", A[vi, vj], T.float64(0.5), vj)
)"),
             interpreted(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32"), N: T.Buffer((4,), "int64")):
    for i, k in T.grid(4, 8):
        with T.block("N"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                N[vi] = T.int64(0)
            N[vi] = N[vi] + T.Select(A[vi, vk] > T.float32(0), T.int64(1), T.int64(0))
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + T.float32(0.5) * T.cast(vj, "float32")
)")));
}

TEST_CASE("external: packed calls say what each argument is") {
  const known functions;
  check_both(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    with T.block("C"):
        T.reads(A[0:6, 0:8])
        T.writes(C[0:6, 0:8])
        T.call_packed("test_scale", A.data, C.data, 48, T.float32(3))
)"),
             interpreted(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    for i, j in T.grid(6, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(3)
)")));
}

TEST_CASE("external: what does not fit is refused by both engines, with the argument") {
  const known functions;
  CHECK(refusal_of(R"(T.call_extern("int32", "test_product", A.data, A.data, C.data, 6, 8))") ==
        "function test_product takes 6 arguments, not 5");
  CHECK(refusal_of(R"(T.call_extern("int32", "test_product", A.data, 1, C.data, 6, 8, 8))") ==
        "argument 1 of function test_product is a value of type int32, not handle");
  CHECK(refusal_of(R"(T.call_extern("int32", "test_count", A.data, 48))") ==
        "function test_count gives int64, not int32");
  CHECK(refusal_of(R"(T.call_packed("test_unknown", A.data))") ==
        "function test_unknown of a packed call is not known; ir::add_packed makes it known");
  CHECK(refusal_of(R"(T.call_extern("int32", "test_unknown", A.data))") ==
        "function test_unknown is not known; ir::add_external makes it known");
  CHECK_THROWS_WITH_AS(ir::add_external("exp", &blend), doctest::Contains("(requirement 1)"),
                       argument_error);
  ir::external_function nothing;
  nothing.name = "test_nothing";
  CHECK_THROWS_WITH_AS(ir::add_external(nothing), doctest::Contains("(requirement 2)"),
                       argument_error);
}
