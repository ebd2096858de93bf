// A host that asks for a signal where floating-point arithmetic goes wrong, and rounds upwards.
#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <thread>
#include <vector>

#include "product.hpp"

using namespace tilewright;
using products::quick;

namespace {

using axes::i, axes::j;

/// Made-up data brings zeros, overflows and the logarithms of negative numbers.
constexpr auto risky =
    kernel<"risky">([](in<"X", float, "M", "N"> X, in<"D", float, "M"> D, out<"Y", float, "M"> Y) {
      return Y(i) = sum<j>(log(X(i, j) - D(i)) * exp(X(i, j) * 32.0f)) / (D(i) - D(i) * D(i));
    });

#ifdef __GLIBC__
class host_environment {
 public:
  static constexpr int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
  host_environment() {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(FE_UPWARD);
    feenableexcept(traps);
  }
  ~host_environment() { std::fesetenv(&before_); }
  static bool unchanged() { return fegetexcept() == traps && std::fegetround() == FE_UPWARD; }

 private:
  std::fenv_t before_;
};
#endif

struct arguments {
  std::vector<float> x = std::vector<float>(40 * 64), d = std::vector<float>(40),
                     y = std::vector<float>(40);
  arguments() {
    for (std::size_t n = 0; n < x.size(); ++n) x[n] = 1.0f + static_cast<float>(n % 7) * 0.125f;
    for (std::size_t n = 0; n < d.size(); ++n) d[n] = 0.25f + static_cast<float>(n % 5) * 0.0625f;
  }
  template <class Op>
  void call(const Op& op) {
    op(Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(x.data(), 40, 64), d, y);
  }
  bool right() const {
    for (std::size_t m = 0; m < y.size(); ++m) {
      double sum = 0;
      for (std::size_t n = 0; n < 64; ++n) {
        const double v = static_cast<double>(x[m * 64 + n]), w = static_cast<double>(d[m]);
        sum += std::log(v - w) * std::exp(v * 32);
      }
      const double w = static_cast<double>(d[m]), expected = sum / (w - w * w);
      if (!(std::abs(static_cast<double>(y[m]) - expected) <= 1e-3 * std::abs(expected)))
        return false;
    }
    return true;
  }
};

}  // namespace

#ifdef __GLIBC__
TEST_CASE("tuning does not raise the host's signals, and leaves its environment as it was") {
  for (const mode m : {mode::now, mode::background, mode::off}) {
    arguments a;
    {
      const host_environment host;
      tuned op{risky, quick(":memory:", m)};
      a.call(op);
      CHECK(host_environment::unchanged());
      CHECK(std::fetestexcept(FE_DIVBYZERO | FE_INVALID) == 0);
      op.wait();
      a.call(op);
      CHECK(host_environment::unchanged());
      CHECK_FALSE(op.report(Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(
                                a.x.data(), 40, 64),
                            a.d, a.y)
                      .empty());
      CHECK(host_environment::unchanged());
    }
    CHECK(a.right());
  }
}

TEST_CASE("the helpers of parallel loops have no traps, whoever starts them") {
  arguments a;
  {
    const host_environment host;
    tuned_options o = quick();
    o.threads = 3;
    o.space = [](schedule& s) { s.parallel(s.get_loops(s.block("Y")).front()); };
    tuned op{risky, o};
    for (int n = 0; n < 8; ++n) a.call(op);
    CHECK(host_environment::unchanged());
  }
  CHECK(a.right());
}
#endif
