#include <tilewright/expr/argument.hpp>

#include <Eigen/Dense>
#include <span>
#include <unsupported/Eigen/CXX11/Tensor>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;
using dsl::argument;

namespace {

constexpr auto copy = kernel<"copy">([](in<"A", float, "M", "N"> A, out<"B", float, "M", "N"> B) {
  using axes::i, axes::j;
  return B(i, j) = A(i, j);
});
constexpr auto line =
    kernel<"line">([](in<"s", float> s, in<"x", double, 3> x, inout<"y", double, "N"> y) {
      using axes::i;
      return y(i) = y(i) + cast<double>(s) + x(0);
    });
using copy_kernel = std::remove_const_t<decltype(copy)>;
using line_kernel = std::remove_const_t<decltype(line)>;

template <class A>
argument of(A&& a, int rank) {
  return dsl::recognized<std::remove_reference_t<A>>::make(a, rank);
}
void check(const argument& a, std::vector<std::int64_t> extents,
           std::vector<std::int64_t> strides) {
  REQUIRE(a.rank == static_cast<int>(extents.size()));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    CHECK(a.extents[d] == extents[d]);
    CHECK(a.strides[d] == strides[d]);
  }
}

/// What std::mdspan offers.
template <class T>
struct span2d {
  struct extents_type {
    std::size_t e[2];
    std::size_t extent(std::size_t d) const { return e[d]; }
  };
  T* pointer;
  extents_type shape;
  static constexpr std::size_t rank() { return 2; }
  T* data_handle() const { return pointer; }
  const extents_type& extents() const { return shape; }
  std::size_t stride(std::size_t d) const { return d == 0 ? shape.e[1] : 1; }
};

template <class A, class B>
std::string bind_copy(A&& a, B&& b) {
  static_assert(dsl::check_call<copy_kernel, A, B>());
  const auto args = dsl::make_arguments<copy_kernel>(a, b);
  return refusal([&] { bind_extents(copy.info(), args.data(), args.size()); });
}

}  // namespace

TEST_CASE("Eigen matrices, maps and blocks in either storage order") {
  Eigen::MatrixXf column(3, 5);
  Eigen::Matrix<float, 3, 5, Eigen::RowMajor> row;
  check(of(column, 2), {3, 5}, {1, 3});
  check(of(row, 2), {3, 5}, {5, 1});
  check(of(column.block(1, 1, 2, 3), 2), {2, 3}, {1, 3});
  check(of(column.transpose(), 2), {5, 3}, {3, 1});
  CHECK(of(column.block(1, 1, 2, 3), 2).data == &column(1, 1));
  Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> map(column.data(), 2, 5,
                                                                 Eigen::OuterStride<>(3));
  check(of(map, 2), {2, 5}, {1, 3});
  CHECK(of(map, 2).is_const);
  CHECK_FALSE(of(column, 2).is_const);
  const Eigen::MatrixXf& read_only = column;
  CHECK(of(read_only, 2).is_const);
  Eigen::ArrayXXf array(2, 2);
  check(of(array, 2), {2, 2}, {1, 2});
}

TEST_CASE("Eigen vectors have rank 1, or 2 where a matrix is asked for") {
  Eigen::VectorXf v(4);
  check(of(v, 1), {4}, {1});
  check(of(v, 2), {4, 1}, {1, 4});
  Eigen::MatrixXf m(3, 5);
  check(of(m.row(1), 1), {5}, {3});
  check(of(m.col(1), 1), {3}, {1});
}

TEST_CASE("Eigen tensors") {
  Eigen::Tensor<float, 3> t(2, 3, 4);
  check(of(t, 3), {2, 3, 4}, {1, 2, 6});
  Eigen::Tensor<float, 3, Eigen::RowMajor> r(2, 3, 4);
  check(of(r, 3), {2, 3, 4}, {12, 4, 1});
  Eigen::TensorMap<Eigen::Tensor<const float, 3>> map(t.data(), 2, 3, 4);
  CHECK(of(map, 3).is_const);
}

TEST_CASE("standard containers, C arrays, views, mdspans") {
  std::vector<double> v(6);
  check(of(v, 1), {6}, {1});
  check(of(std::span<double>(v).subspan(2), 1), {4}, {1});
  CHECK(of(std::span<const double>(v), 1).is_const);
  std::array<float, 3> a{};
  check(of(a, 1), {3}, {1});
  CHECK(dsl::recognized<std::array<float, 3>>::static_extent(0) == 3);
  float c[2][3][4] = {};
  check(of(c, 3), {2, 3, 4}, {12, 4, 1});
  CHECK(of(c, 3).data == &c[0][0][0]);
  check(of(view(v.data(), {2, 3}), 2), {2, 3}, {3, 1});
  check(of(view(v.data(), {2, 3}, {1, 2}), 2), {2, 3}, {1, 2});
  check(of(span2d<double>{v.data(), {{2, 3}}}, 2), {2, 3}, {3, 1});
  CHECK(of(span2d<const double>{v.data(), {{2, 3}}}, 2).is_const);
  std::array<std::array<float, 3>, 2> nested{};
  check(of(nested, 2), {2, 3}, {3, 1});
  CHECK(of(nested, 2).data == &nested[0][0]);
  CHECK(of(std::as_const(nested), 2).is_const);
  CHECK(dsl::recognized<std::array<std::array<float, 3>, 2>>::static_extent(1) == 3);
  std::vector<std::array<double, 3>> points(5);
  check(of(points, 2), {5, 3}, {3, 1});
  check(of(std::span<const std::array<float, 3>>(nested), 2), {2, 3}, {3, 1});
  std::array<int[4], 2> rows{};
  check(of(rows, 2), {2, 4}, {4, 1});
  static_assert(!dsl::argument_like<std::vector<std::vector<float>>>);
  static_assert(!dsl::argument_like<std::vector<bool>>);
  static_assert(!dsl::argument_like<std::string*>);
}

TEST_CASE("scalars are converted and kept by value") {
  std::array<double, 3> x{};
  std::vector<double> y(2);
  const auto args = dsl::make_arguments<line_kernel>(2, x, y);
  CHECK(args[0].rank == 0);
  CHECK(args[0].type == dtype::f32);
  CHECK(*static_cast<const float*>(args[0].address()) == 2.0f);
  const std::array<argument, 3> copied = args;
  CHECK(copied[0].address() != args[0].address());
  CHECK(bind_extents(line.info(), args.data(), 3) == dim_values{{"N", 2}});
  static_assert(dsl::param_index<line_kernel, "y">() == 2);
}

TEST_CASE("dimensions are bound across arguments, whose names an error tells") {
  Eigen::MatrixXf a(3, 5), b(3, 5), c(4, 5);
  CHECK(bind_copy(a, b).empty());
  CHECK(bind_copy(a, c) ==
        "copy: M is 3 in dimension 0 of argument A, but 4 in dimension 0 of argument B");
  CHECK(contains(bind_copy(a, view(static_cast<float*>(nullptr), {3, 5})),
                 "argument B has a null data pointer"));
  Eigen::MatrixXf empty(0, 5);
  CHECK(contains(bind_copy(empty, empty), "dimension 0 of argument A has extent 0"));
}

TEST_CASE("what types do not tell is checked at run time") {
  std::vector<double> x(4), y(2);
  const auto args = dsl::make_arguments<line_kernel>(2, x, y);
  CHECK(refusal([&] { bind_extents(line.info(), args.data(), 3); }) ==
        "line: dimension 0 of argument x has extent 4, but the parameter needs 3");
  CHECK(contains(refusal([&] { bind_extents(line.info(), args.data(), 2); }),
                 "has 2 arguments, the kernel 3"));
  auto wrong = args;
  wrong[1].extents[0] = 3;
  wrong[2].is_const = true;
  CHECK(contains(refusal([&] { bind_extents(line.info(), wrong.data(), 3); }),
                 "argument y is const"));
  wrong[2].type = dtype::f32;
  CHECK(contains(refusal([&] { bind_extents(line.info(), wrong.data(), 3); }),
                 "argument y holds float32, but the parameter needs float64"));
}
