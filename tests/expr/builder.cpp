// Kernels built at run time are those that the templates give: same IR, same keys, same mistakes.
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include <tilewright/expr/builder.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/error.hpp>

#include "refusal.hpp"

using namespace tilewright;
using test_kernels::refusal;

namespace {

constexpr auto matmul_relu = kernel<"matmul_relu">(
    [](in<"A", float16, "M", "K"> A, in<"B", float16, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = max(sum<k>(cast<float>(A(i, k)) * cast<float>(B(k, j))), 0.0f);
    });

any_kernel built_matmul_relu() {
  kernel_builder b("matmul_relu");
  const auto A = b.in("A", dtype::f16, {"M", "K"}), B = b.in("B", dtype::f16, {"K", "N"});
  const auto C = b.out("C", dtype::f32, {"M", "N"});
  using axes::i, axes::j, axes::k;
  b.define(C(i, j) = max(sum<k>(cast(A(i, k), dtype::f32) * cast<float>(B(k, j))), 0));
  return b.build();
}

constexpr auto padded_sum = kernel<"padded_sum">(
    [](in<"X", float, 9, "N"> X, out<"Y", float, 5, "N"> Y, inout<"Z", std::int32_t, "N"> Z) {
      using axes::i, axes::n;
      constexpr axis<"r", 3> r;
      temp<"scale", float, "N"> scale;
      const auto padded = zero_outside(X);
      return blocks(expects(extent<"N"> % 2 == 0), scale(n) = cast<float>(n) / 2 + 1,
                    Y(i, n) = sum<r>(padded(i * 2 + r - 1, n)) * scale(n),
                    Z(n) = select(n < extent<"N"> / 2, Z(n) + 1, 0));
    });

any_kernel built_padded_sum() {
  kernel_builder b("padded_sum");
  const auto X = b.in("X", dtype::f32, {9, "N"});
  const auto Y = b.out("Y", dtype::f32, {5, "N"});
  const auto Z = b.inout("Z", dtype::i32, {"N"});
  const auto scale = b.temp("scale", dtype::f32, {"N"});
  const auto i = b.axis("i"), n = b.axis("n"), r = b.axis("r", 3), N = b.extent("N");
  const auto padded = zero_outside(X);
  b.expects(N % 2 == 0);
  b.define(blocks(scale(n) = cast<float>(n) / 2 + 1,
                  Y(i, n) = reduce(dsl::reduction::sum, {r}, padded(i * 2 + r - 1, n)) * scale(n),
                  Z(n) = select(n < N / 2, Z(n) + 1, 0)));
  return b.build();
}

void check_equal(const any_kernel& a, const any_kernel& b, const dim_values& dims) {
  const ir::function f = reify(a, dims), g = reify(b, dims);
  CHECK(ir::print(f) == ir::print(g));
  CHECK(ir::equal(f, g));
  CHECK(ir::workload_key(f) == ir::workload_key(g));
}

}  // namespace

TEST_CASE("builder: the same IR and key as the template") {
  check_equal(matmul_relu, built_matmul_relu(), {{"M", 5}, {"N", 7}, {"K", 3}});
  check_equal(padded_sum, built_padded_sum(), {{"N", 4}});
}

TEST_CASE("builder: a kernel and its copies keep what they point to") {
  std::optional<any_kernel> first = built_padded_sum();
  const any_kernel copy = *first;
  first.reset();
  CHECK(copy.info().params.at(2).name == "Z");
  CHECK(reify(copy, {{"N", 2}}).params.size() == 3);
}

TEST_CASE("builder: lists of indices stand for as many arguments") {
  kernel_builder b("copy");
  const auto X = b.in("X", dtype::f64, {2, 3, 4}), Y = b.out("Y", dtype::f64, {2, 3, 4});
  const dsl::index_list rows{b.axis("i"), b.axis("j")};
  b.define(Y(rows, axes::k) = X(rows, axes::k));
  CHECK(b.build().nodes().size() == 9);
  CHECK(refusal([&] { X(rows); }) == "tensor X: it has rank 3 and gets 2 indices");
}

TEST_CASE("builder: mistakes of types") {
  kernel_builder b("types");
  const auto X = b.in("X", dtype::f32, {4}), Y = b.in("Y", dtype::f64, {4});
  const auto I = b.in("I", dtype::i32, {4}), Z = b.out("Z", dtype::f32, {4});
  const auto i = b.axis("i");
  CHECK(refusal([&] { X(i) + Y(i); }) ==
        "both sides of an operation need one element type, and float64 meets float32; cast one of "
        "them");
  CHECK(refusal([&] { I(i) * 0.5; }) ==
        "a literal does not fit the element type int32 beside it; write one of that type, or cast "
        "the expression");
  CHECK(refusal([&] { exp(I(i)); }) ==
        "exp needs a floating element type, and not int32; write cast(x, dtype::f32)");
  CHECK(refusal([&] { X(i) % 2; }) == "% needs indices or integers, and not float32");
  CHECK(refusal([&] { X(i) & true; }).find("literal does not fit") != std::string::npos);
  CHECK(refusal([&] { select(X(i), X(i), 0); }) ==
        "logic needs bool operands, and one is float32; write x != 0");
  CHECK(refusal([&] { X(X(i)); }) ==
        "tensor X: an index is float32; tensors are indexed by axes, integer expressions and "
        "integers");
  CHECK(refusal([&] { X(i) = 1; }) ==
        "tensor X: an input cannot be assigned; declare it out or inout");
  CHECK(refusal([&] { Z(i) = Y(i); }) ==
        "tensor Z: it holds float32, and the assigned expression is float64; cast the expression");
  CHECK(refusal([&] { reduce(dsl::reduction::sum, {i + 1}, X(i)); }) ==
        "a reduction runs over axes, and not over other expressions");
  CHECK(refusal([&] { reduce(dsl::reduction::any, {i}, X(i)); }) ==
        "any and all reduce bool; write x != 0");
  CHECK(refusal([&] { b.in("no name", dtype::f32, {}); }) ==
        "kernel types: tensor no name: the name of a tensor is an identifier");
  CHECK(refusal([&] { b.in("E", dtype::f32, {0}); }) ==
        "kernel types: tensor E: an extent is 0; extents are positive");
  CHECK(refusal([&] { b.in("E", dtype::handle, {1}); }).find("a tensor holds bool") !=
        std::string::npos);
}

TEST_CASE("builder: what the compiler checks in templates is checked when a kernel is built") {
  kernel_builder b("rows");
  const auto X = b.in("X", dtype::f32, {4, 8}), Y = b.out("Y", dtype::f32, {4});
  const auto i = b.axis("i"), j = b.axis("j");
  CHECK(refusal([&] { b.build(); }).find("kernel rows: ") == 0);  // Y is never defined
  kernel_builder unbound = b, outside = b;
  unbound.define(Y(i) = X(i, j));
  CHECK(refusal([&] { unbound.build(); }).find("axis j") != std::string::npos);
  outside.define(Y(i) = X(i + 1, 0));
  CHECK(refusal([&] { outside.build(); }).find("X") != std::string::npos);
  b.define(Y(i) = sum<axes::j>(X(i, j)));
  CHECK(refusal([&] { b.build(); }) == "");
}
