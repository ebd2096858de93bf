#include <tilewright/pass/gpu/swizzle_shared.hpp>

#include <string>

#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// A matrix is transposed by way of shared memory of that scope.
ir::function transposed(const std::string& scope, int columns = 32) {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((32, {n}), "float32"), B: T.Buffer(({n}, 32), "float32")):
    S = T.alloc_buffer((32, {n}), "float32", scope="{scope}")
    for i in T.thread_binding(1, thread="blockIdx.x"):
        for r in range(32):
            for c in T.thread_binding({n}, thread="threadIdx.x"):
                with T.block("S"):
                    vr, vc = T.axis.remap("SS", [r, c])
                    S[vr, vc] = A[vr, vc]
        for c in range({n}):
            for r in T.thread_binding(32, thread="threadIdx.x"):
                with T.block("B"):
                    vc, vr = T.axis.remap("SS", [c, r])
                    B[vc, vr] = S[vr, vc]
)";
  const auto put = [&](const std::string& word, const std::string& value) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word))
      text.replace(at, word.size(), value);
  };
  put("{n}", std::to_string(columns));
  put("{scope}", scope);
  return threads::without_blocks(text.c_str());
}

}  // namespace

TEST_CASE(
    "a buffer of scope shared.swizzled is stored to and read at other places, and holds the same") {
  const ir::function before = transposed("shared.swizzled");
  const ir::function after = pass::swizzle_shared(before);
  CHECK(threads::count(before, "bitwise_xor") == 0);
  CHECK(threads::count(after, "bitwise_xor") == 2);
  threads::check_same(before, after);
}

TEST_CASE("other shared memory stays as it is, where no matrices are loaded from it") {
  const ir::function before = transposed("shared");
  CHECK(ir::print(pass::swizzle_shared(before)) == ir::print(before));
}

TEST_CASE("rows without a pattern are refused") {
  CHECK_THROWS_WITH_AS(
      pass::swizzle_shared(transposed("shared.swizzled", 20)),
      doctest::Contains("buffer S of scope shared.swizzled cannot be swizzled: its rows have to be "
                        "dense, and of 32, 64 or a multiple of 128 bytes"),
      build_error);
}

TEST_CASE("memory that is read in columns of 4 bytes: where its rows fill all banks") {
  const ir::function before = transposed("shared.columns");
  const ir::function after = pass::swizzle_shared(before);
  CHECK(threads::count(after, "bitwise_xor") == 2);
  CHECK(threads::count(after, "% 4 * 2") == 2);  // four rows side by side in eight places
  threads::check_same(before, after);
  for (const int columns : {16, 20})
    CHECK(ir::print(pass::swizzle_shared(transposed("shared.columns", columns))) ==
          ir::print(transposed("shared.columns", columns)));
}
