#include <tilewright/pass/gpu/gather_additions.hpp>

#include <doctest/doctest.h>
#include <tilewright/pass/gpu/unify_threads.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// Kernels of a function with blocks.
ir::function kernels(const std::string& body) {
  const std::string text =
      "@T.prim_func\ndef main(A: T.Buffer((4, 12), \"float32\"), n: T.Buffer((4,), \"int32\"), C: "
      "T.Buffer((4,), \"float32\")):\n" +
      body;
  return pass::unify_threads(threads::without_blocks(text.c_str()));
}

const std::string block =
    "            with T.block(\"C\"):\n"
    "                vi = T.axis.spatial(4, i)\n"
    "                vk = T.axis.reduce(12, k)\n"
    "                T.block_attr({\"tilewright.atomic\": 1})\n";

}  // namespace

TEST_CASE("terms of one element are summed before memory adds them") {
  const ir::function before = kernels(
      "    for i in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
      "        for k in range(12):\n" +
      block + "                C[vi] = C[vi] + A[vi, vk]\n");
  const ir::function after = pass::gather_additions(before);
  CAPTURE(ir::print(after));
  CHECK(threads::count(after, "C_sum = T.") == 1);
  CHECK(threads::count(after, "tilewright.atomic") == 1);
  CHECK(threads::count(after, "C_any") == 0);  // there are always terms
  threads::check_same(before, after, 1e-5);
}

TEST_CASE("where there may be no term, nothing is added") {
  const ir::function before = kernels(
      "    for i in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
      "        for k in range(12):\n" +
      block +
      "                T.where(k < i * 2)\n"
      "                C[vi] = C[vi] + A[vi, vk]\n");
  const ir::function after = pass::gather_additions(before);
  CAPTURE(ir::print(after));
  CHECK(threads::count(after, "C_any[0] != 0") == 1);
  threads::check_same(before, after, 1e-5);
}

TEST_CASE("elements that differ between iterations are added one by one") {
  const ir::function before = kernels(
      "    for k in T.thread_binding(12, thread=\"blockIdx.x\"):\n"
      "        for i in range(4):\n" +
      block + "                C[vi] = C[vi] + A[vi, vk]\n");
  CHECK(ir::print(pass::gather_additions(before)) == ir::print(before));
}
