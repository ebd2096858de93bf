#include <tilewright/pass/gpu/tensor/copy_tensors.hpp>

#include <string>
#include <vector>

#include <tilewright/pass/pipeline.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "../kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// A thread copies tiles of `from` to shared memory, and doubles what it finds there.
ir::function copied(const std::string& from, const std::string& where = "True",
                    const std::string& note = ", \"tilewright.tensor_copy\": 1") {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((40, 64), "float32"), B: T.Buffer((48, 64), "float32")):
    for i in T.thread_binding(6, thread="blockIdx.x"):
        S = T.alloc_buffer((8, 64), "float32", scope="shared")
        for t in T.thread_binding(1, thread="threadIdx.x"):
            with T.block("S"):
                vi = T.axis.spatial(6, i)
                T.reads(A[0:40, 0:64])
                T.writes(S[0:8, 0:64])
                T.block_attr({"auto_copy": 1{note}})
                for r, c in T.grid(8, 64):
                    if {where}:
                        S[r, c] = {from}
            for r, c in T.grid(8, 64):
                with T.block("B"):
                    vr = T.axis.spatial(48, i * 8 + r)
                    vc = T.axis.spatial(64, c)
                    T.where(i * 8 + r < 40)
                    B[vr, vc] = S[vr - i * 8, vc] * T.float32(2)
)";
  const auto put = [&](const std::string& word, const std::string& value) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word))
      text.replace(at, word.size(), value);
  };
  put("{where}", where);
  put("{from}", from);
  put("{note}", note);
  return ir::parse(text);
}

/// As the pass leaves it.
ir::function lowered(const ir::function& f) {
  pass::pipeline p = pass::pipeline::standard_gpu();
  bool behind = false;
  for (const std::string& name : p.names()) {
    if (behind) p.drop(name);
    behind = behind || name == "copy_tensors";
  }
  return p.run(f, target::named_gpu("sm_90a"));
}

void check_refused(const ir::function& f, const std::string& why) {
  CHECK_THROWS_WITH_AS(lowered(f), doctest::Contains(why.c_str()), build_error);
}

}  // namespace

TEST_CASE("what a copy is left to the engine is a box, and says what it copies") {
  const ir::function f = copied("A[vi * 8 + r, c]", "vi * 8 + r < 40");
  const ir::function out = lowered(f);
  CHECK(threads::count(out, "tw_copy_tensor") == 1);
  const std::string text = ir::print(out);
  CHECK_MESSAGE(text.find("8, 64, 0)") != text.npos, text);  // sides and no swizzle
}

TEST_CASE("copies that are no boxes are refused") {
  check_refused(copied("A[c // 8, c]"), "is no box of A");
  check_refused(copied("A[vi + r * 2, c]"), "is no box of A");
  check_refused(copied("A[vi, c]"), "copies the same elements again");
  check_refused(copied("A[c // 2 + r, c]"), "is no box of A");
  check_refused(copied("A[vi * 8 + r, c] + T.float32(1)"), "is computed on the way");
  check_refused(copied("A[vi * 8 + r, c]", "c < 48"), "under a condition");
}

TEST_CASE("without its annotation a copy is nothing to the pass") {
  CHECK(threads::count(lowered(copied("A[vi * 8 + r, c]", "vi * 8 + r < 40", "")),
                       "tw_copy_tensor") == 0);
}
