#include <tilewright/impl/pass/gpu/shorten_loops.hpp>

#include <string>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// Rows of a triangle, 16 to a block and one to a thread: a part of 4 columns is copied, and added to the rows that it
/// belongs to. `guard` says to which, and `more` is done in each round beside.
ir::function triangle(const std::string& guard, const std::string& more = "",
                      const std::string& scope = "shared") {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
    for i in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(16, thread="threadIdx.x"):
            S = T.alloc_buffer((16, 4), "float32", scope="{s}")
            R = T.alloc_buffer((1,), "float32", scope="local")
            R[0] = T.float32(0)
            for p in range(8):
                for k in range(4):
                    S[t, k] = A[p * 4 + k]
)" + more + R"(
                if )" +
                     guard +
                     R"(:
                    for k in range(4):
                        R[0] = R[0] + S[t, k]
            B[i * 16 + t] = R[0]
)";
  text.replace(text.find("{s}"), 3, scope);
  return threads::without_blocks(text.c_str());
}

std::string shortened(const ir::function& f) {
  const ir::function out = pass::shorten_loops(f);
  threads::check_same(f, out);
  return ir::print(out);
}
bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a loop ends where no thread needs what it copies") {
  CHECK(has(shortened(triangle("p * 4 <= i * 16 + t")), "for p in range(T.min(8, "));
  CHECK(has(shortened(triangle("i * 16 + t > p * 4")), "for p in range(T.min(8, "));
  CHECK(has(shortened(triangle("p * 4 < i * 16 + t and i < 7")), "for p in range(T.min(8, "));
}

TEST_CASE("a loop whose last rounds are needed goes on to its end") {
  // by someone else, in another order, at some rounds only, or by data
  for (const char* guard : {"i * 16 + t <= p * 4", "p * 4 % 16 <= i * 16 + t",
                            "p * p <= i * 16 + t", "A[p] <= T.float32(1)"}) {
    CAPTURE(guard);
    CHECK(has(shortened(triangle(guard)), "for p in range(8)"));
  }
  CHECK(has(shortened(triangle("p * 4 <= i * 16 + t", "                C[i * 16 + t] = S[t, 3]")),
            "for p in range(8)"));
  CHECK(has(shortened(triangle("p * 4 <= i * 16 + t", "                R[0] = R[0] + S[t, 3]")),
            "for p in range(8)"));
  // registers are loops that are written out
  CHECK(has(shortened(triangle("p * 4 <= i * 16 + t", "", "local")), "for p in range(8)"));
}
