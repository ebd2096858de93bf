#include <tilewright/search/report/limits.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// 16 lanes; a multiply-add a nanosecond, two loads a nanosecond, caches that halve their rate.
roofline rates() {
  roofline out{32e9, 8e9};
  out.l1_bytes_per_second = 128e9;
  out.l2_bytes_per_second = 64e9;
  out.l3_bytes_per_second = 32e9;
  out.multiply_add_seconds = 4e-9;
  out.addition_seconds = 3e-9;
  return out;
}

target::cpu machine() {
  target::cpu out = target::named("skylake-avx512");
  out.vector_bits = 512;
  out.l1_bytes = 1000;
  out.l2_bytes = 10'000;
  out.l3_bytes = 100'000;
  return out;
}

backend::inner_loop loop_of(int multiply_adds, int loads, int chained) {
  backend::inner_loop out;
  out.instructions = multiply_adds + loads;
  out.multiply_adds = multiply_adds;
  out.vector_loads = loads;
  out.chained_multiply_adds = chained;
  out.operations = multiply_adds * 32;
  return out;
}

double of(const std::vector<limit>& all, const std::string& what) {
  for (const limit& l : all)
    if (l.of == what) return l.seconds;
  return 0;
}

}  // namespace

TEST_CASE("the part of the machine that takes longest is the nearest limit") {
  // 1000 iterations of 8 multiply-adds
  const call_work work{1000 * 8 * 32, 400, 1};
  const auto many = limits_of(rates(), machine(), work, loop_of(8, 2, 1));
  CHECK(many[0].of == "multiply-adds");
  CHECK(many[0].seconds == doctest::Approx(8e-6));
  CHECK(of(many, "loads") == doctest::Approx(1e-6));
  CHECK(of(many, "the latency of multiply-adds") == doctest::Approx(4e-6));
  CHECK(limits_of(rates(), machine(), work, loop_of(8, 20, 1))[0].of == "loads");
  const auto chained = limits_of(rates(), machine(), work, loop_of(8, 2, 4));
  CHECK(chained[0].of == "the latency of multiply-adds");
  CHECK(chained[0].seconds == doctest::Approx(16e-6));
  CHECK(of(limits_of(rates(), machine(), {work.operations, 400, 2}, loop_of(8, 2, 1)),
           "multiply-adds") == doctest::Approx(4e-6));
}

TEST_CASE("additions that wait for each other") {
  backend::inner_loop sum;
  sum.instructions = 3;
  sum.vector_loads = 1;
  sum.chained_additions = 1;
  sum.operations = 16;
  const auto all = limits_of(rates(), machine(), {16 * 100, 0, 1}, sum);
  CHECK(all[0].of == "the latency of additions");
  CHECK(all[0].seconds == doctest::Approx(300e-9));
  CHECK(of(all, "loads") == doctest::Approx(50e-9));
}

TEST_CASE("arguments come from the smallest cache that holds all of them") {
  const auto nearest = [](double bytes, int threads = 1) {
    const auto all = limits_of(rates(), machine(), {1, bytes, threads}, {});
    REQUIRE(all.size() == 1);
    return all[0];
  };
  CHECK(nearest(1000).of == "the first-level cache");
  CHECK(nearest(2000).of == "the second-level cache");
  CHECK(nearest(2000, 2).of == "the first-level cache");  // each has a half
  CHECK(nearest(20'000).of == "the last-level cache");
  CHECK(nearest(110'001).of == "memory");
  CHECK(nearest(2000).seconds == doctest::Approx(2000 / 64e9));
  CHECK(nearest(2'000'000, 2).seconds == doctest::Approx(2'000'000 / 16e9));
  CHECK(limits_of({}, machine(), {1, 100, 1}, loop_of(8, 2, 1)).empty());  // nothing was measured
  CHECK(limits_of(rates(), machine(), {1, 0, 1}, {}).empty());
}

TEST_CASE(
    "the work of a call: floats, or products of integers, and bytes unless data are indices") {
  const call_work product = work_of_call(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int8"), B: T.Buffer((16, 32), "int8"), C: T.Buffer((8, 32), "int32")):
    for i, j, k in T.grid(8, 32, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "int32") * T.cast(B[vk, vj], "int32")
)"),
                                         2);
  CHECK(product.threads == 2);
  CHECK(product.bytes == 8 * 16 + 16 * 32 + 4 * 8 * 32);
  CHECK(product.operations == doctest::Approx(2 * 8 * 32 * 16).epsilon(0.1));
  const call_work gather = work_of_call(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((64,), "float32"), I: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[I[vi]] + T.float32(1)
)"),
                                        1);
  CHECK(gather.bytes == 0);
  CHECK(gather.operations == 8);
}

TEST_CASE("the text has the nearest limit, the distance to it, and the others") {
  const std::vector<limit> all{{"loads", 8e-6}, {"multiply-adds", 4e-6}, {"memory", 1e-6}};
  CHECK(limits_text(all, 10e-6) ==
        "loads, 80 % of what they allow (8 us at best; multiply-adds 4 us, memory 1 us)");
  // code that was faster than loads allow does not load as its inner loop does
  CHECK(limits_text(all, 5e-6).find("multiply-adds, 80 % of") == 0);
  CHECK(limits_text(all, 7.5e-6).find("loads, 107 % of") == 0);
  CHECK(limits_text(all, 0.5e-6).empty());
  CHECK(limits_text({}, 1).empty());
}
