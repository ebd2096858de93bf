// What NaN does to maxima and minima, in every form and order.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include "engines.hpp"

using namespace tilewright;
using namespace test_kernels;

namespace {

using axes::i, axes::j;

template <class T>
constexpr auto largest = kernel<"largest">([](in<"X", T, "M", "N"> X, out<"Y", T, "M"> Y) {
  return Y(i) = maximum<j>(X(i, j));
});
template <class T>
constexpr auto smallest = kernel<"smallest">([](in<"X", T, "M", "N"> X, out<"Y", T, "N"> Y) {
  return Y(j) = minimum<i>(X(i, j));
});
template <class T>
constexpr auto clamped = kernel<"clamped">([](in<"X", T, "N"> X, in<"L", T, "N"> L,
                                              out<"Y", T, "N"> Y, out<"Z", T, "N"> Z) {
  return blocks(Y(i) = maximum(X(i), L(i)), Z(i) = minimum(L(i), X(i)));
});
constexpr auto plain =
    kernel<"plain">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y, out<"Z", float, "N"> Z) {
      return blocks(Y(i) = max(X(i), 0.0f), Z(i) = min(0.0f, X(i)));
    });

/// Runs what the interpreter runs as machine code of several schedules, on the host and on lesser
/// processors, and calls `right` after each.
template <class Right>
void on_all_engines(const any_kernel& kernel, const dim_values& dims, std::vector<void*> data,
                    const Right& right) {
  const ir::function f = reify(kernel, dims);
  CHECK(ir::print(ir::parse(ir::print(f))) == ir::print(f));
  std::vector<ir::tensor_view> views;
  for (void* p : data) views.push_back({p, {}});
  ir::interpret(f, views, {});
  right();
  if (!backend::compiler_available()) return;
  std::vector<ir::function> versions{f};
  for (const schedule& s : space::default_cpu().sketches(f, {&target::host(), 2}, 1))
    if (versions.size() < 5) versions.push_back(s.function());
  for (const char* name : {"x86-64", "haswell", "skylake-avx512"}) {
    const target::cpu cpu = target::named(name);
    if (!target::runs_on(cpu, target::host())) continue;
    for (const ir::function& version : versions) {
      INFO(name, "\n", ir::print(version));
      run_compiled(version, data, cpu);
      right();
    }
  }
}

template <class T>
void check_reductions() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t n : {1, 7, 16, 37, 131, 300})
    for (const std::int64_t at : {std::int64_t{-1}, std::int64_t{0}, n / 2, n - 1}) {
      constexpr std::int64_t m = 3;
      std::vector<T> x = numbers<T>(static_cast<std::size_t>(m * n), 3), y(m),
                     z(static_cast<std::size_t>(n));
      if (at >= 0) x[static_cast<std::size_t>(n + at)] = static_cast<T>(nan);
      on_all_engines(largest<T>, {{"M", m}, {"N", n}}, {x.data(), y.data()}, [&] {
        for (std::int64_t r = 0; r < m; ++r) {
          T expected = -std::numeric_limits<T>::infinity();
          for (std::int64_t c = 0; c < n; ++c)
            expected = std::max(expected, x[static_cast<std::size_t>(r * n + c)]);
          const T found = y[static_cast<std::size_t>(r)];
          CHECK((r == 1 && at >= 0 ? std::isnan(found) : found == expected));
        }
      });
      on_all_engines(smallest<T>, {{"M", m}, {"N", n}}, {x.data(), z.data()}, [&] {
        for (std::int64_t c = 0; c < n; ++c)
          CHECK(std::isnan(z[static_cast<std::size_t>(c)]) == (c == at));
      });
    }
}

}  // namespace

TEST_CASE("maximum and minimum of rows and columns are NaN where an element is NaN") {
  check_reductions<float>();
  check_reductions<double>();
}

TEST_CASE("maximum and minimum of two are NaN where either is NaN") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  inf = std::numeric_limits<float>::infinity();
  std::vector<float> x, l;
  for (const float a : {nan, -inf, -1.0f, 0.0f, 2.0f, inf, 3.0f, -4.0f, 1e-40f})
    for (const float b : {nan, -inf, -1.0f, 0.0f, 2.0f, inf, 5.0f}) x.push_back(a), l.push_back(b);
  std::vector<float> y(x.size()), z(x.size());
  on_all_engines(clamped<float>, {{"N", static_cast<std::int64_t>(x.size())}},
                 {x.data(), l.data(), y.data(), z.data()}, [&] {
                   for (std::size_t n = 0; n < x.size(); ++n) {
                     const bool none = std::isnan(x[n]) || std::isnan(l[n]);
                     CHECK(std::isnan(y[n]) == none);
                     CHECK(std::isnan(z[n]) == none);
                     if (none) continue;
                     CHECK(y[n] == std::max(x[n], l[n]));
                     CHECK(z[n] == std::min(x[n], l[n]));
                   }
                 });
}

TEST_CASE("max and min are their second operand where either is NaN") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(40, 1.0f), y(x.size()), z(x.size());
  for (std::size_t n = 0; n < x.size(); n += 3) x[n] = nan;
  on_all_engines(plain, {{"N", static_cast<std::int64_t>(x.size())}},
                 {x.data(), y.data(), z.data()}, [&] {
                   for (std::size_t n = 0; n < x.size(); ++n) {
                     CHECK(y[n] == (std::isnan(x[n]) ? 0.0f : 1.0f));
                     CHECK((std::isnan(x[n]) ? std::isnan(z[n]) : z[n] == 0.0f));
                   }
                 });
}

TEST_CASE("of integers maximum is max, of small floats it keeps NaN") {
  const ir::function f = reify(largest<std::int32_t>, {{"M", 2}, {"N", 4}});
  CHECK(ir::print(f).find("T.max(") != std::string::npos);
  CHECK(ir::print(f).find("maximum") == std::string::npos);
  const ir::function half = reify(largest<float16>, {{"M", 2}, {"N", 4}});
  CHECK(ir::print(half).find("T.maximum(") != std::string::npos);
  std::vector<float16> x(8, float16(1.0f)), y(2);
  x[5] = float16(std::numeric_limits<float>::quiet_NaN());
  on_all_engines(largest<float16>, {{"M", 2}, {"N", 4}}, {x.data(), y.data()}, [&] {
    CHECK(static_cast<float>(y[0]) == 1.0f);
    CHECK(std::isnan(static_cast<float>(y[1])));
  });
}
