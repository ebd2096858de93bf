#include <tilewright/pass/gpu/reduce_across_threads.hpp>

#include <doctest/doctest.h>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

std::string sums(int threads, const char* axis) {
  return R"(
@T.prim_func
def main(A: T.Buffer((6, 50), "float32"), B: T.Buffer((6,), "float32")):
    for i_0 in T.thread_binding(2, thread="blockIdx.x"):
        for i_1 in T.thread_binding(4, thread="threadIdx.z"):
            for k_0 in range()" +
         std::to_string((50 + threads - 1) / threads) + R"():
                for k_1 in T.thread_binding()" +
         std::to_string(threads) + ", thread=\"" + axis + R"("):
                    with T.block("B"):
                        vi = T.axis.spatial(6, i_0 * 4 + i_1)
                        vk = T.axis.reduce(50, k_0 * )" +
         std::to_string(threads) + R"( + k_1)
                        T.where(i_0 * 4 + i_1 < 6 and k_0 * )" +
         std::to_string(threads) + R"( + k_1 < 50)
                        with T.init():
                            B[vi] = T.float32(0)
                        B[vi] = B[vi] + A[vi, vk]
)";
}

}  // namespace

TEST_CASE("through shared memory, threads reduce what the loops did") {
  for (const int threads : {2, 7, 8, 32, 64})
    for (const char* axis : {"threadIdx.x", "threadIdx.y"}) {
      CAPTURE(threads);
      const ir::function before = threads::without_blocks(sums(threads, axis).c_str());
      const ir::function after =
          pass::place_barriers(pass::plan_shared_memory(pass::compact_buffers(pass::simplify_loops(
              pass::unify_threads(pass::reduce_across_threads(before, {false}))))));
      // threads reassociate
      INFO(ir::print(after));
      std::vector<harness::argument> expected = harness::make_arguments(before, {}),
                                     got = harness::make_arguments(before, {});
      const auto run = [](const ir::function& f, std::vector<harness::argument>& memory) {
        std::vector<ir::tensor_view> views;
        for (harness::argument& a : memory) views.push_back({a.bytes.data(), a.strides});
        ir::interpret(f, views, {});
      };
      run(before, expected);
      run(after, got);
      CHECK(harness::difference(got[1], expected[1]) <= 1e-5);
    }
}

TEST_CASE(
    "powers of two along x exchange by shuffles, more than a warp through shared memory, too") {
  const auto shuffles = [](int threads, const char* axis) {
    return threads::count(
        pass::reduce_across_threads(threads::without_blocks(sums(threads, axis).c_str())),
        "tw_shuffle_xor");
  };
  CHECK(shuffles(8, "threadIdx.x") == 3);
  CHECK(shuffles(32, "threadIdx.x") == 5);
  CHECK(shuffles(64, "threadIdx.x") == 5);
  CHECK(shuffles(7, "threadIdx.x") == 0);
  CHECK(shuffles(8, "threadIdx.y") == 0);
}

TEST_CASE("a reduction that is no known reducer is refused") {
  const ir::function f = threads::without_blocks(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    for k in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("B"):
            vk = T.axis.reduce(8, k)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] * T.float32(2) + A[vk]
)");
  CHECK_THROWS_WITH_AS(pass::reduce_across_threads(f), doctest::Contains("none of the reducers"),
                       build_error);
}

TEST_CASE("the only block of a kernel adds up elements of any type") {
  for (const std::string type : {"float32", "int32", "int64"}) {
    CAPTURE(type);
    const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((1, 64), "TYPE"), B: T.Buffer((1,), "TYPE")):
    for i in T.thread_binding(1, thread="blockIdx.x"):
        for k in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.cast(0, "TYPE")
                B[vi] = B[vi] + A[vi, vk]
)";
    std::string typed;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (text.compare(at, 4, "TYPE") == 0)
        typed += type, at += 3;
      else
        typed += text[at];
    const ir::function f = pass::simplify_loops(threads::without_blocks(typed.c_str()));
    CHECK(threads::count(pass::reduce_across_threads(f), "tw_shuffle_xor") == 5);
  }
}
