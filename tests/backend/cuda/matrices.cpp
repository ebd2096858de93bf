// Products on tensor cores: the paper's fused dense, members of the space, and fragments laid out in
// every way that operands may lie.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>

#include "cases.hpp"
#include "gpu/corpus.hpp"
#include "gpu/tensor_workloads.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

std::string text_of(const std::string& name) {
  std::ifstream in("tests/schedule/paper_trace/" + name, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string replaced(std::string text,
                     const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words) {
    REQUIRE(text.find(from) != text.npos);
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  return text;
}

/// The paper's program and trace with four blocks of 128 x 128 and two steps of 32.
ir::function small_dense() {
  return ir::parse(replaced(text_of("program.py"), {{"(1024, 1024)", "(256, 64)"},
                                                    {"(4096, 1024)", "(256, 64)"},
                                                    {"1024, 4096, 1024", "256, 256, 64"},
                                                    {"1024, 4096", "256, 256"},
                                                    {"(4096,)", "(256,)"}}));
}
trace small_trace(const std::string& name) {
  return trace::parse(
      replaced(text_of(name), {{"loop=l15, factors=[64, 16]", "loop=l15, factors=[4, 16]"},
                               {"factors=[256, 16]", "factors=[16, 16]"},
                               {"loop=l13, factors=[64, 16]", "loop=l13, factors=[16, 16]"},
                               {"[8, 1, 2, 2, 2]", "[2, 1, 2, 2, 2]"},
                               {"[1, 32, 4, 2, 1]", "[1, 2, 4, 2, 1]"},
                               {"[32, 2, 1]", "[2, 2, 1]"}}));
}

/// Through NVRTC for both architectures, without spills.
void check_compiled(const ir::function& scheduled, int registers) {
  for (const char* name : {"sm_80", "sm_90a"}) {
    CAPTURE(name);
    const target::gpu device = target::named_gpu(name);
    const cases::cu::program p = cases::cu::print(pass::lower(scheduled, device), device);
    INFO(p.text);
    const cases::cu::compiled c = cases::cu::compile(p, device);
    for (const backend::launch& l : c.artifact.launches) {
      CHECK(cases::cu::why_rejected(l, c.report, device, {0, 0, false}) == "");
      CHECK(l.registers <= registers);
    }
  }
}

std::string element(const std::string& short_name) {
  if (short_name == "f16") return "float16";
  if (short_name == "bf16") return "bfloat16";
  if (short_name == "f32") return "float32";
  return short_name == "s8" ? "int8" : "int32";
}

/// C = A B + D, of types by their short names; `lies`: how A and B lie, as "mk" or "km", "kn" or "nk".
ir::function product(const std::string& in, const std::string& sum, int m, int n, int k,
                     const std::string& a_lies = "mk", const std::string& b_lies = "kn") {
  const auto t = [](int x) { return std::to_string(x); };
  const auto lies = [&](const std::string& order, int x, int y) {
    return order[0] == 'k' ? t(k) + ", " + t(x == k ? y : x) : t(x == k ? y : x) + ", " + t(k);
  };
  const std::string sums = "\"" + element(sum) + "\"", types = "\"" + element(in) + "\"";
  const std::string zero = sum == "s32" ? "0" : "T." + element(sum) + "(0)";
  const auto wide = [&](const std::string& e) {
    return in == sum ? e : "T.cast(" + e + ", " + sums + ")";
  };
  const std::string a = a_lies == "mk" ? "A[vi, vk]" : "A[vk, vi]";
  const std::string b = b_lies == "kn" ? "B[vk, vj]" : "B[vj, vk]";
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + lies(a_lies, m, m) + "), " + types +
                   "), B: T.Buffer((" + lies(b_lies, n, n) + "), " + types + "), D: T.Buffer((" +
                   t(n) + ",), " + sums + "), E: T.Buffer((" + t(m) + ", " + t(n) + "), " + sums +
                   ")):\n    C = T.alloc_buffer((" + t(m) + ", " + t(n) + "), " + sums +
                   ")\n    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " + t(k) +
                   "):\n"
                   "        with T.block(\"C\"):\n"
                   "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                   "            with T.init():\n"
                   "                C[vi, vj] = " +
                   zero + "\n            C[vi, vj] = C[vi, vj] + " + wide(a) + " * " + wide(b) +
                   "\n    for i, j in T.grid(" + t(m) + ", " + t(n) +
                   "):\n"
                   "        with T.block(\"E\"):\n"
                   "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "            E[vi, vj] = C[vi, vj] + D[vj]\n");
}

/// One warp that multiplies 32 x 32 x 32: fragments are loaded from shared memory as it lies there.
ir::function by_one_warp(const ir::function& f) {
  schedule s(f);
  const block_rv c = s.get_block("C");
  const auto loops = s.get_loops(c);
  const auto [i0, i1, i2] = s.split(loops[0], {1, infer, 16});
  const auto [j0, j1, j2] = s.split(loops[1], {1, infer, 16});
  const auto [k0, k1, k2] = s.split(loops[2], {infer, 1, 16});
  s.reorder(i0, j0, k0, k1, i1, j1, i2, j2, k2);
  s.annotate(s.get_block("root"), "warp_execution", 1);
  s.bind(i0, "blockIdx.x");
  s.bind(j0, "threadIdx.y");
  s.write_at(j0, c, 0, "wmma.accumulator");
  for (const int operand : {0, 1})
    s.annotate(s.read_at(k0, c, operand, "shared"), "vector_bytes", 16);
  s.read_at(k1, c, 0, "wmma.matrix_a");
  s.read_at(k1, c, 1, "wmma.matrix_b");
  return s.function();
}

}  // namespace

TEST_CASE("the paper's fused dense, in the spelling of 2022 and in today's, is emulated") {
  const ir::function f = small_dense();
  for (const char* name : {"trace_2022.txt", "trace_today.txt"}) {
    CAPTURE(name);
    schedule s(f);
    small_trace(name).apply_to(s);
    const cases::cu::program p =
        cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
    for (const char* function : {"tw_mma(", "tw_load_matrix("})
      CHECK(p.text.find(function) != p.text.npos);
    // sums of f16: rounded at every term by the interpreter, at every sixteenth by tensor cores
    cases::check_emulated(s.function(), f, 2e-2);
  }
}

TEST_CASE("the paper's fused dense compiles for each architecture within its limits") {
  if (!cases::have_nvrtc()) return;
  schedule s(ir::parse(text_of("program.py")));
  trace::parse(text_of("trace_today.txt")).apply_to(s);
  check_compiled(s.function(), 128);
}

TEST_CASE("tensor cores: any schedule of a product, of every type, computes what was written") {
  if (!cases::have_emulator()) return;
  struct product_type {
    const char *in, *sum;
    double tolerance;
  };
  const space::design_space list = space::metaschedule_cuda_tensor_core(1);
  for (const product_type& types : {product_type{"f16", "f32", 1e-5},
                                    {"f16", "f16", 2e-2},
                                    {"bf16", "f32", 1e-5},
                                    {"s8", "s32", 0}})
    for (const char* b_lies : {"kn", "nk"}) {
      CAPTURE(types.in);
      CAPTURE(types.sum);
      CAPTURE(b_lies);
      const ir::function f = product(types.in, types.sum, 64, 96, 64, "mk", b_lies);
      const std::vector<schedule> members = gpu_list::members(f, 3, list);
      CHECK(members.size() == 3);
      for (const schedule& s : members) {
        INFO(s.trace().print());
        const cases::cu::program p =
            cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
        CHECK(p.text.find("tw_mma") != p.text.npos);
        cases::check_emulated(s.function(), f, types.tolerance);
      }
    }
}

TEST_CASE("tensor cores: products of f32 with factors of tf32, for who asks for them") {
  if (!cases::have_emulator()) return;
  const ir::function f = product("f32", "f32", 64, 96, 64);
  for (const schedule& s : gpu_list::members(f, 4, space::default_gpu()))
    CHECK(ir::print(s.function()).find("wmma") == std::string::npos);
  for (const char* b_lies : {"kn", "nk"}) {
    const ir::function g = product("f32", "f32", 64, 96, 64, "mk", b_lies);
    const std::vector<schedule> members = gpu_list::members(g, 3, gpu_workloads::tf32_space(1));
    CHECK(members.size() == 3);
    for (const schedule& s : members) {
      INFO(s.trace().print());
      const cases::cu::program p =
          cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
      INFO(p.text);
      CHECK(p.text.find("tw_mma(") != p.text.npos);
      const cases::cu::emulator kernels(p);
      // these have few bits, and are exact
      cases::check_equal(cases::emulated(kernels, g, 1), cases::interpreted(g), 1e-6);
      // 1 + 2^-12 is 1 in tf32
      std::vector<harness::argument> memory = harness::make_arguments(g, {});
      std::vector<cases::cu::emulated_argument> arguments;
      for (harness::argument& x : memory) {
        const float value = arguments.empty() ? 1 + 0x1p-12f : 1;
        for (std::size_t at = 0; at < x.bytes.size(); at += sizeof value)
          std::memcpy(&x.bytes[at], &value, sizeof value);
        arguments.push_back({x.bytes.data(), static_cast<std::int64_t>(x.bytes.size() / 4)});
      }
      kernels.run(arguments);
      float sum = 0;
      std::memcpy(&sum, memory.back().bytes.data(), sizeof sum);
      CHECK(sum == 65);
    }
  }
}

namespace {

/// Products on tensor cores, copied `background` steps ahead, whose last fragments are carried over or not.
space::design_space copied_ahead(const std::string& in, int background, bool carried, bool staged) {
  space::use_tensor_core cores;
  if (in == "f32")
    cores.intrinsics = {"wmma_sync_16x16x16_tf32tf32f32", "wmma_sync_16x16x16_tf32tf32f32_trans"};
  cores.warp_size = 1;
  cores.background = background;
  cores.carried = carried;
  cores.staged = staged;
  return space::design_space(space::post_order(space::module(cores)) >>
                             space::post_order(space::module(space::auto_bind{})))
      .with({space::rewrite_cooperative_fetch{}, space::rewrite_unbound_block{},
             space::rewrite_reduction_block{}, space::rewrite_tensorize{},
             space::verify_gpu_code{}});
}

}  // namespace

TEST_CASE("tensor cores: steps that begin with the products of the last one") {
  if (!cases::have_emulator()) return;
  for (const auto& [in, sum, tolerance] : {std::tuple{"f16", "f32", 1e-5},
                                           {"bf16", "f32", 1e-5},
                                           {"s8", "s32", 0.0},
                                           {"f32", "f32", 1e-6}})
    for (const char* b_lies : {"kn", "nk"})
      for (const int background : {1, 2, 3}) {
        CAPTURE(in);
        CAPTURE(b_lies);
        CAPTURE(background);
        const ir::function f = product(in, sum, 64, 64, 192, "mk", b_lies);
        const space::design_space list = copied_ahead(in, background, true, background == 2);
        for (const schedule& s : gpu_list::members(f, 3, list)) {
          INFO(s.trace().print());
          const cases::cu::program p =
              cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
          INFO(p.text);
          CHECK(p.text.find("tw_wait_copies<") != p.text.npos);
          const cases::cu::emulator kernels(p);
          cases::check_equal(cases::emulated(kernels, f, 1), cases::interpreted(f), tolerance);
        }
      }
}

TEST_CASE("tensor cores: tf32 at full size compiles for each architecture") {
  if (!cases::have_nvrtc()) return;
  const ir::function f = product("f32", "f32", 1024, 1024, 1024);
  const std::vector<schedule> members = gpu_list::members(f, 2, gpu_workloads::tf32_space());
  CHECK(members.size() == 2);
  for (const schedule& s : members) {
    INFO(s.trace().print());
    const target::gpu device = target::named_gpu("sm_80");
    const cases::cu::program p = cases::cu::print(pass::lower(s.function(), device), device);
    INFO(p.text);
    for (const char* name : {"sm_80", "sm_90a"}) {
      const cases::cu::compiled c = cases::cu::compile(p, target::named_gpu(name));
      CHECK(!c.artifact.object.empty());
    }
  }
}

TEST_CASE("tensor cores: extents that no tile divides, and a convolution") {
  if (!cases::have_emulator()) return;
  const space::design_space list = space::metaschedule_cuda_tensor_core(1);
  const ir::function convolution = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((1, 6, 6, 8), "float16"), F: T.Buffer((3, 3, 8, 16), "float16"), Y: T.Buffer((1, 4, 4, 16), "float32")):
    for n, p, q, k, r, s, c in T.grid(1, 4, 4, 16, 3, 3, 8):
        with T.block("Y"):
            vn, vp, vq, vk, vr, vs, vc = T.axis.remap("SSSSRRR", [n, p, q, k, r, s, c])
            with T.init():
                Y[vn, vp, vq, vk] = T.float32(0)
            Y[vn, vp, vq, vk] = Y[vn, vp, vq, vk] + T.cast(X[vn, vp + vr, vq + vs, vc], "float32") * T.cast(F[vr, vs, vc, vk], "float32")
)");
  for (const ir::function& f :
       {product("f16", "f32", 20, 18, 17), product("s8", "s32", 33, 16, 40), convolution}) {
    const std::vector<schedule> members = gpu_list::members(f, 2, list);
    CHECK(members.size() == 2);
    for (const schedule& s : members) {
      INFO(s.trace().print());
      const cases::cu::program p =
          cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
      CHECK(p.text.find("tw_mma") != p.text.npos);
      cases::check_emulated(s.function(), f, 1e-5);
    }
  }
}

TEST_CASE("tensor cores: operands may lie either way in shared memory") {
  struct expectation {
    const char *in, *sum, *a_lies, *b_lies;
    int straight, transposed;  // loads of rows
  };
  for (const expectation& e : {expectation{"f16", "f32", "mk", "kn", 1, 1},
                               {"f16", "f32", "mk", "nk", 2, 0},
                               {"f16", "f32", "km", "kn", 0, 2},
                               {"bf16", "f32", "km", "nk", 1, 1},
                               {"s8", "s32", "mk", "nk", 2, 0},
                               {"s8", "s32", "mk", "kn", 1, 1},  // of pairs of bytes
                               {"s8", "s32", "km", "nk", 1, 0}}) {
    CAPTURE(e.in);
    CAPTURE(e.a_lies);
    CAPTURE(e.b_lies);
    const ir::function f = product(e.in, e.sum, 32, 32, 32, e.a_lies, e.b_lies);
    const ir::function scheduled = by_one_warp(f);
    const cases::cu::program p =
        cases::cu::print(pass::lower(scheduled, cases::device()), cases::device());
    INFO(p.text);
    const auto count = [&](const std::string& word) {
      int out = 0;
      for (std::size_t at = p.text.find(word); at != p.text.npos; at = p.text.find(word, at + 1))
        ++out;
      return out;
    };
    CHECK(count("tw_load_matrix(") == e.straight);
    CHECK(count("tw_load_transposed(") == e.transposed);
    cases::check_emulated(scheduled, f, 1e-5);
  }
}

namespace {

struct product_run {
  std::vector<harness::argument> memory;
  cases::cu::matrix_traffic traffic;
};

product_run run(const cases::cu::program& p, const ir::function& f) {
  product_run out{harness::make_arguments(f, {}), {}};
  std::vector<cases::cu::emulated_argument> arguments;
  for (harness::argument& a : out.memory)
    arguments.push_back(
        {a.bytes.data(), static_cast<std::int64_t>(a.bytes.size()) / bytes(a.type)});
  out.traffic = cases::cu::emulator(p).run(arguments);
  return out;
}

}  // namespace

TEST_CASE("tensor cores: matrices come from shared memory without bank conflicts") {
  if (!cases::have_emulator()) return;
  for (const gpu_corpus::entry& e : gpu_corpus::small()) {
    cases::cu::program p =
        cases::cu::print(pass::lower(e.scheduled, cases::device()), cases::device());
    if (p.text.find("tw_load_matrix(") == p.text.npos) continue;
    CAPTURE(e.name);
    const std::vector<harness::argument> expected = cases::interpreted(e.written);
    const product_run swizzled = run(p, e.written);
    CHECK(swizzled.traffic.matrices > 0);
    CHECK(swizzled.traffic.steps == swizzled.traffic.matrices);
    // without the pattern the result is the same, in several times the steps
    p.text = "#define tw_in_place(a, b) (a)\n" +
             replaced(p.text, {{"tw_bitwise_xor<int>(", "tw_in_place("}});
    const product_run plain = run(p, e.written);
    CHECK(plain.traffic.steps >= 2 * plain.traffic.matrices);
    for (const product_run* r : {&swizzled, &plain})
      cases::check_equal(r->memory, expected, e.tolerance);
  }
}

TEST_CASE(
    "default_gpu: products of 16-bit floats get families on tensor cores, copied ahead or not") {
  if (!cases::have_emulator()) return;
  const space::design_space list = space::default_gpu();
  const ir::function f = product("f16", "f32", 64, 64, 128);
  int on_tensor_cores = 0, in_background = 0;
  const std::vector<schedule> members = gpu_list::members(f, 8, list);
  CHECK(members.size() == 8);
  for (const schedule& s : members) {
    INFO(s.trace().print());
    const cases::cu::program p =
        cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
    on_tensor_cores += p.text.find("tw_mma(") != p.text.npos ? 1 : 0;
    in_background += p.text.find("tw_wait_copies<") != p.text.npos ? 1 : 0;
    cases::check_emulated(s.function(), f, 1e-5);
  }
  CHECK(on_tensor_cores >= 4);
  CHECK(in_background >= 2);
}
