// Borders of zeros, tails and strides of windows, as kernels copy and compute them.

#include <tilewright/schedule/schedule.hpp>

#include "cases.hpp"

using namespace tilewright;

namespace {

std::string text_of(const ir::function& scheduled) {
  return backend::cuda::print(pass::lower(scheduled, cases::device()), cases::device()).text;
}

/// Windows of three rows of an image with a border of zeros, 8 channels.
ir::function windows() {
  return ir::parse(R"(
@T.prim_func
def windows(X: T.Buffer((18, 8), "float32"), F: T.Buffer((3, 8, 16), "float32"), Y: T.Buffer((18, 16), "float32")):
    P = T.alloc_buffer((20, 8), "float32")
    for h, c in T.grid(20, 8):
        with T.block("P"):
            vh, vc = T.axis.remap("SS", [h, c])
            P[vh, vc] = T.if_then_else(1 <= vh and vh < 19, X[vh - 1, vc], T.float32(0))
    for h, k, r, c in T.grid(18, 16, 3, 8):
        with T.block("Y"):
            vh, vk, vr, vc = T.axis.remap("SSRR", [h, k, r, c])
            with T.init():
                Y[vh, vk] = T.float32(0)
            Y[vh, vk] = Y[vh, vk] + P[vh + vr, vc] * F[vr, vc, vk]
)");
}

/// Blocks of 6 rows, 24 threads; operands of so many channels at a time, copied by all threads in vectors.
ir::function scheduled_windows(std::int64_t ahead, std::int64_t channels = 4) {
  schedule s(windows());
  const block_rv y = s.get_block("Y");
  const auto loops = s.get_loops(y);
  const auto [h0, h1] = s.split(loops[0], {infer, 6});
  const auto [k0, k1] = s.split(loops[1], {4, infer});
  const auto [c0, c1] = s.split(loops[3], {infer, factor(channels)});
  s.reorder(h0, h1, k0, c0, loops[2], c1, k1);
  s.bind(h0, "blockIdx.x");
  const loop_rv threads = s.fuse(h1, k0);
  s.bind(threads, "threadIdx.x");
  s.reverse_compute_at(s.cache_write(y, 0, "local"), threads, true);
  for (const int operand : {0, 1}) {
    const block_rv copy = s.cache_read(y, operand, "shared");
    s.compute_at(copy, c0, true);
    const std::vector<loop_rv> own = s.get_loops(copy);
    const loop_rv all = s.fuse(std::vector<loop_rv>(own.begin() + 3, own.end()));
    const std::vector<loop_rv> parts = s.split(all, std::vector<factor>{infer, 24, 4});
    s.bind(parts[1], "threadIdx.x");
    s.vectorize(parts[2]);
  }
  s.compute_inline(s.get_block("P"));
  s.decompose_reduction(y, c0);
  using list = ir::attr::list;
  s.annotate(c0, "software_pipeline_stage", list{0, 0, ahead});
  s.annotate(c0, "software_pipeline_order", list{0, 1, 2});
  s.annotate(c0, "software_pipeline_async_stages", list{0});
  return s.function();
}

}  // namespace

TEST_CASE("a border of zeros is filled in by copies in the background") {
  for (const std::int64_t ahead : {1, 2}) {
    CAPTURE(ahead);
    const ir::function f = scheduled_windows(ahead);
    CHECK(text_of(f).find("tw_copy_or_zero<4>(") != std::string::npos);
    CHECK(text_of(f).find("tw_copy_async<4>(") != std::string::npos);
    cases::check_emulated(f, windows(), 1e-5);
  }
}

TEST_CASE("the copies of the only step are made in the background, too") {
  for (const std::int64_t ahead : {1, 3}) {
    CAPTURE(ahead);
    const ir::function f = scheduled_windows(ahead, 8);
    CHECK(text_of(f).find("tw_copy_or_zero<4>(") != std::string::npos);
    CHECK(text_of(f).find("tw_copy_async<4>(") != std::string::npos);
    cases::check_emulated(f, windows(), 1e-5);
  }
}

TEST_CASE("copies with a tail guard whole vectors") {
  // 8 rows of 4 channels by 24 threads, of which the last have nothing to do
  const std::string text = text_of(scheduled_windows(1));
  const std::size_t copy = text.find("tw_copy_or_zero<4>("), guard = text.rfind("if (", copy);
  REQUIRE(guard != std::string::npos);
  CHECK(text.find('\n', guard) < copy);
  CHECK(text.find(";\n", guard) > copy);  // nothing between them
}

TEST_CASE("zeros that a stride leaves are not multiplied") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def stretched(X: T.Buffer((6, 8), "float32"), F: T.Buffer((4, 8, 16), "float32"), Y: T.Buffer((8, 16), "float32")):
    for h, k, r, c in T.grid(8, 16, 4, 8):
        with T.block("Y"):
            vh, vk, vr, vc = T.axis.remap("SSRR", [h, k, r, c])
            with T.init():
                Y[vh, vk] = T.float32(0)
            Y[vh, vk] = Y[vh, vk] + T.if_then_else((vh + vr) % 2 == 0, X[(vh + vr) // 2, vc], T.float32(0)) * F[3 - vr, vc, vk]
)");
  schedule s(f);
  const block_rv y = s.get_block("Y");
  const auto loops = s.get_loops(y);
  s.bind(loops[1], "threadIdx.x");
  s.reorder(loops[1], loops[3], loops[2], loops[0]);
  s.reverse_compute_at(s.cache_write(y, 0, "local"), loops[1], true);
  s.unroll(loops[2]);
  s.decompose_reduction(y, loops[3]);
  const std::string text = text_of(s.function());
  CHECK(text.find("if ((") != std::string::npos);
  CHECK(text.find(" : 0.0f") == std::string::npos);
  cases::check_emulated(s.function(), f, 1e-5);
}

TEST_CASE("a schedule may say how many blocks shall be on a multiprocessor") {
  schedule s(windows());
  const block_rv y = s.get_block("Y");
  const auto loops = s.get_loops(y);
  s.bind(loops[0], "blockIdx.x");
  s.bind(loops[1], "threadIdx.x");
  s.compute_inline(s.get_block("P"));
  CHECK(text_of(s.function()).find("TW_KERNEL(16) ") != std::string::npos);
  s.annotate(loops[0], "tilewright.resident_blocks", 4);
  CHECK(text_of(s.function()).find("TW_KERNEL(16, 4) ") != std::string::npos);
  cases::check_emulated(s.function(), windows(), 1e-5);
}
