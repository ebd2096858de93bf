#include <tilewright/cost/loop_context.hpp>

#include <tilewright/ir/text/parse.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace tilewright;
using namespace tilewright::cost;

namespace {

std::vector<loop_context> contexts_of(const std::string& text) {
  return loop_contexts(ir::parse(text));
}

const buffer_touch* touch(const loop_context& l, const std::string& name) {
  for (const buffer_touch& t : l.touches)
    if (t.name == name) return &t;
  return nullptr;
}

/// Stride, count, reuse, thread count, thread reuse.
void check_touch(const loop_context& l, const std::string& name, std::array<double, 5> expected) {
  INFO(name);
  const buffer_touch* t = touch(l, name);
  REQUIRE(t);
  CHECK(t->stride == expected[0]);
  CHECK(t->count == expected[1]);
  CHECK(t->reuse == expected[2]);
  CHECK(t->thread_count == expected[3]);
  CHECK(t->thread_reuse == expected[4]);
}

const char* product = R"(
@T.prim_func
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    for y, x, k in T.grid(128, 128, 128):
        with T.block("C"):
            vy, vx, vk = T.axis.remap("SSR", [y, x, k])
            with T.init():
                C[vy, vx] = T.float32(0)
            C[vy, vx] = C[vy, vx] + A[vy, vk] * B[vk, vx]
)";

}  // namespace

TEST_CASE("the loops of a product have the vectors that AutoTVM gives them") {
  const std::vector<loop_context> l = contexts_of(product);
  REQUIRE(l.size() == 3);
  SUBCASE("y") {
    CHECK(l[0].length == 128);
    CHECK(l[0].nest == 1);
    CHECK(l[0].topdown == 128);
    CHECK(l[0].bottomup == 2097152);
    check_touch(l[0], "A_0", {128, 16384, 128, 0, 0});
    check_touch(l[0], "B_0", {0, 16384, 128, 0, 0});
    check_touch(l[0], "C_0", {128, 16384, 1, 0, 0});  // the initialization is not below k
    check_touch(l[0], "C_1", {128, 16384, 128, 0, 0});
    CHECK(l[0].role == loop_role::spatial);
  }
  SUBCASE("x") {
    CHECK(l[1].nest == 2);
    CHECK(l[1].topdown == 16384);
    CHECK(l[1].bottomup == 16384);
    check_touch(l[1], "A_0", {0, 128, 128, 0, 0});
    check_touch(l[1], "B_0", {1, 16384, 1, 0, 0});
    check_touch(l[1], "C_1", {1, 128, 128, 0, 0});
    CHECK(l[1].parent == 0);
  }
  SUBCASE("k") {
    CHECK(l[2].nest == 3);
    CHECK(l[2].topdown == 2097152);
    CHECK(l[2].bottomup == 128);
    check_touch(l[2], "A_0", {1, 128, 1, 0, 0});
    check_touch(l[2], "B_0", {128, 128, 1, 0, 0});
    check_touch(l[2], "C_1", {0, 1, 128, 0, 0});
    check_touch(l[2], "C_2", {0, 1, 128, 0, 0});
    CHECK(touch(l[2], "C_0") == nullptr);
    CHECK(l[2].role == loop_role::reduce);
    CHECK(l[2].arithmetic == std::array<double, 3>{1, 1, 0});
  }
  for (const loop_context& loop : l) CHECK(loop.annotation == loop_annotation::serial);
}

TEST_CASE("threads see by how much the footprint grows across them") {
  const std::vector<loop_context> l = contexts_of(R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32")):
    for b in T.thread_binding(8, thread="blockIdx.x"):
        for t in T.thread_binding(32, thread="threadIdx.x"):
            for i in range(16):
                B[b * 512 + t * 16 + i] = A[t * 16 + i]
)");
  REQUIRE(l.size() == 3);
  CHECK(l[0].annotation == loop_annotation::block_x);
  CHECK(l[1].annotation == loop_annotation::thread_x);
  check_touch(l[2], "A_0", {1, 16, 1, 0, 0});
  check_touch(l[1], "A_0", {16, 512, 1, 32, 1});
  check_touch(l[1], "B_0", {16, 512, 1, 32, 1});
  check_touch(l[0], "A_0", {0, 512, 8, 1, 8});
  check_touch(l[0], "B_0", {512, 4096, 1, 8, 1});
}

TEST_CASE("touches are numbered in program order and sorted as text") {
  std::string body;
  for (int i = 0; i < 12; ++i) body += "        A[i] = A[i] + T.float32(1)\n";
  const std::vector<loop_context> l = contexts_of(
      "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\")):\n    for i in range(8):\n" + body);
  REQUIRE(l.size() == 1);
  REQUIRE(l[0].touches.size() == 24);
  CHECK(l[0].touches[2].name == "A_10");
  CHECK(l[0].touches[2].written);
  CHECK(l[0].touches[1].name == "A_1");
  CHECK(!l[0].touches[1].written);
}

TEST_CASE("loops of one iteration keep a row, and programs without loops have none") {
  CHECK(contexts_of("@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\")):\n    for i in "
                    "range(1):\n        A[i] = T.float32(1)\n")
            .size() == 1);
  CHECK(contexts_of("@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\")):\n    A[0] = "
                    "T.float32(1)\n")
            .empty());
}

TEST_CASE("a node has its numbers in their places, whatever the number of buffers") {
  const std::vector<loop_context> l = contexts_of(product);
  const node_row y = loop_node(l[0]), k = loop_node(l[2]);
  CHECK(y[0] == doctest::Approx(7.011227));
  CHECK(y[1] == 1);
  CHECK(y[4 + 9] == 1);                               // serial
  CHECK(y[15] == 1);                                  // spatial
  CHECK(k[16] == 1);                                  // reduce
  CHECK(k[18] == 1);                                  // log2(1 + 1)
  CHECK(y[21] == doctest::Approx(7.011227));          // C first: it is written
  CHECK(y[21 + 7 + 2] == doctest::Approx(7.011227));  // reuse of A
  for (const float x : y) CHECK(std::isfinite(x));
  for (std::size_t i = 42; i < 56; ++i) CHECK(y[i] == 0);  // no fourth buffer, and no others
}
