#include <tilewright/cost/features.hpp>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/text/parse.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace tilewright;
using namespace tilewright::cost;

namespace {

const char* tiled_product = R"(
@T.prim_func
def main(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32"), C: T.Buffer((512, 512), "float32")):
    for io in T.parallel(32):
        for jo in T.parallel(64):
            for k in T.unroll(512):
                for ji in T.vectorized(8):
                    for ii in range(16):
                        with T.block("C"):
                            vi = T.axis.spatial(512, io * 16 + ii)
                            vj = T.axis.spatial(512, jo * 8 + ji)
                            vk = T.axis.reduce(512, k)
                            T.reads(A[vi, vk], B[vk, vj])
                            T.writes(C[vi, vj])
                            with T.init():
                                C[vi, vj] = T.float32(0)
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

double slog(double x) { return std::log2(x + 1); }

/// `values` are what the row holds from `at` on.
void check_slots(const feature_row& row, std::size_t at, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("slot ", at + i);
    CHECK(static_cast<double>(row[at + i]) == doctest::Approx(values[i]).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("the features of a tiled product") {
  const std::vector<feature_row> rows = store_features(ir::parse(tiled_product));
  REQUIRE(rows.size() == 2);  // initialization and update
  const feature_row& row = rows[1];
  check_slots(row, 0, {0, 27, 27, 0, 0, 0, 0, 0, 29, 29, 0, 0, 0, 0, 0, 0});
  check_slots(row, 16, {1, 3.169924, 3.169924, 0, 0, 0, 0, 0, 0, 0, 1});
  check_slots(row, 27, {1, 9.002815, 9.002815, 0, 0, 0, 0, 0, 0, 0, 1});
  check_slots(row, 38, {1.58496, 11.0007, 6.022368, 0, 0, 0, 0, 0, 0, 0, 1});
  check_slots(row, 49, {0, 1, 1, 1, 1, 1, 1, 1});
  SUBCASE("buffers by the number of lines") {
    check_slots(row, 57,
                {1, 0, 0, 29, 20, 27, 14.000088, 1, 0, 0, 4.087463, 7.055283, 3.169925, 26, 17, 24,
                 11.000704, 9.002815});
    check_slots(row, 75,
                {0, 0, 1, 29, 20, 27, 14.000088, 1, 0, 0, 7.011227, 9.250299, 9.002815, 20,
                 11.000704, 18, 5.044394, 9.002815});
    check_slots(row, 93,
                {1, 0, 0, 29, 20, 19, 14.000088, 1, 0, 0, 1.0, 3.700440, 4.087463, 25, 16,
                 15.000044, 10.001408, 0});
    check_slots(row, 111, std::vector<double>(36, 0.0));
  }
  SUBCASE("arithmetic intensity, allocation and context") {
    check_slots(row, 147,
                {3.812599, 4.464822, 4.912349, 5.253426, 5.529086, 5.760430, 5.959752, 6.134849,
                 6.290977, 6.431846});
    check_slots(row, 157, {20, 18, 1, 27, 27, 2.584963, 0});
  }
  SUBCASE("the initialization runs outside the reduction") {
    check_slots(rows[0], 161, {18, slog(4), 0});
    check_slots(rows[0], 57, {0, 1, 0, 20, 20});
  }
}

TEST_CASE("staged operands count with the size that their allocation shrinks to") {
  const auto rows = store_features(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64, 128), "float32"), B: T.Buffer((64, 128), "float32")):
    P = T.alloc_buffer((64, 128))
    for i in range(64):
        for j in range(128):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = A[vi, vj] * T.float32(2)
        for j in range(128):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = P[vi, vj] + T.float32(1)
)"));
  REQUIRE(rows.size() == 2);
  check_slots(rows[0], 157, {slog(512), slog(128 * 64), slog(64), slog(128)});
  // B reads what the store before wrote in the same iteration of i
  const std::size_t panel = 75;  // by name: B, then P
  check_slots(rows[1], panel, {1, 0, 0});
  check_slots(rows[1], panel + 7, {0, 1, 0, slog(2), slog((512 * 2 + 64 * 128 * 4 * 2) / 64.0)});
}

TEST_CASE("fused and divided indices") {
  const auto rows = store_features(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64, 32), "float32"), B: T.Buffer((64, 32), "float32")):
    for f in T.parallel(128):
        for v in T.vectorized(16):
            with T.block("B"):
                vi = T.axis.spatial(64, f // 2)
                vj = T.axis.spatial(32, f % 2 * 16 + v)
                B[vi, vj] = A[vi, vj]
)"));
  REQUIRE(rows.size() == 1);
  check_slots(rows[0], 57, {1, 0, 0, slog(64 * 32 * 4), slog(64 * 32 * 4)});
  check_slots(rows[0], 57 + 17, {slog(1)});
}

TEST_CASE("programs that features must survive") {
  SUBCASE("no store") {
    const auto f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32")):
    T.evaluate(0)
)");
    CHECK(store_features(f).empty());
  }
  SUBCASE("negative and empty extents") {
    const auto f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(-3):
        for j in range(0):
            B[i + j] = A[i] + T.float32(1)
)");
    const auto rows = store_features(f);
    REQUIRE(rows.size() == 1);
    for (const float x : rows[0]) CHECK(std::isfinite(x));
  }
  SUBCASE("symbolic extents, indirect indices, no loop") {
    const auto f = ir::parse(R"(
@T.prim_func
def main(a: T.handle, I: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32"), n: T.int32):
    A = T.match_buffer(a, (n,))
    B[0] = T.float32(1)
    for i in range(8):
        for j in range(n):
            B[i] = B[i] + A[I[i] * 2 + j]
)");
    const auto rows = store_features(f);
    REQUIRE(rows.size() == 2);
    for (const feature_row& row : rows)
      for (const float x : row) CHECK(std::isfinite(x));
  }
}

TEST_CASE("integer kernels have a curve of arithmetic intensity") {
  const auto rows = store_features(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    for i in range(64):
        B[i] = A[i] * 3
)"));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][156] > 0);
}

TEST_CASE("a cache answers the second question") {
  feature_cache cache(2);
  const ir::function f = ir::parse(tiled_product);
  const auto a = cache.of(f, ir::workload_key(f));
  CHECK(cache.of(f, ir::workload_key(f)) == a);
  CHECK(cache.size() == 1);
  cache.of(f, {1, 2});
  cache.of(f, {1, 3});  // full: forgets
  CHECK(cache.size() == 1);
}

TEST_CASE("a gather along a pattern goes on by the distance between its elements") {
  ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((65536,), "float32"), at: T.Buffer((1024,), "int32"), B: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("B"):
            vi = T.axis.spatial(1024, i)
            T.reads(X[0:65536], at[vi])
            T.writes(B[vi])
            B[vi] = X[at[vi]]
)");
  constexpr std::size_t lines = 57 + 5;  // of the buffer of which most are touched
  const auto touched = [&] { return static_cast<double>(store_features(f).at(0)[lines]); };
  CHECK(touched() == doctest::Approx(slog(1024)));
  ir::note_pattern(f, {2});
  CHECK(touched() == doctest::Approx(slog(1024 * 2 * 4 / 64)));
  ir::note_pattern(f, {1e6});
  CHECK(touched() == doctest::Approx(slog(1024)));
}

TEST_CASE("numbers of a pattern stand where a program for a GPU has its threads") {
  ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi]
)");
  const feature_row plain = store_features(f).at(0);
  ir::note_pattern(f, {1});
  CHECK(store_features(f).at(0)[51] == plain[51]);  // what is not known is as without a pattern
  ir::note_pattern(f, {1, 8, 0.5, 16, 0.25, 0.75, 0.125, 0.0625});
  const feature_row noted = store_features(f).at(0);
  const std::vector<double> numbers{8, 0.5, 16, 0.25, 0.75, 0.125, 0.0625};
  for (std::size_t n = 0; n < numbers.size(); ++n)
    CHECK(static_cast<double>(noted[50 + n]) == doctest::Approx(slog(1 + numbers[n])));
  for (std::size_t at = 0; at < feature_count; ++at)
    if (at < 50 || at > 56) CHECK(noted[at] == plain[at]);
  feature_options gpu;
  gpu.gpu = true;
  ir::function without = f;
  without.attrs.erase(ir::pattern_attribute);
  CHECK(store_features(f, gpu).at(0) == store_features(without, gpu).at(0));
}
