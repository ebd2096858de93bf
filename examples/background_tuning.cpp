// Tuning that nobody waits for: calls answer at once, a spare thread searches, the better code is
// swapped in.
#include <tilewright/tilewright.hpp>

#include <Eigen/Dense>

#include <cstdio>

using namespace tw;

namespace {

constexpr auto matmul_relu = kernel<"matmul_relu">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f);
    });

void heard(const search::event& e) {
  if (e.what == search::event::kind::swap)
    std::printf("%s: %s\n", e.kernel.c_str(), e.text.c_str());
}

}  // namespace

int main() {
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(128, 64), b = Eigen::MatrixXf::Random(64, 96);
  Eigen::MatrixXf c(128, 96);
  tuned op{matmul_relu, {.seconds = 2, .mode = mode::background, .events = heard}};
  op(a, b, c);  // answers at once with the default schedule
  warm(op, {{"M", 64}, {"K", 64}, {"N", 96}}, storage::column_major);  // extents that will come
  op.wait();    // only for this example: the search ends by itself
  op(a, b, c);  // runs what it found
  op.cancel();  // would end a search; what was measured is kept
  std::printf("%s", op.report(a, b, c).c_str());
  const float worst = (c - (a * b).cwiseMax(0.0f)).cwiseAbs().maxCoeff();
  return worst < 1e-4f ? 0 : 1;
}
