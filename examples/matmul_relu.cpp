// The main job: describe a computation, call it, and get a kernel that was searched, compiled,
// verified, measured and stored.
//
// CMake builds it with the library compiled once (`tilewright::tilewright`), so that it compiles in
// seconds. Without CMake, one file of a program defines TILEWRIGHT_IMPLEMENT, and all are compiled
// with -DTILEWRIGHT_DECLARE_ONLY. Without either, it compiles the whole library: two to three minutes.
#include <tilewright/tilewright.hpp>

#include <Eigen/Dense>
#include <chrono>
#include <iostream>

// [readme]
constexpr auto matmul_relu =
    tw::kernel<"matmul_relu">([](tw::in<"A", float, "M", "K"> A, tw::in<"B", float, "K", "N"> B,
                                 tw::out<"C", float, "M", "N"> C) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return C(i, j) = max(tw::sum<k>(A(i, k) * B(k, j)), 0.0f);
    });
// [readme]

namespace {

double milliseconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double best_of(int repeats, const auto& work) {
  double best = milliseconds(work);
  for (int r = 1; r < repeats; ++r) best = std::min(best, milliseconds(work));
  return best;
}

}  // namespace

int main() {
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(512, 256),
                        b = Eigen::MatrixXf::Random(256, 512);
  Eigen::MatrixXf c(512, 512), expected(512, 512);

  tw::tuned op{matmul_relu};
  std::cout << "first call: search, compile, check, measure, keep ...\n";
  const double first = milliseconds([&] { op(a, b, c); });
  const double later = best_of(50, [&] { op(a, b, c); });
  const double eigen = best_of(50, [&] { expected = (a * b).cwiseMax(0.0f); });

  const float difference = (c - expected).cwiseAbs().maxCoeff();
  std::cout << "first call  " << first << " ms\n"
            << "later calls " << later << " ms, " << 2e-6 * 512 * 512 * 256 / later << " GFLOP/s\n"
            << "Eigen       " << eigen << " ms\n"
            << "largest difference from Eigen " << difference << "\n\n"
            << op.report(a, b, c) << "\n";
  return difference < 1e-3f ? 0 : 1;
}
