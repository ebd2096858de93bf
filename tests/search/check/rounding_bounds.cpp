#include <tilewright/impl/search/check/rounding_bounds.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using workloads::few, workloads::product;

namespace {

/// Matrices of 3x3 inverted by cofactors: differences of products, which cancel, over one more.
constexpr auto inverted =
    kernel<"inverted">([](in<"A", float, "N", 3, 3> A, out<"B", float, "N", 3, 3> B) {
      using axes::n, axes::i, axes::j;
      temp<"D", float, "N"> D;
      const auto minor = [&](auto r, auto s, auto t, auto u) {
        return A(n, r, s) * A(n, t, u) - A(n, r, u) * A(n, t, s);
      };
      return blocks(D(n) = A(n, 0, 0) * minor(1, 1, 2, 2) - A(n, 0, 1) * minor(1, 0, 2, 2) +
                           A(n, 0, 2) * minor(1, 0, 2, 1),
                    B(n, i, j) = minor((j + 1) % 3, (i + 1) % 3, (j + 2) % 3, (i + 2) % 3) / D(n));
    });

/// Y is nearly nothing: what rounding leaves of X * X - X * X + X * small.
constexpr auto cancelled =
    kernel<"cancelled">([](in<"X", float, "N"> X, in<"Z", float, "N"> Z, out<"Y", float, "N"> Y) {
      using axes::i;
      return Y(i) = X(i) * Z(i) - Z(i) * X(i) + Z(i) * 1e-9f;
    });

constexpr auto squares = kernel<"squares">([](in<"X", float, "N"> X, out<"Y", float> Y) {
  using axes::i;
  return Y() = sum<i>(X(i) * X(i));
});

}  // namespace

TEST_CASE("what rounding may do to an element is allowed, and no more") {
  const ir::function f = reify(cancelled, {{"N", 40}});
  runner r(f, {}, backend::serial_executor(), 7);
  search::detail::rounding_bounds bounds(f, r);
  float x = 0, z = 0;
  std::memcpy(&x, r.data()[0], sizeof x);
  std::memcpy(&z, r.data()[1], sizeof z);
  const auto last = static_cast<double>(z) * 1e-9;  // the exact result
  const double product = std::abs(static_cast<double>(x) * static_cast<double>(z));
  CHECK_FALSE(bounds.allow(2, 0, last, last + 1e-5 * product, 0));
  CHECK(bounds.allow(2, 0, last, last + 1e-7 * product, 0));
  CHECK(bounds.allow(2, 0, last - 1e-7 * product, last, 0));
}

TEST_CASE("a long sum that lacks terms is not taken for rounding") {
  constexpr int terms = 65536;  // a bound for all orders is 0.8 % of the sum
  const ir::function f = reify(squares, {{"N", terms}});
  runner r(f, {}, backend::serial_executor(), 7);
  search::detail::rounding_bounds bounds(f, r);
  double total = 0;
  const auto* x = static_cast<const float*>(r.data()[0]);
  for (int i = 0; i < terms; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  CHECK(bounds.allow(1, 0, total, total * (1 + 1e-6), 0));
  CHECK_FALSE(bounds.allow(1, 0, total, total * 0.997, 0));
}

TEST_CASE("kernels whose sums cancel are tuned: rounding is no fault of a schedule") {
  for (const int matrices : {7, 40, 1000}) {
    database db(":memory:");
    workload w = product();
    w.function = reify(inverted, {{"N", matrices}});
    w.extents = {matrices};
    w.shrunk = [] { return reify(inverted, {{"N", 5}}); };
    const tuning_result r = tune(w, few(12), db);
    CHECK(r.trials > 1);
    const auto wrong = r.failures.find(failure::wrong_result);
    CHECK(wrong == r.failures.end());
  }
}
