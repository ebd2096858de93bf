#include <tilewright/pass/gpu/pipeline_loops.hpp>

#include <algorithm>

#include <doctest/doctest.h>

#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// C[i] = sum over k of A[k, i] * 2, through T in each step; the numbers of the annotations as text.
ir::function sums(const std::string& stages, const std::string& order, int steps = 8) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer(()" + std::to_string(steps) +
                           R"(, 4), "float32"), C: T.Buffer((4,), "float32")):
    for k in T.serial()" + std::to_string(steps) +
                           R"(, annotations={"software_pipeline_stage": )" + stages +
                           R"(, "software_pipeline_order": )" + order + R"(}):
        with T.block("step"):
            vk = T.axis.spatial()" +
                           std::to_string(steps) +
                           R"(, k)
            T.reads(A[vk, 0:4], C[0:4])
            T.writes(C[0:4])
            X = T.alloc_buffer((4,), "float32")
            for i in range(4):
                with T.block("X"):
                    vi = T.axis.spatial(4, i)
                    X[vi] = A[vk, vi] * T.float32(2)
            for i in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(4, i)
                    C[vi] = C[vi] + X[vi]
)";
  return threads::without_blocks(text.c_str());
}

}  // namespace

TEST_CASE(
    "statements of several iterations stand in one round, on versions of what they allocate") {
  const ir::function before = sums("[0, 1]", "[0, 1]");
  const ir::function after = pass::simplify_loops(pass::pipeline_loops(before));
  CHECK(threads::count(after, "T.serial(7") + threads::count(after, "range(7)") == 1);
  CHECK(threads::count(after, "% 2") >= 2);
  CHECK(threads::count(after, "software_pipeline") == 0);
  threads::check_same(before, after);
}

TEST_CASE("what is read before it is written again needs one version less") {
  const ir::function before = sums("[0, 1]", "[1, 0]");
  const ir::function after = pass::simplify_loops(pass::pipeline_loops(before));
  CHECK(threads::count(after, "% 2") == 0);
  threads::check_same(before, after);
}

TEST_CASE("three stages, and loops that are too short for them") {
  const ir::function before = sums("[0, 3]", "[0, 1]");
  const ir::function after = pass::simplify_loops(pass::pipeline_loops(before));
  CHECK(threads::count(after, "% 4") >= 2);
  threads::check_same(before, after);
  const ir::function brief = sums("[0, 3]", "[0, 1]", 3);
  CHECK(threads::count(pass::pipeline_loops(brief), "range(3)") +
            threads::count(pass::pipeline_loops(brief), "T.serial(3") ==
        1);
  threads::check_same(brief, pass::pipeline_loops(brief));
}

TEST_CASE("other numbers of statements than annotations leave the loop as it is") {
  const ir::function before = sums("[0, 0, 1]", "[0, 1, 2]");
  threads::check_same(before, pass::pipeline_loops(before));
  CHECK(threads::count(pass::pipeline_loops(before), "% 2") == 0);
}

TEST_CASE("a statement that would come before what it depends on is refused") {
  CHECK_THROWS_WITH_AS(pass::pipeline_loops(sums("[1, 0]", "[0, 1]")),
                       doctest::Contains("meet at buffer X"), build_error);
  CHECK_THROWS_WITH_AS(pass::pipeline_loops(sums("[0, 0]", "[1, 0]")),
                       doctest::Contains("who comes first"), build_error);
  CHECK_THROWS_WITH_AS(pass::pipeline_loops(sums("[0, 1]", "[0, 0]")),
                       doctest::Contains("no permutation"), build_error);
}

namespace {

/// S is copied from those columns of A two steps ahead; what was read of it, in X of that scope, is added
/// a step later.
ir::function read_and_used_later(int steps, const std::string& order, const std::string& scope,
                                 const std::string& column = "vi",
                                 const std::string& stages = "[0, 2, 3]",
                                 const std::string& more = "") {
  const std::string n = std::to_string(steps);
  const std::string text =
      R"(
@T.prim_func
def main(A: T.Buffer(()" +
      n + R"(, 8), "float32"), C: T.Buffer((4,), "float32")):
    for k in T.serial()" +
      n + R"(, annotations={"software_pipeline_stage": )" + stages +
      R"(, "software_pipeline_order": )" + order + R"(, "software_pipeline_async_stages": [0])" +
      more + R"(}):
        with T.block("step"):
            vk = T.axis.spatial()" +
      n + R"(, k)
            T.reads(A[vk, 0:8], C[0:4])
            T.writes(C[0:4])
            S = T.alloc_buffer((4,), "float32", scope="shared")
            X = T.alloc_buffer((4,), "float32", scope=")" +
      scope + R"(")
            for i in T.vectorized(4):
                with T.block("S"):
                    vi = T.axis.spatial(4, i)
                    S[vi] = A[vk, )" +
      column + R"(]
            for i in range(4):
                with T.block("X"):
                    vi = T.axis.spatial(4, i)
                    X[vi] = S[vi] * T.float32(2)
            for i in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(4, i)
                    C[vi] = C[vi] + X[vi]
)";
  return threads::without_blocks(text.c_str());
}

}  // namespace

TEST_CASE("statements behind those that read what is copied: their last rounds follow the loop") {
  for (const int steps : {2, 3, 8}) {
    CAPTURE(steps);
    const ir::function after = pass::simplify_loops(
        pass::pipeline_loops(read_and_used_later(steps, "[1, 2, 0]", "global")));
    INFO(ir::print(after));
    // waits stand before the first reading round, in the loop, and nowhere behind it
    CHECK(threads::count(after, "tw_copy_async") == static_cast<std::size_t>(std::min(steps, 4)));
    CHECK(threads::count(after, "async_wait") == 2);
    CHECK(threads::count(after, "range(" + std::to_string(steps - 1) + ")") +
              threads::count(after, "T.serial(" + std::to_string(steps - 1)) ==
          (steps > 2 ? 1U : 0U));
  }
}

TEST_CASE("registers have no versions: a round ends iterations before it begins others") {
  const ir::function after =
      pass::simplify_loops(pass::pipeline_loops(read_and_used_later(8, "[0, 1, 2]", "local")));
  INFO(ir::print(after));
  CHECK(threads::count(after, "tw_copy_async") == 4);
  CHECK(threads::count(after, "X = T.decl_buffer((4,)") == 1);
  const std::string text = ir::print(after);
  const std::size_t loop = text.find("in range(7)");
  REQUIRE(loop != text.npos);
  const std::size_t used = text.find("C[i] = C[i] +", loop), filled = text.find("X[i] =", loop),
                    copied = text.find("tw_copy_async", loop);
  CHECK(used < filled);
  CHECK(filled < copied);
}

TEST_CASE("a vector of elements that are no neighbours is copied element by element") {
  const auto loops_around_copies = [](const char* column) {
    const ir::function after = pass::simplify_loops(
        pass::pipeline_loops(read_and_used_later(8, "[1, 2, 0]", "global", column)));
    INFO(ir::print(after));
    CHECK(threads::count(after, "tw_copy_async") == 4);
    return threads::count(after, "T.vectorized") - threads::count(after, "async_wait");
  };
  CHECK(loops_around_copies("vi + 4") == 0);
  CHECK(loops_around_copies("(vi + 4) // 8 * 4 + (vi + 4) % 8") == 0);  // neighbours in the end
  CHECK(loops_around_copies("vi // 2 * 4 + vi % 2") == 4);
  CHECK(loops_around_copies("3 - vi") == 4);
}

TEST_CASE(
    "statements that the lists of a pipeline leave out follow the last one, where it says so") {
  const auto piped = [](const char* stages, const char* order, const char* more) {
    return ir::print(pass::simplify_loops(
        pass::pipeline_loops(read_and_used_later(8, order, "global", "vi", stages, more))));
  };
  const std::string rest = ", \"software_pipeline_rest\": 1";
  const std::string whole = piped("[0, 2, 2]", "[0, 1, 2]", "");
  CHECK(whole.find("tw_copy_async") != whole.npos);
  CHECK(piped("[0, 2]", "[0, 1]", rest.c_str()) == whole);
  CHECK(piped("[0, 2]", "[0, 1]", "") != whole);
}
