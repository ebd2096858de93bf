#include <tilewright/space/modules/register_tiling_with_intrinsic.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/support/any.hpp>

#include "../kernels.hpp"
#include "../members.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// C = A B in these types, with max(., 0) behind it.
ir::function product(const std::string& a, const std::string& b, const std::string& c, int m, int n,
                     int k) {
  const auto t = [](int x) { return std::to_string(x); };
  const std::string zero = c == "int32" ? "0" : "T.float32(0)", sums = "\"" + c + "\"";
  return ir::parse(
      "@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) + "), \"" + a +
      "\"), B: T.Buffer((" + t(k) + ", " + t(n) + "), \"" + b + "\"), D: T.Buffer((" + t(m) + ", " +
      t(n) + "), " + sums + ")):\n" + "    C = T.alloc_buffer((" + t(m) + ", " + t(n) + "), " +
      sums + ")\n" + "    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " + t(k) +
      "):\n"
      "        with T.block(\"C\"):\n"
      "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
      "            with T.init():\n"
      "                C[vi, vj] = " +
      zero + "\n            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], " + sums +
      ") * T.cast(B[vk, vj], " + sums + ")\n    for i, j in T.grid(" + t(m) + ", " + t(n) +
      "):\n"
      "        with T.block(\"D\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            D[vi, vj] = T.max(C[vi, vj], " +
      zero + ")\n");
}

/// Sketches of the default space; those with the intrinsic come first, or all of the others do, and members of
/// all compute what the function computes.
void check_default(const ir::function& f, const char* cpu_name, const std::string& intrinsic,
                   double tolerance, int threads = 1) {
  CAPTURE(cpu_name);
  CAPTURE(intrinsic);
  const target::cpu cpu = target::named(cpu_name);
  const space::context where{&cpu, threads};
  const std::vector<schedule> all = space::default_cpu().sketches(f, where, 3);
  REQUIRE_FALSE(all.empty());
  const std::string call = "sch.tensorize(";
  std::vector<schedule> tensorized;
  for (const schedule& s : all)
    if (traces::mentions(s, call)) tensorized.push_back(s);
  CHECK(tensorized.empty() == intrinsic.empty());
  if (tensorized.empty()) return;
  CHECK(traces::mentions(tensorized[0], intrinsic));
  // plain vectors stay in the space
  CHECK(traces::mentions(all[0], call) != traces::mentions(all.back(), call));
  CHECK_FALSE(traces::mentions(space::default_cpu(48, false).sketches(f, where, 3)[0], call));
  members::check(f, tensorized, [](schedule&) {}, {.count = 6, .tolerance = tolerance});
}

}  // namespace

TEST_CASE("the default space has dot products of bytes where the CPU has instructions for them") {
  const ir::function mixed = product("uint8", "int8", "int32", 13, 32, 16),
                     equal = product("int8", "int8", "int32", 13, 32, 16);
  check_default(mixed, "cascadelake", "dot_16x4_vnni", 0);
  check_default(mixed, "skylake-avx512", "dot_16x4_avx512", 0);
  check_default(mixed, "haswell", "dot_8x4_avx2", 0);
  check_default(equal, "cascadelake", "dot_16x4_i8i8i32", 0);
  check_default(equal, "haswell", "dot_8x4_i8i8i32", 0, 4);
  check_default(mixed, "x86-64", "", 0);
}

TEST_CASE("the default space has dot products of brain floats where the CPU has them") {
  const ir::function f = product("bfloat16", "bfloat16", "float32", 13, 32, 16);
  check_default(f, "znver4", "dot_16x2_bf16", 1e-5);
  check_default(f, "haswell", "", 1e-5);
}

TEST_CASE("extents that no instruction divides are padded") {
  check_default(product("uint8", "int8", "int32", 5, 19, 7), "cascadelake", "dot_16x4_vnni", 0);
}

TEST_CASE("groups are split before an instruction is sought; few columns take a narrow one") {
  const auto grouped = [](int filters) {
    const std::string k = std::to_string(filters), own = std::to_string(filters / 2);
    return ir::parse("@T.prim_func\ndef main(X: T.Buffer((16, 9), \"uint8\"), F: T.Buffer((" + k +
                     ", 8, 3), \"int8\"), Y: T.Buffer((" + k +
                     ", 7), \"int32\")):\n    for k, p, c, r in T.grid(" + k +
                     ", 7, 8, 3):\n"
                     "        with T.block(\"Y\"):\n"
                     "            vk, vp, vc, vr = T.axis.remap(\"SSRR\", [k, p, c, r])\n"
                     "            with T.init():\n"
                     "                Y[vk, vp] = 0\n"
                     "            Y[vk, vp] = Y[vk, vp] + T.cast(X[vk // " +
                     own + " * 8 + vc, vp + vr], \"int32\") * T.cast(F[vk, vc, vr], \"int32\")\n");
  };
  check_default(grouped(32), "cascadelake", "dot_16x4_vnni", 0);
  check_default(grouped(16), "cascadelake", "dot_8x4_vnni", 0);
}

TEST_CASE("what no instruction does is tiled as before") {
  const target::cpu cpu = target::named("znver4");
  const space::context where{&cpu, 1};
  for (const ir::function& f : {kernels::dense_relu(), kernels::conv2d(), kernels::softmax()})
    for (const schedule& s : space::default_cpu().sketches(f, where, 3))
      CHECK_FALSE(traces::mentions(s, "sch.tensorize("));
}

TEST_CASE("results with channels first are transposed behind all tiles, or with each") {
  const auto convolution = [](int outputs) {
    const std::string n = std::to_string(outputs), inputs = std::to_string(outputs + 2);
    return ir::parse("@T.prim_func\ndef main(X: T.Buffer((16, " + inputs +
                     "), \"uint8\"), F: T.Buffer((32, 16, 3), \"int8\"), Y: T.Buffer((32, " + n +
                     "), \"int32\")):\n    for k, p, c, r in T.grid(32, " + n +
                     ", 16, 3):\n"
                     "        with T.block(\"Y\"):\n"
                     "            vk, vp, vc, vr = T.axis.remap(\"SSRR\", [k, p, c, r])\n"
                     "            with T.init():\n"
                     "                Y[vk, vp] = 0\n"
                     "            Y[vk, vp] = Y[vk, vp] + T.cast(X[vc, vp + vr], \"int32\") * "
                     "T.cast(F[vk, vc, vr], \"int32\")\n");
  };
  const target::cpu cpu = target::named("cascadelake");
  const space::context where{&cpu, 1};
  for (const int outputs : {20, 30}) {
    const ir::function f = convolution(outputs);
    std::vector<bool> with_each;  // [sketches with the instruction]
    const std::vector<schedule> all = space::default_cpu().sketches(f, where, 3);
    for (const schedule& s : all)
      if (traces::mentions(s, "sch.tensorize("))
        with_each.push_back(traces::mentions(s, "reverse_compute_at"));
    CHECK(support::contains(with_each, true));
    CHECK(support::contains(with_each, false));
    // 20 fill little more than half of two vectors
    CHECK(with_each.at(0) == (outputs == 20));
    // channels are whole blocks, and results lie along the pixels
    CHECK_FALSE(traces::mentions(all[0], "sch.tensorize("));
    check_default(f, "cascadelake", "dot_16x4_vnni", 0);
  }
  check_default(convolution(30), "cascadelake", "dot_16x4_vnni", 0, 2);
}
