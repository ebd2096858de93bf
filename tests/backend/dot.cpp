// Implementations of tensor intrinsics, compiled for every target that runs here.
#include <tilewright/intrin/library.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/schedule/schedule.hpp>

#include "harness.hpp"

using namespace tilewright;

namespace {

/// Compiled code gives what the interpreter gives for the unlowered function.
void check_lowered(const ir::function& f) {
  if (!harness::have_compiler()) return;
  std::vector<harness::argument> expected = harness::make_arguments(f, {});
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : expected) views.push_back({a.bytes.data(), a.strides});
  ir::interpret(f, views, {});
  std::vector<target::cpu> targets = harness::runnable_targets();
  target::cpu narrow = target::host();  // the same instructions in vectors of 256 bits
  narrow.vector_bits = 256;
  targets.push_back(narrow);
  for (const target::cpu& cpu : targets) {
    CAPTURE(cpu.name);
    std::vector<harness::argument> got = harness::make_arguments(f, {});
    CHECK(harness::run_compiled(pass::lower(f, cpu), cpu, got, {}) == backend::call_done);
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(harness::difference(got[i], expected[i]) == 0);
  }
}

}  // namespace

TEST_CASE("dot: every intrinsic of the library, compiled, is its interpretation") {
  for (const intrin::library_entry& e : intrin::library()) {
    INFO(std::string(e.name));
    check_lowered(e.make().implementation);
  }
}

TEST_CASE("dot: factors that are not packed in memory, and values that are no loads") {
  check_lowered(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 16), "uint8"), B: T.Buffer((16, 4), "int8"), C: T.Buffer((16,), "int32")):
    with T.block("root"):
        for i in T.vectorized(16):
            C[i] = T.call_extern("int32", "dot4", C[i], A[0, i], A[1, i], A[2, i], A[3, i], B[i, 3], B[i, 2], B[i, 1], B[i, 0])
)"));
  check_lowered(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int8"), C: T.Buffer((3,), "int32")):
    with T.block("root"):
        for i in range(3):
            C[i] = T.call_extern("int32", "dot4", C[i], A[i], A[i + 1], A[i + 2], A[i + 3], T.int8(-128), T.int8(127), A[i], T.int8(3))
)"));
}

TEST_CASE("dot: a tensorized matrix product of bytes") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((8, 32), "uint8"), W: T.Buffer((2, 8, 16, 4), "int8"), C: T.Buffer((8, 32), "int32")):
    for i, j, k in T.grid(8, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(X[vi, vk], "int32") * T.cast(W[vj // 16, vk // 4, vj % 16, vk % 4], "int32")
)");
  schedule s(f);
  const block_rv c = s.block("C");
  const std::vector<loop_rv> l = s.get_loops(c);
  const auto j = s.split(l[1], {infer, 16});
  const auto k = s.split(l[2], {infer, 4});
  s.reorder(k[0], j[1], k[1]);
  s.decompose_reduction(c, k[0]);
  s.tensorize(j[1], "dot_16x4_vnni");
  check_lowered(s.function());
}

TEST_CASE("dot: a tensorized product of signed bytes, its tile in registers, with rows left over") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((14, 32), "int8"), W: T.Buffer((2, 8, 16, 4), "int8"), C: T.Buffer((14, 32), "int32")):
    for i, j, k in T.grid(14, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(X[vi, vk], "int32") * T.cast(W[vj // 16, vk // 4, vj % 16, vk % 4], "int32")
)");
  schedule s(f);
  const block_rv c = s.block("C");
  const std::vector<loop_rv> l = s.get_loops(c);
  const auto i = s.split(l[0], {infer, 5});
  const auto j = s.split(l[1], {infer, 16});
  const auto k = s.split(l[2], {infer, 4});
  s.reorder(i[0], k[0], i[1], j[0], j[1], k[1]);
  s.unroll(i[1]);
  s.decompose_reduction(c, k[0]);
  s.tensorize(j[1], "dot_16x4_i8i8i32");
  check_lowered(s.function());
}

TEST_CASE("dot: a matrix product of outer products, its tile in registers") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12, 20), "float32"), B: T.Buffer((20, 32), "float32"), C: T.Buffer((12, 32), "float32")):
    for i, j, k in T.grid(12, 32, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  const std::vector<loop_rv> l = s.get_loops(c);
  const auto i = s.split(l[0], {infer, 6});
  const auto j = s.split(l[1], {infer, 16});
  s.reorder(i[0], j[0], l[2], i[1], j[1]);
  s.decompose_reduction(c, l[2]);
  s.tensorize(i[1], "outer_product_6x16_f32");
  // the samples are multiples of 3/8, so all sums are exact whatever is contracted
  check_lowered(s.function());
}

TEST_CASE("dot: sums of products of short integers take one instruction where there is one") {
  const auto program = [](const std::string& a, const std::string& b, const std::string& factor) {
    return ir::parse("@T.prim_func\ndef main(A: T.Buffer((3, 16), \"" + a +
                     "\"), B: T.Buffer((3, 16), \"" + b +
                     "\"), C: T.Buffer((16,), \"int32\")):\n"
                     "    with T.block(\"root\"):\n"
                     "        for k in range(3):\n"
                     "            for i in T.vectorized(16):\n"
                     "                C[i] = C[i] + T.cast(A[k, i], \"int32\") * T.cast(" +
                     factor + ", \"int32\")\n");
  };
  for (const char* a : {"int8", "uint8", "int16", "uint16", "int32"})
    for (const char* b : {"int8", "uint8", "int16"})
      for (const char* factor : {"B[k, i]", "B[k, 0]"}) check_lowered(program(a, b, factor));
  // the least numbers, whose products are the largest
  check_lowered(ir::parse(R"(@T.prim_func
def main(C: T.Buffer((16,), "int32")):
    with T.block("root"):
        for i in T.vectorized(16):
            C[i] = C[i] + T.cast(T.cast(i - 32768, "int16"), "int32") * T.cast(T.int16(-32768), "int32")
)"));
  if (!harness::have_compiler()) return;
  const auto code = [&](const ir::function& f, const char* cpu) {
    const target::cpu of = target::named(cpu);
    return backend::inspect(pass::lower(f, of), of, backend::stage::assembly);
  };
  CHECK(code(program("int8", "int8", "B[k, 0]"), "cascadelake").find("vpdpwssd") !=
        std::string::npos);
  CHECK(code(program("uint16", "int8", "B[k, 0]"), "cascadelake").find("vpdpwssd") ==
        std::string::npos);  // 16 bits do not hold it with a sign
}

TEST_CASE("dot: bytes near each other are loaded together, whatever of them is read") {
  const auto program = [](const std::string& width, const std::string& guard, const std::string& x0,
                          const std::string& x1, const std::string& x2, const std::string& x3,
                          const std::string& type = "int8") {
    return ir::parse("@T.prim_func\ndef main(X: T.Buffer((4, " + width + "), \"" + type +
                     "\"), F: T.Buffer((4, 4), \"int8\"), C: T.Buffer((4, 16), \"int32\")):\n"
                     "    with T.block(\"root\"):\n"
                     "        for i in range(4):\n"
                     "            for q in T.vectorized(16):\n"
                     "                if " +
                     guard +
                     ":\n"
                     "                    C[i, q] = T.call_extern(\"int32\", \"dot4\", C[i, q], " +
                     x0 + ", " + x1 + ", " + x2 + ", " + x3 +
                     ", F[i, 0], F[i, 1], F[i, 2], F[i, 3])\n");
  };
  for (const char* type : {"int8", "uint8"})
    for (const char* guard : {"0 <= q", "q < 11", "q < 13 and i < 3"}) {
      // the last row ends with the last byte, or has as many behind it as vectors have
      for (const char* width : {"50", "51", "80"})
        check_lowered(program(width, guard, "X[i, q * 3]", "X[i, q * 3 + 2]", "X[i, q * 3 + 4]",
                              "X[i, q * 3 + 4]", type));
      check_lowered(program("67", guard, "X[i, q * 4]", "X[i, q * 4 + 3]", "X[i, q * 4 + 6]",
                            "X[i, 66 - q * 4]", type));
      check_lowered(
          program("19", guard, "X[i, q]", "X[i, q + 1]", "X[i, q + 2]", "X[i, q + 3]", type));
      check_lowered(program("124", guard, "X[i, q * 8]", "X[i, q * 8 + 1]", "X[i, q * 8 + 2]",
                            "X[i, q * 8 + 3]", type));
    }
  // zeros outside of conditions: of lanes, of all lanes, of some groups that others share bytes with
  const auto inside = [](int tap, const std::string& more) {
    const std::string at = "q * 3 + " + std::to_string(tap);
    return "T.if_then_else(2 <= " + at + " and " + at + " < 45" + more + ", X[i, " + at +
           " - 2], T.int8(0))";
  };
  for (const char* guard : {"0 <= q", "q < 11"})
    for (const char* more : {"", " and i < 3", " and 1 <= i and i < 3"})
      check_lowered(
          program("43", guard, inside(0, more), inside(1, more), inside(2, more), inside(3, more)));
  check_lowered(program("43", "0 <= q", inside(0, " and i < 3"), inside(1, " and 1 <= i"),
                        inside(2, " and q < 3"), "X[i, q]"));
  if (!harness::have_compiler()) return;
  const target::cpu of = target::named("icelake-server");
  const ir::function f = program("80", "0 <= q", "X[i, q * 3]", "X[i, q * 3 + 1]",
                                 "X[i, q * 3 + 2]", "X[i, q * 3 + 2]", "uint8");
  const std::string code = backend::inspect(pass::lower(f, of), of, backend::stage::assembly);
  CHECK(code.find("vpermb") != std::string::npos);
  CHECK(code.find("vpinsrb") == std::string::npos);
}

TEST_CASE("dot: sums of differences between bytes, in groups and as values that are no loads") {
  for (const char* lanes : {"1", "2", "4", "8", "3"})
    for (const char* b0 : {"B[i, 0]", "T.uint8(200)"})
      check_lowered(
          ir::parse(std::string(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "uint8"), B: T.Buffer((8, 8), "uint8"), C: T.Buffer((8,), "int64")):
    with T.block("root"):
        for i in T.vectorized()") +
                    lanes + R"():
            C[i] = T.call_extern("int64", "sad8", C[i], A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5], A[i, 6], A[i, 7], )" +
                    b0 + ", B[i, 1], B[i, 2], B[i, 3], B[i, 4], B[i, 5], B[i, 6], B[i, 7])\n"));
  if (!harness::have_compiler()) return;
  const ir::function sums = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((1000,), "uint8"), B: T.Buffer((1000,), "uint8"), S: T.Buffer((1,), "int32")):
    for k in range(1000):
        with T.block("S"):
            vk = T.axis.reduce(1000, k)
            with T.init():
                S[0] = 0
            S[0] = S[0] + T.max(T.cast(A[vk], "int32") - T.cast(B[vk], "int32"), T.cast(B[vk], "int32") - T.cast(A[vk], "int32"))
)");
  check_lowered(sums);
  for (const char* name : {"haswell", "skylake-avx512"}) {
    const target::cpu of = target::named(name);
    CHECK(backend::inspect(pass::lower(sums, of), of, backend::stage::assembly).find("vpsadbw") !=
          std::string::npos);
  }
}
