// Calls with results that are stored like an input.
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <expr/sampled_kernels.hpp>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using namespace sparse_frames;

namespace {

constexpr auto sampled = sampled_kernels::sampled<compressed<"N">>;
constexpr auto scaled =
    kernel<"scaled">([](in<"A", double, "M", compressed<"N", std::int64_t>> A,
                        in<"x", double, "M"> x, inout<"W", double, "M", stored_like<"N", "A">> W) {
      return W(i, j) = W(i, j) + x(i) * A(i, j);
    });

}  // namespace

TEST_CASE(
    "a sampled product, tuned and not, on one thread and two, in both orders of the dense ones") {
  const sparse_rows a = random_rows(50, 40, 5, 1);
  const dense_rows x = dense_rows::Random(50, 33), y = dense_rows::Random(40, 33);
  const Eigen::MatrixXf x_columns = x;
  sparse_rows expected = a;
  for (int r = 0; r < a.rows(); ++r)
    for (sparse_rows::InnerIterator at(expected, r); at; ++at)
      at.valueRef() *= x.row(r).dot(y.row(at.col()));
  const Eigen::Map<const Eigen::VectorXf> want(expected.valuePtr(), expected.nonZeros());
  for (const mode m : {mode::off, mode::now})
    for (const int threads : {1, 2}) {
      tuned_options o = short_tuning(m);
      o.threads = threads;
      const tuned op(sampled, o);
      Eigen::VectorXf values = Eigen::VectorXf::Constant(a.nonZeros(), 7);
      op(a, x, y, values);
      CHECK(values.isApprox(want, 1e-5f));
      sparse_rows s = a;
      op(a, x_columns, y, s);
      CHECK(Eigen::Map<const Eigen::VectorXf>(s.valuePtr(), s.nonZeros()).isApprox(want, 1e-5f));
    }
}

TEST_CASE("a schedule in one loop over all elements is stored, and found by the next process") {
  const sparse_rows a = random_rows(50, 40, 5, 1);
  const dense_rows x = dense_rows::Random(50, 32), y = dense_rows::Random(40, 32);
  tuned_options o = short_tuning(mode::now);
  o.own_database = std::make_shared<search::database>(":memory:");
  o.space = space::design_space([](schedule& s, const space::context& where) {
    space::chooser choices;
    if (!space::fuse_elements(s, where, choices)) throw std::logic_error("nothing was fused");
  });
  const auto check = [&](const tuned_options& options) {
    const tuned op(sampled, options);
    Eigen::VectorXf values = Eigen::VectorXf::Constant(a.nonZeros(), 7);
    op(a, x, y, values);
    for (int r = 0, at = 0; r < a.rows(); ++r)
      for (sparse_rows::InnerIterator e(a, r); e; ++e, ++at)
        CHECK(values[at] ==
              doctest::Approx(e.value() * x.row(r).dot(y.row(e.col()))).epsilon(1e-4));
    return op.report(a, x, y, values);
  };
  CHECK(check(o).find("tuned by this process") != std::string::npos);
  o.mode = mode::off;
  const std::string later = check(o);
  CAPTURE(later);
  CHECK(later.find("stored schedule") != std::string::npos);
}

TEST_CASE("values on a pattern that are updated, with indices of 64 bits") {
  std::vector<std::int64_t> offsets{0, 2, 2, 3}, indices{0, 2, 1};
  std::vector<double> values{1, 2, 3}, w{10, 20, 30};
  const std::vector<double> x{2, 3, 4};
  tuned op(scaled, short_tuning());
  op(csr(offsets, indices, values, 3), x, w);
  CHECK(w == std::vector<double>{12, 24, 42});
}

TEST_CASE("a matrix given for a result has the pattern of the input, or is refused unwritten") {
  const sparse_rows a = random_rows(20, 15, 3, 2);
  const dense_rows x = dense_rows::Random(20, 8), y = dense_rows::Random(15, 8);
  const tuned op(sampled, short_tuning());
  const auto refused = [&](sparse_rows s) {
    const sparse_rows before = s;
    const std::string out = refusal([&] { op(a, x, y, s); });
    if (!out.empty()) CHECK((s - before).norm() == 0);
    return out;
  };
  CHECK(refused(a) == "");
  CHECK(refused(random_rows(20, 15, 4, 3)).find("elements instead of") != std::string::npos);
  CHECK(refused(sparse_rows(19, 15)).find("has 19 rows instead of 20") != std::string::npos);
  sparse_rows moved = a;
  moved.innerIndexPtr()[0] = moved.innerIndexPtr()[0] == 0 ? 1 : 0;
  CHECK(refused(moved) ==
        "the sparse matrix given for \"S\" has another index at position 0; it begins as a copy of "
        "the one given for \"A\"");
  std::vector<float> few(3);
  CHECK(refusal([&] { op(a, x, y, few); }).find("\"A_nnz\"") != std::string::npos);
}

TEST_CASE("patterns without elements or rows") {
  const tuned op(sampled, short_tuning());
  sparse_rows none(4, 3);
  none.makeCompressed();
  const dense_rows x = dense_rows::Random(4, 2), y = dense_rows::Random(3, 2);
  std::vector<float> values;
  CHECK(refusal([&] { op(none, x, y, values); }) == "");
}
