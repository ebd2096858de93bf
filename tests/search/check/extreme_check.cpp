#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/session.hpp>

#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

/// A product of bytes in 32 bits; `pair` is what two neighbours add.
ir::function byte_product(const std::string& pair) {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((24, 64), "uint8"), B: T.Buffer((40, 64), "int8"), C: T.Buffer((24, 40), "int32")):
    for i, j, k in T.grid(24, 40, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + )" +
                   pair + "\n");
}

std::string product_in(const std::string& type, const std::string& k) {
  return "T.cast(A[vi, " + k + "], \"" + type + "\") * T.cast(B[vj, " + k + "], \"" + type + "\")";
}

const std::string right_pair =
    "(" + product_in("int32", "vk * 2") + " + " + product_in("int32", "vk * 2 + 1") + ")";
const std::string wrapping_pair = "T.cast(" + product_in("int16", "vk * 2") + " + " +
                                  product_in("int16", "vk * 2 + 1") + ", \"int32\")";
const std::string saturating_pair = "T.max(T.min(" + right_pair + ", 32767), -32768)";

workload of(const ir::function& f) {
  workload w;
  w.function = f;
  w.key = {ir::workload_key(f).hex(), "test", "", 1};
  w.family = "bytes";
  w.machine = &target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  return w;
}

/// A session on `f` in which every candidate but the default schedule is compiled from `wrong`.
tuning_result with_candidates(const ir::function& f, const ir::function& wrong) {
  database db(":memory:");
  session_options o = few(24);
  std::atomic<int> builds{0};
  o.measuring.build = [&](const ir::function& scheduled, const target::machine& where) {
    // the first is the default schedule at full extents, the second the one that is interpreted
    return build(builds++ < 2 ? scheduled : wrong, where);
  };
  o.measuring.runner = [&](const workload&) -> measurer {  // which takes the wrong ones for fast
    return [&](const built&, const measure_options&) {
      measurement m;
      m.seconds = {builds < 3 ? 1.0 : 0.1};
      return m;
    };
  };
  return tune(of(f), o, db);
}

/// What code of `actual` computes differently from code of `expected` on one set of data.
std::string difference(const ir::function& expected, const ir::function& actual, value_set set) {
  runner r(expected, {}, backend::serial_executor(), 7, {}, argument_memory::sharing::none, set);
  const built a = build(expected, target::host()), b = build(actual, target::host());
  REQUIRE(a.code);
  REQUIRE(b.code);
  REQUIRE(r.run(*a.code).ok());
  const auto outputs = r.outputs();
  REQUIRE(r.run(*b.code).ok());
  return compare_outputs(r.operands(), needs_of(expected), outputs, r.outputs(), non_finite::alike);
}

template <class T>
std::vector<T> values_of(const ir::function& f, std::size_t which) {
  runner r(f, {}, backend::serial_executor(), 7, {}, argument_memory::sharing::none,
           value_set::extreme);
  std::vector<T> out(static_cast<std::size_t>(r.operands()[which].elements()));
  std::memcpy(out.data(), r.data()[which], out.size() * sizeof(T));
  return out;
}

}  // namespace

TEST_CASE("bytes that are multiplied in 16 bits differ on extreme values, and on no others") {
  const ir::function right = byte_product(right_pair);
  for (const std::string& pair : {wrapping_pair, saturating_pair}) {
    CHECK(difference(right, byte_product(pair), value_set::usual).empty());
    CHECK_FALSE(difference(right, byte_product(pair), value_set::extreme).empty());
  }
  CHECK(difference(right, right, value_set::extreme).empty());
}

TEST_CASE("a fast implementation that narrows does not win") {
  for (const std::string& pair : {wrapping_pair, saturating_pair}) {
    const tuning_result r = with_candidates(byte_product(right_pair), byte_product(pair));
    CHECK_FALSE(r.improved);
    REQUIRE(r.failures.count(failure::wrong_result));
    bool said = false;
    for (const std::string& remark : r.remarks)
      said = said || remark.find("dropped: on extreme values: C[") != std::string::npos;
    CHECK(said);
  }
}

TEST_CASE("extreme integers take their whole range, where nothing but data depends on them") {
  const ir::function f = byte_product(right_pair);
  const auto a = values_of<std::uint8_t>(f, 0);
  const auto b = values_of<std::int8_t>(f, 1);
  CHECK(std::set<std::uint8_t>(a.begin(), a.end()).size() > 100);
  CHECK(std::count(a.begin(), a.end(), 255) > static_cast<std::ptrdiff_t>(a.size() / 6));
  CHECK(std::count(b.begin(), b.end(), -128) > static_cast<std::ptrdiff_t>(b.size() / 6));
  CHECK(std::count(b.begin(), b.end(), 127) > static_cast<std::ptrdiff_t>(b.size() / 6));

  const auto all = operands(ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((32,), "int32"), I: T.Buffer((16,), "int32"), D: T.Buffer((16,), "int32"), S: T.Buffer((16,), "int32"), V: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    J = T.alloc_buffer((16,), "int32")
    for i in range(16):
        with T.block("J"):
            vi = T.axis.spatial(16, i)
            J[vi] = I[vi] + 1
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = X[J[vi]] // D[vi] + T.shift_left(V[vi], S[vi])
)"));
  CHECK_FALSE(all[0].steers);  // dividends and what is shifted are data
  CHECK(all[1].steers);        // an index, by way of J
  CHECK(all[2].steers);        // a divisor
  CHECK(all[3].steers);        // the count of a shift
  CHECK_FALSE(all[4].steers);
}

TEST_CASE("extreme floats cancel exactly where they add up, and differ in magnitude where not") {
  const ir::function product = reify(kernels::matmul_relu, {{"M", 16}, {"N", 16}, {"K", 64}});
  const auto a = values_of<float>(product, 0), b = values_of<float>(product, 1);
  bool zero = false, negative_zero = false;
  for (const float v : a) {
    CHECK(std::abs(v) <= 4 * 0x1p18f);
    CHECK(v * 0x1p-18f == std::round(v * 0x1p-18f));
    zero = zero || (v == 0 && !std::signbit(v));
    negative_zero = negative_zero || (v == 0 && std::signbit(v));
  }
  CHECK(zero);
  CHECK(negative_zero);
  for (const float v : b) CHECK(v * 0x1p18f == std::round(v * 0x1p18f));

  const ir::function alone = reify(kernels::count_up, {{"N", 256}});
  float least = std::numeric_limits<float>::max(), most = 0;
  for (const float v : values_of<float>(alone, 0))
    if (v != 0) least = std::min(least, std::abs(v)), most = std::max(most, std::abs(v));
  CHECK(most / least > 0x1p30f);

  for (const float v : values_of<float>(reify(kernels::square_root, {{"N", 64}}), 0)) CHECK(v > 0);
}

TEST_CASE("right candidates pass: sums in another order, and results that are no numbers") {
  const ir::function product = reify(kernels::matmul_relu, {{"M", 16}, {"N", 16}, {"K", 640}});
  const tuning_result r = [&] {
    database db(":memory:");
    return tune(of(product), few(16), db);
  }();
  CHECK(r.failures.count(failure::wrong_result) == 0);
  for (const std::string& remark : r.remarks) CHECK(remark.find("extreme") == std::string::npos);

  const std::vector<operand> y{{"Y", dtype::f32, false, {2}, {1}, true, false, {}}};
  const auto bytes_of = [](std::array<float, 2> v) {
    std::vector<std::byte> out(sizeof v);
    std::memcpy(out.data(), v.data(), sizeof v);
    return std::vector<std::vector<std::byte>>{out};
  };
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = NAN;
  CHECK_FALSE(compare_outputs(y, {}, bytes_of({nan, 1}), bytes_of({inf, 1})).empty());
  CHECK(compare_outputs(y, {}, bytes_of({nan, -inf}), bytes_of({inf, inf}), non_finite::alike)
            .empty());
  CHECK_FALSE(
      compare_outputs(y, {}, bytes_of({nan, 1}), bytes_of({0, 1}), non_finite::alike).empty());
}
