#include <tilewright/built_kernel.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/support/error.hpp>
#include <tilewright/tilewright.hpp>

#include <expr/refusal.hpp>
#include <top/product.hpp>

using namespace tw;
using products::quick;
using test_kernels::refusal;

namespace {

any_kernel built_product() {
  kernel_builder b("built_product");
  const auto A = b.in("A", dtype::f32, {"M", "K"}), W = b.weight("W", dtype::f32, {"K", "N"}),
             C = b.out("C", dtype::f32, {"M", "N"});
  const auto i = b.axis("i"), j = b.axis("j"), k = b.axis("k");
  b.define(C(i, j) = reduce(dsl::reduction::sum, {k}, A(i, k) * W(k, j)));
  return b.build();
}

}  // namespace

TEST_CASE("a kernel that is made at run time is called, tuned and reported as others are") {
  const tuned op{built_product(), quick()};
  products::problem p;
  CHECK(p.right(op));
  CHECK(op.report(p.a, p.b, p.c).find("tuned by this process") != std::string::npos);
  // other extents, in dense arrays
  const std::vector<float> a(6, 2.0f), w(12, 3.0f);
  std::vector<float> c(8);
  op(view(a.data(), {2, 3}), view(w.data(), {3, 4}), view(c.data(), {2, 4}));
  CHECK(c == std::vector<float>(8, 18.0f));
}

TEST_CASE("a weight of a built kernel is bound once") {
  const tuned op{built_product(), quick(":memory:", mode::off)};
  products::problem p;
  const auto layer = op.with("W", p.b);
  p.c.setZero();
  layer(p.a, p.c);
  CHECK((p.c - p.a * p.b).cwiseAbs().maxCoeff() < 1e-4f);
  CHECK(refusal([&] { layer.with("W", p.b); }) == "built_product: W is bound already");
  CHECK(refusal([&] { op.with("A", p.a); }) ==
        "built_product: A is no weight; declare it one to bind it");
  CHECK(refusal([&] { op.with("B", p.b); }) == "built_product: it has no parameter B");
  CHECK(refusal([&] { layer(p.a, p.b, p.c); }) ==
        "built_product: the call has 3 arguments, and needs 2");
}

TEST_CASE("arguments of a built kernel are checked at the call") {
  const tuned op{built_product(), quick(":memory:", mode::off)};
  products::problem p;
  const products::matrix fixed = p.c;
  const Eigen::MatrixXd wide = p.a.cast<double>();
  const std::vector<float> row(96);
  CHECK(refusal([&] { op(wide, p.b, p.c); }) ==
        "built_product: argument A holds float64, but the parameter needs float32");
  CHECK(refusal([&] { op(row, p.b, p.c); }) ==
        "built_product: argument A has rank 1, but the parameter needs 2");
  CHECK(refusal([&] { op(p.a, p.b, fixed); }) ==
        "built_product: argument C is const, but the kernel writes it");
  CHECK(refusal([&] { op(p.b, p.a, p.c); }).find("built_product: ") == 0);
  p.a.resize(0, 64);
  p.c.resize(0, 80);
  op(p.a, p.b, p.c);
}
