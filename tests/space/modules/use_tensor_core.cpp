#include <tilewright/space/modules/use_tensor_core.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include <doctest/doctest.h>

#include <tilewright/search/candidate.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/target/gpu.hpp>

#include "../kernels.hpp"
#include "../members.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// C = A B^T, or A B, in these types, with a bias and max(., 0) behind it.
ir::function dense(const std::string& in, const std::string& sum, int m, int n, int k,
                   bool transposed) {
  const auto t = [](int x) { return std::to_string(x); };
  const std::string sums = "\"" + sum + "\"";
  const std::string zero = sum == "int32" ? "0" : "T." + sum + "(0)";
  const auto wide = [&](const std::string& e) {
    return in == sum ? e : "T.cast(" + e + ", " + sums + ")";
  };
  const std::string b = transposed ? t(n) + ", " + t(k) : t(k) + ", " + t(n);
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) + "), \"" + in +
                   "\"), B: T.Buffer((" + b + "), \"" + in + "\"), D: T.Buffer((" + t(n) + ",), " +
                   sums + "), E: T.Buffer((" + t(m) + ", " + t(n) + "), " + sums + ")):\n" +
                   "    C = T.alloc_buffer((" + t(m) + ", " + t(n) + "), " + sums + ")\n" +
                   "    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " + t(k) +
                   "):\n"
                   "        with T.block(\"C\"):\n"
                   "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                   "            with T.init():\n"
                   "                C[vi, vj] = " +
                   zero + "\n            C[vi, vj] = C[vi, vj] + " + wide("A[vi, vk]") + " * " +
                   wide(transposed ? "B[vj, vk]" : "B[vk, vj]") + "\n    for i, j in T.grid(" +
                   t(m) + ", " + t(n) +
                   "):\n"
                   "        with T.block(\"E\"):\n"
                   "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "            E[vi, vj] = T.max(C[vi, vj] + D[vj], " +
                   zero + ")\n");
}

std::vector<schedule> tiled(const ir::function& f) {
  return members::sketches(f, {space::use_tensor_core{}});
}

/// Members of the space, finished, hold the intrinsic and compute what the function computes.
void check_space(const ir::function& f, const std::string& intrinsic, double tolerance) {
  CAPTURE(intrinsic);
  const space::design_space all = space::metaschedule_cuda_tensor_core(1);
  const std::vector<schedule> sketches = all.sketches(f, members::machine(), 7);
  REQUIRE_FALSE(sketches.empty());
  CHECK(traces::mentions(sketches[0], "\"" + intrinsic + "\""));
  const auto finish = [&](schedule& s) {
    all.finish(s, members::machine());
    CHECK(traces::mentions(s, "tensor_intrin=\"" + intrinsic + "\""));
  };
  members::check(f, sketches, [](schedule&) {},
                 {.count = 4, .device = true, .tolerance = tolerance, .finish = finish});
}

}  // namespace

TEST_CASE("use_tensor_core: the module is no longer than the paper's") {
  std::ifstream in("include/tilewright/impl/space/modules/use_tensor_core.ipp");
  REQUIRE(in);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(std::count(text.begin(), text.end(), '\n') <= 82);
}

TEST_CASE("use_tensor_core: products of 16-bit floats and of bytes, second operand either way") {
  check_space(dense("float16", "float32", 32, 32, 64, false), "wmma_sync_16x16x16_f16f16f32", 1e-5);
  check_space(dense("float16", "float32", 32, 64, 32, true), "wmma_sync_16x16x16_f16f16f32_trans",
              1e-5);
  check_space(dense("bfloat16", "float32", 32, 32, 32, false), "wmma_sync_16x16x16_bf16bf16f32",
              1e-5);
  check_space(dense("int8", "int32", 32, 32, 32, true), "wmma_sync_16x16x32_s8s8s32_trans", 0);
}

TEST_CASE("use_tensor_core: operands are staged in shared memory and fragments, results in these") {
  const std::vector<schedule> all = tiled(dense("float16", "float16", 32, 32, 64, true));
  REQUIRE(all.size() == 1);
  const std::string text = all[0].show();
  for (const char* scope : {"\"shared.dyn\"", "\"wmma.matrix_a\"", "\"wmma.matrix_b\"",
                            "\"wmma.accumulator\"", "threadIdx.y", "software_pipeline_stage"})
    CHECK(text.find(scope) != std::string::npos);
  CHECK(text.find("_reindex_reindex") == std::string::npos);  // all went into the staged copies
  CHECK(text.find("C_reindex_reindex") == std::string::npos);
}

TEST_CASE(
    "use_tensor_core: an epilogue that reads a sum several times goes into the store of the "
    "results") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((32, 32), "float16"), B: T.Buffer((32, 32), "float16"), D: T.Buffer((32,), "float32"), out: T.Buffer((32, 32), "float32")):
    C = T.alloc_buffer((32, 32), "float32")
    P = T.alloc_buffer((32, 32), "float32")
    E = T.alloc_buffer((32, 32), "float32")
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vj, vk], "float32")
    for i, j in T.grid(32, 32):
        with T.block("biased"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = C[vi, vj] + D[vj]
    for i, j in T.grid(32, 32):
        with T.block("erf"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.erf(P[vi, vj])
    for i, j in T.grid(32, 32):
        with T.block("gelu"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = P[vi, vj] * (E[vi, vj] + T.float32(1))
)");
  const std::string text = tiled(f)[0].show();
  for (const char* block : {"biased", "erf", "gelu"})
    CHECK(text.find("T.block(\"" + std::string(block) + "\")") == text.npos);
  check_space(f, "wmma_sync_16x16x16_f16f16f32_trans", 1e-5);
}

TEST_CASE("use_tensor_core: small tiles, one to a multiprocessor, have long steps that are deep") {
  const target::gpu gpu = target::named_gpu("sm_90a");
  const auto first = [&](int extent, bool deep) {
    space::use_tensor_core rule;
    rule.background = 3;
    rule.carried = true;
    rule.deep = deep;
    const space::design_space all(space::post_order(space::module(rule)));
    return all.sketches(dense("float16", "float32", extent, extent, extent, false), {&gpu, 1}, 1)
        .at(0);
  };
  CHECK(traces::mentions(first(1024, true), "ann_val=[0, 0, 4, 4, 5]"));
  CHECK(traces::mentions(first(1024, true), "decision=[16, 4, 1]"));
  CHECK(traces::mentions(first(1024, false), "ann_val=[0, 0, 3, 3, 4]"));
  CHECK(traces::mentions(first(4096, true), "ann_val=[0, 0, 3, 3, 4]"));
}

TEST_CASE("use_tensor_core: short results go through shared memory first, long ones do not") {
  const target::gpu gpu = target::named_gpu("sm_90a");
  const auto stages = [&](const char* result) {
    const std::string text =
        space::default_gpu()
            .sketches(dense("float16", result, 128, 128, 128, true), {&gpu, 1}, 1)
            .at(0)
            .trace()
            .print();
    int out = 0;
    for (std::size_t at = text.find("sch.write_at"); at != text.npos;
         at = text.find("sch.write_at", at + 1))
      ++out;
    return out;
  };
  CHECK(stages("float16") == 2);
  CHECK(stages("float32") == 1);
}

TEST_CASE("use_tensor_core: a thread of the schedule counts as a warp") {
  schedule s = tiled(dense("float16", "float32", 32, 32, 32, false))[0];
  const std::vector<space::kernel_usage> usage = space::gpu_usage(s.function());
  REQUIRE_FALSE(usage.empty());
  CHECK(usage[0].threads == 32 * usage[0].extents.at("threadIdx.y"));
  CHECK(usage[0].fewest_threads == 32);
}

TEST_CASE("use_tensor_core: a warp's tile may have 64 x 64 results") {
  const ir::function f = dense("float16", "float32", 256, 256, 64, false);
  const space::design_space all = space::metaschedule_cuda_tensor_core(1);
  const std::vector<schedule> sketches = all.sketches(f, members::machine(), 7);
  REQUIRE_FALSE(sketches.empty());
  const trace family = sketches[0].trace().without_decisions();
  int largest = 0;
  for (std::uint64_t seed = 1; seed <= 400 && largest < 16; ++seed) {
    const auto member = search::replay(family, f, seed);
    if (!member) continue;
    // tiles of 16 x 16 that a warp has of each side: the last two of the five factors
    std::vector<int> sides;
    const std::string text = member->scheduled.trace().print();
    const std::string mark = "decision=[";
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
      std::istringstream list(text.substr(at + mark.size(), text.find(']', at) - at - mark.size()));
      std::vector<int> factors;
      for (std::string part; std::getline(list, part, ',');) factors.push_back(std::stoi(part));
      if (factors.size() == 5) sides.push_back(factors[3] * factors[4]);
    }
    REQUIRE(sides.size() == 2);
    if (sides[0] <= 4 && sides[1] <= 4) largest = std::max(largest, sides[0] * sides[1]);
  }
  CHECK(largest == 16);
}

TEST_CASE("use_tensor_core: the first tiles are large, and smaller where blocks would be few") {
  struct expectation {
    int m, n, k;
    const char *rows, *columns, *steps;
  };
  const target::gpu device = target::named_gpu("sm_90a");
  for (const expectation& e :
       {expectation{4096, 4096, 4096, "[4, 8, 2, 4, 1]", "[16, 1, 4, 4, 1]", "[128, 2, 1]"},
        {1024, 1024, 1024, "[2, 8, 2, 2, 1]", "[8, 1, 2, 4, 1]", "[32, 2, 1]"},
        {16, 4096, 4096, "[1, 1, 1, 1, 1]", "[128, 1, 2, 1, 1]", "[32, 8, 1]"},
        {32, 32, 32, "[2, 1, 1, 1, 1]", "[2, 1, 1, 1, 1]", "[1, 2, 1]"},
        {8192, 512, 64, "[8, 8, 2, 4, 1]", "[4, 1, 2, 4, 1]", "[1, 4, 1]"}}) {
    CAPTURE(e.m);
    const space::design_space all(space::post_order(space::module(space::use_tensor_core{})));
    const std::vector<schedule> sketches =
        all.sketches(dense("float16", "float32", e.m, e.n, e.k, false), {&device, 1}, 7);
    REQUIRE_FALSE(sketches.empty());
    const std::string text = sketches[0].trace().print();
    INFO(text);
    for (const char* decision : {e.rows, e.columns, e.steps})
      CHECK(text.find("decision=" + std::string(decision)) != text.npos);
  }
}

TEST_CASE("use_tensor_core: extents that are no multiples are padded") {
  check_space(dense("float16", "float32", 20, 18, 17, false), "wmma_sync_16x16x16_f16f16f32", 1e-5);
}

TEST_CASE(
    "use_tensor_core: extents whose tiles have no divisor are padded to whole tiles of blocks") {
  const target::gpu device = target::named_gpu("sm_90a");
  struct expectation {
    int m, n, k;
    const char *rows, *columns, *steps;
  };
  for (const expectation& e :
       {expectation{4097, 4097, 4097, "[11, 3, 2, 4, 1]", "[22, 1, 4, 3, 1]", "[129, 2, 1]"},
        {1000, 1000, 1000, "[2, 8, 2, 2, 1]", "[8, 1, 2, 4, 1]", "[32, 2, 1]"},
        {129, 4096, 4096, "[1, 3, 2, 2, 1]", "[64, 1, 2, 2, 1]", "[128, 2, 1]"}}) {
    CAPTURE(e.m);
    space::use_tensor_core rule;
    rule.whole = true;
    const space::design_space all(space::post_order(space::module(rule)));
    const std::vector<schedule> sketches =
        all.sketches(dense("float16", "float32", e.m, e.n, e.k, false), {&device, 1}, 7);
    REQUIRE_FALSE(sketches.empty());
    const std::string text = sketches[0].trace().print();
    INFO(text);
    for (const char* decision : {e.rows, e.columns, e.steps})
      CHECK(text.find("decision=" + std::string(decision)) != text.npos);
  }
}

TEST_CASE("use_tensor_core: a padded second operand is taken as it lies, too") {
  for (const bool transposed : {false, true}) {
    const std::string name =
        std::string("wmma_sync_16x16x16_f16f16f32") + (transposed ? "_trans" : "");
    check_space(dense("float16", "float32", 20, 18, 17, transposed), name, 1e-5);
  }
}

TEST_CASE("use_tensor_core: a convolution of 16-bit floats") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((1, 6, 6, 8), "float16"), F: T.Buffer((3, 3, 8, 16), "float16"), Y: T.Buffer((1, 4, 4, 16), "float32")):
    for n, p, q, k, r, s, c in T.grid(1, 4, 4, 16, 3, 3, 8):
        with T.block("Y"):
            vn, vp, vq, vk, vr, vs, vc = T.axis.remap("SSSSRRR", [n, p, q, k, r, s, c])
            with T.init():
                Y[vn, vp, vq, vk] = T.float32(0)
            Y[vn, vp, vq, vk] = Y[vn, vp, vq, vk] + T.cast(X[vn, vp + vr, vq + vs, vc], "float32") * T.cast(F[vr, vs, vc, vk], "float32")
)");
  check_space(f, "wmma_sync_16x16x16_f16f16f32", 1e-5);
}

TEST_CASE("use_tensor_core: what no intrinsic fits is left alone") {
  for (const ir::function& f : {kernels::dense_relu(), kernels::conv2d(), kernels::softmax()}) {
    const std::vector<schedule> all = tiled(f);
    REQUIRE(all.size() == 1);
    CHECK(all[0].trace().empty());
  }
}
