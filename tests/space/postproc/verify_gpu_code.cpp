#include <tilewright/space/postproc/verify_gpu_code.hpp>

#include <doctest/doctest.h>

#include <functional>

#include <tilewright/target/gpu.hpp>

#include "../draws.hpp"
#include "../programs.hpp"

using namespace tilewright;
using space::gpu_usage, space::kernel_usage, space::verify_gpu_code;

namespace {

struct sizes {
  int vthreads = 2, threads_y = 4, threads_x = 8, k = 16;
};

/// C = A * B for 64 x 64 x 64 with the usual levels: blocks, virtual threads, threads, operands in
/// shared memory for `k` steps, the result in local memory.
schedule tiled(const sizes& at, bool vectors = false) {
  schedule s(programs::matmul(64, 64, 64));
  const block_rv c = s.get_block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto [ib, iv, iy, ii] = s.split(i, {infer, at.vthreads, at.threads_y, 2});
  const auto [jb, jx, jj] = s.split(j, {infer, at.threads_x, 4});
  const auto [k0, k1] = s.split(k, {infer, at.k});
  s.reorder(ib, jb, iv, iy, jx, k0, k1, ii, jj);
  s.bind(s.fuse(ib, jb), "blockIdx.x");
  s.bind(iv, "vthread.y");
  s.bind(iy, "threadIdx.y");
  s.bind(jx, "threadIdx.x");
  s.reverse_compute_at(s.cache_write(c, 0, "local"), jx, true);
  for (int operand : {0, 1}) {
    const block_rv copy = s.cache_read(c, operand, "shared");
    s.compute_at(copy, k0, true);
    if (vectors) {
      const auto [rest, lanes] = s.split(s.get_loops(copy).back(), {infer, 4});
      s.vectorize(lanes);
    }
  }
  return s;
}

int refused(schedule s, const verify_gpu_code& by) {
  try {
    by(s, draws::haswell());
    return 0;
  } catch (const schedule_error& e) {
    return e.requirement();
  }
}

}  // namespace

TEST_CASE("usage is what a hand counts") {
  const std::vector<kernel_usage> kernels = gpu_usage(tiled({}, true).function());
  REQUIRE(kernels.size() == 1);
  const kernel_usage& k = kernels[0];
  CHECK(k.threads == 4 * 8);
  CHECK(k.vthreads == 2);
  CHECK(k.extents.at("blockIdx.x") == 64 * 64 / (2 * 4 * 2) / (8 * 4));
  // a block has 16 rows and 32 columns, 16 steps of the reduction at a time
  CHECK(k.shared_bytes == 4 * (16 * 16 + 16 * 32));
  CHECK(k.local_bytes == 2 * 4 * 2 * 4);  // of both virtual threads, which are one thread's
  CHECK(k.vector_bytes == 16);
}

TEST_CASE("each limit rejects by its number") {
  CHECK(refused(tiled({}), {}) == 0);
  CHECK(refused(tiled({2, 4, 8, 16}), {.threads_per_block = 31}) == 2);
  CHECK(refused(tiled({2, 4, 8, 16}), {.shared_bytes = 3071}) == 4);
  CHECK(refused(tiled({2, 4, 8, 16}), {.shared_bytes = 3072}) == 0);
  CHECK(refused(tiled({}), {.local_bytes = 63}) == 5);
  CHECK(refused(tiled({8, 4, 8, 16}), {.vthreads = 4}) == 6);
  CHECK(refused(tiled({}, true), {.vector_bytes = 8}) == 7);
}

TEST_CASE("one axis has one extent in a kernel") {
  schedule s(programs::matmul_relu(16, 32, 4));
  const auto p = s.loops<3>(s.get_block("P"));
  const block_rv c = s.get_block("C");
  s.bind(p[0], "blockIdx.x");
  s.reverse_compute_at(c, p[0], true);
  s.bind(p[1], "threadIdx.x");
  const auto [outer, inner] = s.split(s.get_loops(c).back(), {infer, 16});
  s.bind(inner, "threadIdx.x");
  CHECK(gpu_usage(s.function())[0].uneven == "threadIdx.x");
  CHECK(refused(s, {}) == 1);
  s.bind(outer, "threadIdx.y");  // other axes do not matter
  CHECK(refused(s, {}) == 1);
}

TEST_CASE("annotations bound the number of threads") {
  schedule s = tiled({});
  const block_rv c = s.get_block("C");
  s.annotate(c, "meta_schedule.thread_extent_low_inclusive", 32);
  s.annotate(c, "meta_schedule.thread_extent_high_inclusive", 1024);
  CHECK(refused(s, {}) == 0);
  schedule few = s;
  few.unannotate(c, "meta_schedule.thread_extent_low_inclusive");
  few.annotate(c, "meta_schedule.thread_extent_low_inclusive", 64);
  CHECK(refused(few, {}) == 3);
  schedule many = s;
  many.unannotate(c, "meta_schedule.thread_extent_high_inclusive");
  many.annotate(c, "meta_schedule.thread_extent_high_inclusive", 16);
  CHECK(refused(many, {}) == 3);
}

TEST_CASE("a program without threads uses nothing") {
  const ir::function f = programs::matmul(8, 8, 8);
  CHECK(gpu_usage(f).empty());
  CHECK(refused(schedule(f), {}) == 0);
}

TEST_CASE("each nest is a kernel of its own") {
  schedule s(programs::matmul_relu(16, 32, 4));
  s.bind(s.loops<3>(s.get_block("P"))[1], "threadIdx.x");
  s.bind(s.loops<2>(s.get_block("C"))[0], "threadIdx.x");
  const std::vector<kernel_usage> kernels = gpu_usage(s.function());
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].threads == 32);
  CHECK(kernels[1].threads == 16);
}

TEST_CASE("drawn tiles that pass are within the limits and compute the same") {
  const space::design_space drawn = [](schedule& s) {
    const block_rv c = s.get_block("C");
    const auto [i, j, k] = s.loops<3>(c);
    const auto [ib, iy] = s.split(i, {infer, s.sample_categorical({2, 4, 8}, {1, 1, 1})});
    const auto [jb, jx] = s.split(j, {infer, s.sample_categorical({2, 4, 8}, {1, 1, 1})});
    const auto [k0, k1] = s.split(k, {infer, s.sample_categorical({2, 4, 8}, {1, 1, 1})});
    s.reorder(ib, jb, iy, jx, k0, k1);
    s.bind(s.fuse(ib, jb), "blockIdx.x");
    s.bind(iy, "threadIdx.y");
    s.bind(jx, "threadIdx.x");
    s.compute_at(s.cache_read(c, 0, "shared"), k0, true);
  };
  const ir::function f = programs::matmul(16, 16, 16);
  const verify_gpu_code small{.threads_per_block = 32, .shared_bytes = 4 * 32};
  std::size_t passed = 0;
  const std::size_t met =
      draws::check(f, drawn.sketches(f, draws::haswell(), 1), 50, [&](schedule& s) {
        small(s, draws::haswell());
        ++passed;
        const kernel_usage k = gpu_usage(s.function())[0];
        CHECK(k.threads <= 32);
        CHECK(k.shared_bytes <= 4 * 32);
      });
  CHECK(passed == 50);
  CHECK(met > 5);
  CHECK(met < 27);
}

TEST_CASE("limits that are left open are those of the device") {
  const sizes large{2, 4, 8, 64};  // of K at once: 64 x 64 and 64 x 32 elements
  schedule s = tiled(large);
  const std::int64_t bytes = gpu_usage(s.function())[0].shared_bytes;
  const target::gpu small = target::named_gpu("sm_86");
  target::gpu tiny = small;
  tiny.shared_per_block = bytes - 1;
  const auto requirement = [&](const schedule& of, const target::gpu& gpu) {
    try {
      schedule copy = of;
      verify_gpu_code{}(copy, {&gpu, 1});
      return 0;
    } catch (const schedule_error& e) {
      return e.requirement();
    }
  };
  CHECK(requirement(s, small) == 0);
  CHECK(requirement(s, tiny) == 4);
  target::gpu few = small;
  few.registers_per_multiprocessor = 32;
  CHECK(requirement(s, few) == 8);
  few = small;
  few.registers_per_thread = 1;
  CHECK(requirement(s, few) == 5);
}
