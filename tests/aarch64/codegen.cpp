// Code for AArch64, run in an emulator and compared with the interpreter.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

#include "emulated_machine.hpp"

using namespace tilewright;

namespace {

struct program {
  const char* what;
  const char* script;
};

constexpr program product{"product and epilogue", R"(
@T.prim_func
def main(A: T.Buffer((37, 50), "float32"), B: T.Buffer((50, 45), "float32"), D: T.Buffer((37, 45), "float32")):
    C = T.alloc_buffer((37, 45), "float32")
    for i, j, k in T.grid(37, 45, 50):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(37, 45):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
)"};

constexpr program elementwise{"elementwise with functions", R"(
@T.prim_func
def main(X: T.Buffer((5, 77), "float32"), Y: T.Buffer((5, 77), "float32")):
    for i, j in T.grid(5, 77):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.tanh(X[vi, vj]) + T.exp(X[vi, vj] * T.float32(0.25)) * T.sin(X[vi, vj]) + T.asin(X[vi, vj] * T.float32(0.01))
)"};

constexpr program softmax{"softmax", R"(
@T.prim_func
def main(X: T.Buffer((7, 61), "float32"), Y: T.Buffer((7, 61), "float32")):
    M = T.alloc_buffer((7,), "float32")
    E = T.alloc_buffer((7, 61), "float32")
    S = T.alloc_buffer((7,), "float32")
    for i, j in T.grid(7, 61):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.float32(-3.4028234663852886e+38)
            M[vi] = T.max(M[vi], X[vi, vj])
    for i, j in T.grid(7, 61):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(X[vi, vj] - M[vi])
    for i, j in T.grid(7, 61):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vj]
    for i, j in T.grid(7, 61):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = E[vi, vj] / S[vi]
)"};

constexpr program byte_product{"product of bytes", R"(
@T.prim_func
def main(A: T.Buffer((19, 64), "int8"), B: T.Buffer((24, 64), "int8"), C: T.Buffer((19, 24), "int32")):
    for i, j, k in T.grid(19, 24, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.int32(0)
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])
)"};

constexpr program convolution{"convolution with padding", R"(
@T.prim_func
def main(X: T.Buffer((1, 12, 11, 8), "float32"), W: T.Buffer((3, 3, 8, 20), "float32"), Y: T.Buffer((1, 12, 11, 20), "float32")):
    P = T.alloc_buffer((1, 14, 13, 8), "float32")
    for n, h, w, c in T.grid(1, 14, 13, 8):
        with T.block("P"):
            vn, vh, vw, vc = T.axis.remap("SSSS", [n, h, w, c])
            P[vn, vh, vw, vc] = T.if_then_else(1 <= vh and vh < 13 and 1 <= vw and vw < 12, X[vn, vh - 1, vw - 1, vc], T.float32(0))
    for n, h, w, k, r, s, c in T.grid(1, 12, 11, 20, 3, 3, 8):
        with T.block("Y"):
            vn, vh, vw, vk, vr, vs, vc = T.axis.remap("SSSSRRR", [n, h, w, k, r, s, c])
            with T.init():
                Y[vn, vh, vw, vk] = T.float32(0)
            Y[vn, vh, vw, vk] = Y[vn, vh, vw, vk] + P[vn, vh + vr, vw + vs, vc] * W[vr, vs, vc, vk]
)"};

constexpr program column_sums{"sums in f64, and of halves", R"(
@T.prim_func
def main(X: T.Buffer((33, 29), "float64"), H: T.Buffer((29, 40), "float16"), Y: T.Buffer((29,), "float64"), Z: T.Buffer((29,), "float32")):
    for j, i in T.grid(29, 33):
        with T.block("Y"):
            vj, vi = T.axis.remap("SR", [j, i])
            with T.init():
                Y[vj] = T.float64(0)
            Y[vj] = Y[vj] + X[vi, vj]
    for j, i in T.grid(29, 40):
        with T.block("Z"):
            vj, vi = T.axis.remap("SR", [j, i])
            with T.init():
                Z[vj] = T.float32(0)
            Z[vj] = Z[vj] + T.Cast("float32", H[vj, vi])
)"};

constexpr const char* cpus[] = {"aarch64", "neoverse-n1", "neoverse-v1", "a64fx"};

/// Both as it stands and as the default space schedules it.
void check_agrees(const program& p) {
  if (!emulated::there()) return;
  const ir::function f = ir::parse(p.script);
  for (const char* name : cpus) {
    const target::cpu cpu = target::named(name);
    const space::context where{cpu, 1};
    const schedule best = search::default_schedule(f, space::default_cpu(), where, 42);
    for (const ir::function& scheduled : {f, best.function()}) {
      INFO(p.what, " for ", name);
      search::runner r(f, {}, backend::serial_executor(), 7);
      const backend::artifact code = backend::compile(pass::lower(scheduled, cpu), cpu);
      CHECK(code.isa == cpu.isa_key());
      CHECK(search::verify_against_interpreter(f, r,
                                               [&] { return emulated::call(code, cpu, r); }) == "");
    }
  }
}

}  // namespace

TEST_CASE("AArch64: elementwise functions") { check_agrees(elementwise); }
TEST_CASE("AArch64: product") { check_agrees(product); }
TEST_CASE("AArch64: softmax") { check_agrees(softmax); }
TEST_CASE("AArch64: bytes") { check_agrees(byte_product); }
TEST_CASE("AArch64: convolution") { check_agrees(convolution); }
TEST_CASE("AArch64: reductions in f64 and from halves") { check_agrees(column_sums); }

TEST_CASE("AArch64: vectors are those of the CPU") {
  if (!backend::compiler_available()) return;
  const auto assembly = [](const program& p, const char* name) {
    const target::cpu cpu = target::named(name);
    const ir::function f = ir::parse(p.script);
    const schedule s = search::default_schedule(f, space::default_cpu(), {cpu, 1}, 42);
    return backend::inspect(pass::lower(s.function(), cpu), cpu, backend::stage::assembly);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(assembly(product, "neoverse-n1"), ".4s"));
  CHECK_FALSE(has(assembly(product, "neoverse-n1"), "\tptrue"));
  CHECK(has(assembly(product, "neoverse-v1"), "\tptrue"));
  CHECK(has(assembly(byte_product, "neoverse-n1"), "\tsdot"));
  CHECK_FALSE(has(assembly(byte_product, "cortex-a72"), "\tsdot"));
}

TEST_CASE("the loader refuses code for another architecture by name") {
  if (!backend::compiler_available() || target::host_architecture() != target::architecture::x86_64)
    return;
  const target::cpu cpu = target::named("aarch64");
  const backend::artifact a = backend::compile(pass::lower(ir::parse(softmax.script), cpu), cpu);
  CHECK_THROWS_WITH_AS(
      backend::load(a),
      "object code is for aarch64, and this machine is x86-64; a worker on a machine of that "
      "architecture runs it",
      build_error);
}
