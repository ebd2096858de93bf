// A kernel, its arguments, and how it is tuned for a test.
#pragma once

#include <stdlib.h>

#include <Eigen/Core>
#include <filesystem>
#include <string>

#include <tilewright/tuned.hpp>

#include "support/forks.hpp"

namespace products {

using namespace tilewright;

using forks::forks_usable;

inline constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

using matrix = Eigen::MatrixXf;

struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/tilewright-modes-XXXXXX";
    path = mkdtemp(name);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file() const { return path + "/t.db"; }
};

inline tuned_options quick(const std::string& database = ":memory:", mode m = mode::now) {
  tuned_options o;
  o.seconds = 30;  // the trials end it, on a busy machine too
  o.trials = 4;
  o.database = database;
  o.mode = m;
  return o;
}

struct problem {
  matrix a, b, c;
  explicit problem(int m = 96, int k = 64, int n = 80)
      : a(matrix::Random(m, k)), b(matrix::Random(k, n)), c(m, n) {}
  template <class Op>
  bool right(const Op& op) {
    c.setZero();
    op(a, b, c);
    return (c - a * b).cwiseAbs().maxCoeff() < 1e-4f;
  }
};

}  // namespace products
