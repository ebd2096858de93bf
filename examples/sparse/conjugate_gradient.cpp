// Conjugate gradients: the temperature in a cube whose walls are cold, heated so that the answer is
// known.
//
// -u'' = f on a grid of n^3 points, with f such that u = sin(pi x) sin(pi y) sin(pi z) solves it up to
// the error of the grid, which falls with the square of its width.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

// [product]
constexpr auto product =
    tw::kernel<"cg_product">([](tw::in<"A", double, "M", tw::dia<"K">> A,
                                tw::in<"p", double, "K"> p, tw::out<"q", double, "M"> q) {
      using tw::axes::i, tw::axes::k;
      return q(i) = tw::sum<k>(A(i, k) * p(k));
    });
// [product]

namespace {

using sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// The seven-point stencil on n^3 points inside of the unit cube.
sparse laplacian(int n) {
  std::vector<Eigen::Triplet<double>> entries;
  const double scale = static_cast<double>(n + 1) * (n + 1);
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) {
        const int at = (x * n + y) * n + z;
        entries.emplace_back(at, at, 6 * scale);
        if (x > 0) entries.emplace_back(at, at - n * n, -scale);
        if (x + 1 < n) entries.emplace_back(at, at + n * n, -scale);
        if (y > 0) entries.emplace_back(at, at - n, -scale);
        if (y + 1 < n) entries.emplace_back(at, at + n, -scale);
        if (z > 0) entries.emplace_back(at, at - 1, -scale);
        if (z + 1 < n) entries.emplace_back(at, at + 1, -scale);
      }
  sparse out(n * n * n, n * n * n);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

constexpr double pi = 3.14159265358979323846;

Eigen::VectorXd known_solution(int n) {
  Eigen::VectorXd out(n * n * n);
  const auto wave = [&](int k) { return std::sin(pi * (k + 1) / (n + 1)); };
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) out[(x * n + y) * n + z] = wave(x) * wave(y) * wave(z);
  return out;
}

/// Solves A x = b, where `multiply(p, q)` is q = A p; gives the number of iterations.
int solve(const Eigen::VectorXd& b, Eigen::VectorXd& x, const auto& multiply, bool talk) {
  x.setZero(b.size());
  Eigen::VectorXd r = b, p = b, q(b.size());
  double now = r.squaredNorm();
  const double enough = 1e-20 * now;
  int iteration = 0;
  for (; now > enough && iteration < 1000; ++iteration) {
    if (talk && iteration % 20 == 0)
      std::cout << "  iteration " << iteration << ", residual " << std::sqrt(now / b.squaredNorm())
                << "\n";
    multiply(p, q);
    const double length = now / p.dot(q);
    x += length * p;
    r -= length * q;
    const double next = r.squaredNorm();
    p = r + next / now * p;
    now = next;
  }
  return iteration;
}

double milliseconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main() {
  const int n = 48;
  const sparse a = laplacian(n);
  const Eigen::VectorXd exact = known_solution(n);
  Eigen::VectorXd b = 3 * pi * pi * exact;
  // a second load with all frequencies, so that there is something to iterate for
  for (Eigen::Index k = 0; k < b.size(); ++k) b[k] += k * 7919 % 101 < 50 ? 1 : -1;

  const tw::dia_matrix<double> diagonals(a);
  const tw::tuned op{product, {.seconds = 2, .threads = 1}};
  Eigen::VectorXd x(b.size()), expected(b.size());
  op.warm(diagonals, b, x);  // tunes on this pattern

  std::cout << n << "^3 points, " << a.nonZeros() << " elements\n";
  const auto ours = [&](const Eigen::VectorXd& p, Eigen::VectorXd& q) { op(diagonals, p, q); };
  const auto eigens = [&](const Eigen::VectorXd& p, Eigen::VectorXd& q) { q.noalias() = a * p; };
  const int iterations = solve(b, x, ours, true);
  const double residual = (a * x - b).norm() / b.norm();
  double own = 1e9, eigen = 1e9;  // of a product, the best of some in turns
  for (int turn = 0; turn < 20; ++turn) {
    own = std::min(own, milliseconds([&] { ours(b, x); }));
    eigen = std::min(eigen, milliseconds([&] { eigens(b, expected); }));
  }
  std::cout << iterations << " iterations, residual " << residual << "; one product " << own
            << " ms, Eigen's " << eigen << " ms\n";

  solve(3 * pi * pi * exact, x, ours, false);
  const double error = (x - exact).cwiseAbs().maxCoeff();
  const double expected_error = pi * pi / 12 / ((n + 1) * (n + 1));
  std::cout << "error against the known temperature " << error << "; the grid allows "
            << expected_error << "\n";
  return residual < 1e-9 && std::abs(error / expected_error - 1) < 0.1 ? 0 : 1;
}
