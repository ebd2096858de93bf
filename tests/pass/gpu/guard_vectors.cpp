#include <tilewright/pass/gpu/guard_vectors.hpp>

#include <string>
#include <vector>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// A copy of 96 elements by 3 times 8 threads and vectors of 4, of which `guard` keeps some.
ir::function guarded(const std::string& guard) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((96,), "float32"), B: T.Buffer((96,), "float32")):
    for i in range(3):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("B"):
                    T.where()" +
                           guard + R"()
                    vi = T.axis.spatial(96, i * 32 + t * 4 + v)
                    B[vi] = A[vi] + T.float32(1)
)";
  return threads::without_blocks(text.c_str());
}

/// Whether the guard stands outside of the vectors.
bool is_outside(const ir::function& f) {
  const std::string text = ir::print(pass::guard_vectors(f));
  const std::size_t guard = text.find("if "), vectors = text.find("T.vectorized(4)");
  REQUIRE(guard != text.npos);
  REQUIRE(vectors != text.npos);
  return guard < vectors;
}

}  // namespace

TEST_CASE("a bound that cuts no vector guards whole vectors") {
  for (const std::string& guard :
       std::vector<std::string>{"i * 32 + t * 4 + v < 76", "i * 32 + t * 4 + v <= 75",
                                "8 <= i * 32 + t * 4 + v", "7 < i * 32 + t * 4 + v",
                                "i * 32 + t * 4 + v < 76 and 8 <= i * 32 + t * 4 + v", "t < 5"}) {
    CAPTURE(guard);
    const ir::function f = guarded(guard);
    CHECK(is_outside(f));
    threads::check_same(f, pass::guard_vectors(f));
  }
}

TEST_CASE("a bound within a vector, or another condition on lanes, guards each lane") {
  for (const std::string& guard :
       std::vector<std::string>{"i * 32 + t * 4 + v < 77", "i * 32 + t * 4 + v <= 76",
                                "9 <= i * 32 + t * 4 + v", "i * 32 + t * 4 + v * 2 < 76",
                                "i * 32 + t * 2 + v < 76", "(i * 32 + t * 4 + v) % 3 < 2"}) {
    CAPTURE(guard);
    const ir::function f = guarded(guard);
    CHECK_FALSE(is_outside(f));
    threads::check_same(f, pass::guard_vectors(f));
  }
}

TEST_CASE("zeros beyond a bound that cuts no vector stand for whole vectors") {
  const auto padded = [](const std::string& inside) {
    const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((96,), "float32"), B: T.Buffer((96,), "float32")):
    for i in range(3):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("B"):
                    vi = T.axis.spatial(96, i * 32 + t * 4 + v)
                    B[vi] = T.if_then_else()" +
                             inside + R"(, A[vi], T.float32(0))
)";
    return threads::without_blocks(text.c_str());
  };
  for (const auto& [inside, whole] :
       {std::pair("vi < 76", true), {"8 <= vi and vi < 76", true}, {"vi < 77", false}}) {
    CAPTURE(inside);
    const ir::function f = padded(inside), out = pass::guard_vectors(f);
    const std::string text = ir::print(out), mark = "if_then_else(";
    const std::size_t at = text.find(mark);
    REQUIRE(at != text.npos);
    const std::string condition =
        text.substr(at + mark.size(), text.find(", A[", at) - at - mark.size());
    const bool lanes = condition.find('v') != condition.npos;
    CHECK(lanes != whole);
    threads::check_same(f, out);
  }
}
