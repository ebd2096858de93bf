// Copies by the device's copy engine: emulated, compiled, and what of them may not be left out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/support/error.hpp>

#include "../bench/mutants.hpp"
#include "../cases.hpp"
#include "../hopper.hpp"
#include "gpu/corpus.hpp"

using namespace tilewright;
using cases::hopper;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
  return out;
}

void check_emulated(const ir::function& scheduled, const ir::function& f, double tolerance) {
  if (!cases::have_emulator()) return;
  const cases::cu::program p = cases::on_hopper(scheduled);
  INFO(p.text);
  CHECK(count(p.text, "tw_copy_tensor(") > 0);
  const cases::cu::emulator kernels(p);
  const std::vector<harness::argument> expected = cases::interpreted(f);
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    cases::check_equal(cases::emulated(kernels, f, seed), expected, tolerance);
}

/// @param intrinsics if any, instead of those that take operands as they lie
space::design_space copied_by_engine(const std::string& in, int background, bool carried,
                                     bool staged, std::vector<std::string> intrinsics = {}) {
  space::use_tensor_core cores;
  if (in == "float32")
    cores.intrinsics = {"wmma_sync_16x16x16_tf32tf32f32", "wmma_sync_16x16x16_tf32tf32f32_trans"};
  if (!intrinsics.empty()) cores.intrinsics = std::move(intrinsics);
  cores.warp_size = 1;
  cores.background = background;
  cores.carried = carried;
  cores.staged = staged;
  cores.tensor_copies = true;
  return space::design_space(space::post_order(space::module(cores)) >>
                             space::post_order(space::module(space::auto_bind{})))
      .with({space::rewrite_cooperative_fetch{}, space::rewrite_unbound_block{},
             space::rewrite_reduction_block{}, space::rewrite_tensorize{},
             space::verify_gpu_code{}});
}

/// C = A B of types; B lies as [k, n] or as [n, k].
ir::function product(const std::string& in, const std::string& sum, int m, int n, int k,
                     bool columns) {
  const auto t = [](int x) { return std::to_string(x); };
  const auto wide = [&](const std::string& e) {
    return in == sum ? e : "T.cast(" + e + ", \"" + sum + "\")";
  };
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) + "), \"" + in +
                   "\"), B: T.Buffer((" + (columns ? t(n) + ", " + t(k) : t(k) + ", " + t(n)) +
                   "), \"" + in + "\"), C: T.Buffer((" + t(m) + ", " + t(n) + "), \"" + sum +
                   "\")):\n    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " + t(k) +
                   "):\n        with T.block(\"C\"):\n"
                   "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                   "            with T.init():\n                C[vi, vj] = " +
                   (sum == "int32" ? "0" : "T.float32(0)") +
                   "\n            C[vi, vj] = C[vi, vj] + " + wide("A[vi, vk]") + " * " +
                   wide(columns ? "B[vj, vk]" : "B[vk, vj]") + "\n");
}

/// B = A * 2 on tiles that go through shared memory, 64 threads to a tile; columns of the result where `turned`.
schedule through_tiles(const std::string& element, int rows, int columns, bool turned = false) {
  const std::string shape = std::to_string(rows) + ", " + std::to_string(columns);
  schedule s(ir::parse(
      "@T.prim_func\ndef main(A: T.Buffer((" + shape + "), \"" + element + "\"), B: T.Buffer((" +
      (turned ? std::to_string(columns) + ", " + std::to_string(rows) : shape) + "), \"" + element +
      "\")):\n    for i, j in T.grid(" + shape +
      "):\n        with T.block(\"B\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n            B[" +
      (turned ? "vj, vi" : "vi, vj") + "] = A[vi, vj] * T.cast(2, \"" + element + "\")\n"));
  const block_rv b = s.get_block("B");
  const auto loops = s.get_loops(b);
  const auto [i0, i1] = s.split(loops[0], {infer, 16});
  const auto [j0, j1] = s.split(loops[1], {infer, 32});
  s.reorder(i0, j0, i1, j1);
  s.bind(s.fuse(i0, j0), "blockIdx.x");
  const loop_rv blocks = s.get_loops(b)[0];
  const auto [own, team] = s.split(s.fuse(i1, j1), {infer, 64});
  s.bind(team, "threadIdx.x");
  (void)own;
  s.annotate(s.read_at(blocks, b, 0, "shared"), ir::tensor_copy_note, 1);
  return s;
}

}  // namespace

TEST_CASE("copy engine: a product whose operands it brings computes what was written") {
  const gpu_corpus::entry e = gpu_corpus::boxed_matmul(128, 256, 320);
  check_emulated(e.scheduled, e.written, e.tolerance);
}

TEST_CASE(
    "copy engine: operands of every type, however the second one lies and however far ahead") {
  if (!cases::have_emulator()) return;
  struct product_type {
    const char *in, *sum;
    double tolerance;
  };
  int boxes = 0, swizzled = 0;
  for (const product_type& types : {product_type{"float16", "float32", 1e-5},
                                    {"bfloat16", "float32", 1e-5},
                                    {"int8", "int32", 0},
                                    {"float32", "float32", 1e-6}})
    for (const bool columns : {false, true})
      for (const int background : {1, 3}) {
        CAPTURE(types.in);
        CAPTURE(columns);
        CAPTURE(background);
        const ir::function f = product(types.in, types.sum, 64, 128, 192, columns);
        const space::design_space list =
            copied_by_engine(types.in, background, background == 3, background == 1);
        const space::context where{&hopper(), 1};
        for (const std::uint64_t seed : {1u}) {
          schedule s = list.sketches(f, where, seed)[0];
          list.finish(s, where);
          INFO(s.trace().print());
          const cases::cu::program p = cases::on_hopper(s.function());
          boxes += p.text.find("tw_copy_tensor(") != p.text.npos ? 1 : 0;
          for (const backend::tensor_map& m : p.kernels[0].start.tensor_maps)
            swizzled += m.what.swizzle > 0 ? 1 : 0;
          check_emulated(s.function(), f, types.tolerance);
        }
      }
  CHECK(boxes == 16);
  CHECK(swizzled >= 8);
}

TEST_CASE("copy engine: what lies outside of operands arrives as zeros, and nothing is turned") {
  const space::context where{&hopper(), 1};
  const auto first = [&](const ir::function& f, std::vector<std::string> intrinsics = {}) {
    const space::design_space list =
        copied_by_engine("float16", 2, false, false, std::move(intrinsics));
    schedule s = list.sketches(f, where, 1)[0];
    list.finish(s, where);
    return s;
  };
  for (const bool columns : {false, true}) {
    CAPTURE(columns);
    const ir::function f = product("float16", "float32", 40, 72, 88, columns);
    check_emulated(first(f).function(), f, 1e-5);
  }
  // bytes that the intrinsic takes in columns alone are turned on the way
  const schedule turned =
      first(product("int8", "int32", 40, 72, 96, true), {"wmma_sync_16x16x16_s8s8s32"});
  CHECK_THROWS_WITH_AS(pass::lower(turned.function(), hopper()),
                       doctest::Contains("does not lie in B_reindex_pad_shared_dyn as it does"),
                       build_error);
}

TEST_CASE("copy engine: a tile that is waited for where it is copied") {
  for (const char* element : {"float32", "float16", "uint8"}) {
    CAPTURE(element);
    const schedule s = through_tiles(element, 64, 96);
    check_emulated(s.function(), s.function(), 0);
  }
}

TEST_CASE("copy engine: what it cannot copy is refused, and says why") {
  const auto refused = [](const schedule& s, const std::string& why) {
    CHECK_THROWS_WITH_AS(pass::lower(s.function(), hopper()), doctest::Contains(why.c_str()),
                         build_error);
  };
  refused(through_tiles("float32", 64, 97), "a stride of 388 bytes");
  refused(through_tiles("int16", 64, 96), "elements of int16");
  schedule inside = through_tiles("float32", 64, 96);
  inside.annotate(inside.get_block("B"), ir::tensor_copy_note, 1);
  refused(inside, "block B is left to the device's copy engine");
}

TEST_CASE("copy engine: without one all threads copy") {
  const gpu_corpus::entry e = gpu_corpus::boxed_matmul(128, 256, 320);
  const std::string text =
      cases::cu::print(pass::lower(e.scheduled, cases::device()), cases::device()).text;
  CHECK(count(text, "tw_copy_tensor(") == 0);
  CHECK(count(text, "tw_copy_async<8>(") > 0);
  cases::check_emulated(e.scheduled, e.written, e.tolerance);
}

TEST_CASE("copy engine: the product compiles for sm_90a without spills") {
  if (!cases::have_nvrtc()) return;
  const cases::cu::program p =
      cases::on_hopper(gpu_corpus::boxed_matmul(4096, 4096, 4096).scheduled);
  INFO(p.text);
  const cases::cu::compiled c = cases::cu::compile(p, hopper());
  for (const backend::launch& l : c.artifact.launches) {
    CHECK(cases::cu::why_rejected(l, c.report, hopper(), {0, 0, false}) == "");
    CHECK(l.registers <= 224);
    CHECK(l.shared_bytes <= 4 * 32768 + 128);
    CHECK(l.tensor_maps.size() == 2);
  }
}

namespace {

/// The program with one occurrence of `what` replaced, for each of them.
void add_mutants(const cases::cu::program& p, const std::string& what, const std::string& instead,
                 std::vector<std::pair<std::string, cases::cu::program>>& out) {
  int number = 0;
  for (std::size_t at = p.text.find(what); at != p.text.npos; at = p.text.find(what, at + 1)) {
    cases::cu::program mutant = p;
    mutant.text.replace(at, what.size(), instead);
    out.emplace_back(what + " " + std::to_string(number++) + " -> " + instead, std::move(mutant));
  }
}

}  // namespace

TEST_CASE("copy engine: every wait, phase, byte count, fence, barrier and guard is missed") {
  if (!cases::have_emulator()) return;
  const gpu_corpus::entry e = gpu_corpus::boxed_matmul(128, 128, 640);
  const std::vector<harness::argument> expected = cases::interpreted(e.written);
  const cases::cu::program p = cases::on_hopper(e.scheduled);
  INFO(p.text);
  std::vector<std::pair<std::string, cases::cu::program>> all;
  add_mutants(p, "tw_barrier();", "", all);
  add_mutants(p, "tw_wait_phase(", "if (false) tw_wait_phase(", all);
  add_mutants(p, " / 4 % 2);", " / 4 % 2 ^ 1);", all);
  add_mutants(p, "0, 16384);", "0, 16368);", all);
  add_mutants(p, "% 4, 16384);", "% 4, 16400);", all);
  add_mutants(p, "tw_fence_arrivals();", "", all);
  add_mutants(p, "tw_fence_async();", "", all);
  add_mutants(p, "if (ty == 0 && tx == 0)", "if (true)", all);
  add_mutants(p, "if (ty == 0 && tx == 0)", "if (ty == 0)", all);
  add_mutants(p, ", 2);", ", 1);", all);
  // nothing was read before the first step that its copies could spoil; and nothing was stored to shared memory before
  // the first fence
  const std::vector<std::string> redundant{"tw_barrier(); 1 -> ", "tw_fence_async(); 0 -> "};
  std::vector<std::string> missed;
  for (const auto& [what, mutant] : all)
    if (mutants::caught({what, mutant}, e, expected).empty()) missed.push_back(what);
  MESSAGE("mutants: " << all.size() - missed.size() << " of " << all.size() << " caught, "
                      << redundant.size() << " redundant");
  CHECK(missed == redundant);
}

TEST_CASE("copy engine: search may draw its copies on sm_90a, and none of them runs unmeasured") {
  const auto boxed = [](const schedule& s) {
    return s.trace().print().find(ir::tensor_copy_note) != std::string::npos;
  };
  const auto families = [&](const ir::function& f, const target::gpu& gpu) {
    const std::vector<schedule> all = space::default_gpu().sketches(f, {&gpu, 1}, 1);
    CHECK(!boxed(all.at(0)));
    return std::count_if(all.begin(), all.end(), boxed);
  };
  const ir::function f = product("float16", "float32", 256, 256, 256, false);
  CHECK(families(f, hopper()) == 7);  // two of warps, five of warp groups
  CHECK(families(f, cases::device()) == 0);
  // rows of 200 bytes
  CHECK(families(product("float16", "float32", 256, 256, 100, false), hopper()) == 0);
}
