#include <tilewright/pass/gpu/fuse_kernels.hpp>

#include <doctest/doctest.h>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// Kernels with barriers and places of a function with blocks, which asks for fusion.
ir::function kernels(const std::string& text) {
  ir::function out = pass::place_barriers(
      pass::plan_shared_memory(pass::unify_threads(threads::without_blocks(text.c_str()))));
  out.attrs[ir::horizontal_note] = 1;
  return out;
}

std::size_t launches(const ir::function& f) { return threads::count(f, "thread=\"blockIdx.x\""); }

std::string copy(const std::string& to, const std::string& from, int blocks, int many,
                 const std::string& axis = "threadIdx.x") {
  const std::string b = std::to_string(blocks), t = std::to_string(many);
  return "    for i in T.thread_binding(" + b +
         ", thread=\"blockIdx.x\"):\n"
         "        for j in T.thread_binding(" +
         t + ", thread=\"" + axis +
         "\"):\n"
         "            with T.block(\"" +
         to +
         "\"):\n"
         "                vi = T.axis.spatial(64, i * " +
         t + " + j)\n                T.where(i * " + t + " + j < 64)\n                " + to +
         "[vi] = " + from + "[vi] + T.float32(1)\n";
}

const std::string head =
    "@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\"), C: "
    "T.Buffer((64,), \"float32\"), D: T.Buffer((64,), \"float32\")):\n";

}  // namespace

TEST_CASE("kernels that do not wait for each other are one launch, blocks side by side") {
  const ir::function before = kernels(head + copy("B", "A", 4, 16) + copy("C", "A", 2, 32));
  const ir::function after = pass::fuse_kernels(before, 1024);
  CHECK(launches(before) == 2);
  CHECK(launches(after) == 1);
  CHECK(threads::count(after, "T.thread_binding(6, thread=\"blockIdx.x\")") == 1);
  CHECK(threads::count(after, "T.thread_binding(32, thread=\"threadIdx.x\")") == 1);
  CHECK(threads::count(after, "if tx < 16") == 1);
  threads::check_same(before, after);
}

TEST_CASE("nobody asked, nothing is fused") {
  ir::function before = kernels(head + copy("B", "A", 4, 16) + copy("C", "A", 2, 32));
  before.attrs.clear();
  CHECK(ir::print(pass::fuse_kernels(before, 1024)) == ir::print(before));
  before.attrs[ir::horizontal_note] = 0;
  CHECK(launches(pass::fuse_kernels(before, 1024)) == 2);
}

TEST_CASE("a kernel comes behind what it reads, and as early as it may") {
  // C waits for B; D waits for nobody
  const ir::function before =
      kernels(head + copy("B", "A", 4, 16) + copy("C", "B", 4, 16) + copy("D", "A", 4, 16));
  const ir::function after = pass::fuse_kernels(before, 1024);
  CHECK(launches(after) == 2);
  const std::string text = ir::print(after);
  CHECK(text.find("D[") < text.find("C["));
  threads::check_same(before, after);
  // all write or read what the others need
  const ir::function chain =
      kernels(head + copy("B", "A", 4, 16) + copy("C", "B", 4, 16) + copy("B", "D", 4, 16));
  CHECK(launches(pass::fuse_kernels(chain, 1024)) == 3);
}

TEST_CASE("threads in other shapes keep their numbers") {
  const ir::function before = kernels(head + copy("B", "A", 4, 16, "threadIdx.y") +
                                      copy("C", "A", 4, 16) + copy("D", "A", 8, 8, "threadIdx.z"));
  const ir::function after = pass::fuse_kernels(before, 1024);
  CHECK(launches(after) == 1);
  CHECK(threads::count(after, "thread=\"threadIdx.") == 1);
  threads::check_same(before, after);
}

TEST_CASE("blocks on several axes become blocks on one") {
  const std::string grid = R"(    for y in T.thread_binding(2, thread="blockIdx.y"):
        for x in T.thread_binding(4, thread="blockIdx.x"):
            for j in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("D"):
                    vi = T.axis.spatial(64, y * 32 + x * 8 + j)
                    D[vi] = A[vi] * T.float32(2)
)";
  const ir::function before = kernels(head + copy("B", "A", 4, 16) + grid);
  const ir::function after = pass::fuse_kernels(before, 1024);
  CHECK(threads::count(after, "T.thread_binding(12, thread=\"blockIdx.x\")") == 1);
  CHECK(threads::count(after, "blockIdx.y") == 0);
  threads::check_same(before, after);
}

TEST_CASE("parts that wait for all of their threads have as many as the others, and share memory") {
  const auto reversed = [](const std::string& to, int many) {
    const std::string t = std::to_string(many), b = std::to_string(64 / many);
    return "    for i in T.thread_binding(" + b +
           ", thread=\"blockIdx.x\"):\n"
           "        for j in T.thread_binding(" +
           t + ", thread=\"threadIdx.x\"):\n            with T.block(\"S" + to +
           "\"):\n                vi, vj = T.axis.remap(\"SS\", [i, j])\n                S" + to +
           "[vi, vj] = A[vi * " + t + " + vj]\n        for j in T.thread_binding(" + t +
           ", thread=\"threadIdx.x\"):\n            with T.block(\"" + to +
           "\"):\n                vi, vj = T.axis.remap(\"SS\", [i, j])\n                " + to +
           "[vi * " + t + " + vj] = S" + to + "[vi, " + std::to_string(many - 1) + " - vj]\n";
  };
  const auto shared = [](const std::string& of, int many) {
    const std::string t = std::to_string(many), b = std::to_string(64 / many);
    return "    S" + of + " = T.alloc_buffer((" + b + ", " + t +
           "), \"float32\", scope=\"shared\")\n";
  };
  const ir::function before =
      kernels(head + shared("B", 16) + shared("C", 16) + reversed("B", 16) + reversed("C", 16));
  const ir::function after = pass::fuse_kernels(before, 1024);
  CHECK(launches(after) == 1);
  CHECK(threads::count(after, "tvm_storage_sync") == 2);
  threads::check_same(before, after);
  const ir::function uneven =
      kernels(head + shared("B", 16) + shared("C", 32) + reversed("B", 16) + reversed("C", 32));
  CHECK(launches(pass::fuse_kernels(uneven, 1024)) == 2);
}

TEST_CASE("kernels that do nothing but add to one buffer do not wait for each other") {
  const auto adds = [](const std::string& name, const std::string& from, bool atomic) {
    return "    for i in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
           "        for j in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
           "            with T.block(\"" +
           name +
           "\"):\n"
           "                vi = T.axis.spatial(64, i * 16 + j)\n" +
           (atomic ? "                T.block_attr({\"tilewright.atomic\": 1})\n" : "") +
           "                D[vi] = D[vi] + " + from + "[vi]\n";
  };
  for (const bool both : {true, false}) {
    const ir::function before = kernels(head + adds("x", "A", true) + adds("y", "B", both));
    const ir::function after = pass::fuse_kernels(before, 1024);
    CHECK(launches(after) == (both ? 1 : 2));
    threads::check_same(before, after);
  }
}
