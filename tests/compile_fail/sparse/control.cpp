// control: compiles
#include <vector>

#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/csf_tensor.hpp>
#include <tilewright/expr/formats/dia_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/formats/ragged_view.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto spmm = kernel<"spmm">([](in<"A", float, "M", compressed<"K">> A,
                                        in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j) - 2.0f * A(i, k));
});
constexpr auto wide = kernel<"wide">(
    [](in<"A", double, 8, compressed<64, std::int64_t>> A, in<"x", double, 64> x,
       out<"y", double, 8> y) { return y(i) = 1.0 + sum<k>(cast<double>(A(i, k)) * x(k)); });
static_assert(
    dsl::check_call<std::remove_const_t<decltype(wide)>, csr_view<const double, const std::int64_t>,
                    std::vector<double>&, std::vector<double>&>());
constexpr auto slices =
    kernel<"slices">([](in<"A", double, 8, sell<64, 4>> A, in<"x", double, 64> x,
                        out<"y", double, 8> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(dsl::check_call<std::remove_const_t<decltype(slices)>, sell_matrix<double, 4>&,
                              std::vector<double>&, std::vector<double>&>());
constexpr auto in_blocks = kernel<"in_blocks">(
    [](in<"A", double, "M", bsr<"K", 4, std::int64_t>> A, in<"x", double, "K"> x,
       out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(
    dsl::check_call<std::remove_const_t<decltype(in_blocks)>, bsr_matrix<double, 4, std::int64_t>&,
                    std::vector<double>&, std::vector<double>&>());
constexpr auto one_width =
    kernel<"one_width">([](in<"A", double, 8, ell<64, 5>> A, in<"x", double, 64> x,
                           out<"y", double, 8> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(dsl::check_call<std::remove_const_t<decltype(one_width)>, ell_matrix<double, 5>&,
                              std::vector<double>&, std::vector<double>&>());
constexpr auto meeting = kernel<"meeting">(
    [](in<"A", double, "M", compressed<"K">> A, in<"B", double, "N", compressed<"K">> B,
       in<"P", double, "M", compressed<"N">> P, out<"S", double, "M", stored_like<"N", "P">> S) {
      return S(i, j) = looked_up(P)(i, j) * sum<k>(intersect(A(i, k) * B(j, k)));
    });
constexpr auto apart = kernel<"apart">(
    [](in<"A", double, "M", compressed<"K">> A, in<"B", double, "M", compressed<"K">> B,
       out<"y", double, "M"> y) { return y(i) = max<k>(unite(A(i, k) - B(i, k))); });
constexpr auto by_kind = kernel<"by_kind">(
    [](in<"A", float, "M", compressed<"N">> A, in<"kind", int, "M", stored_like<"N", "A">> kind,
       in<"w", float, "R"> w,
       out<"y", float, "M"> y) { return y(i) = sum<j>(A(i, j) * w(kind(i, j))); });
constexpr auto in_parts = kernel<"in_parts">(
    [](in<"A", double, "M", parts<bsr<"K", 4, std::int64_t>, compressed<"K", std::int64_t>>> A,
       in<"x", double, "K"> x, out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(dsl::check_call<
              std::remove_const_t<decltype(in_parts)>,
              parted_matrix<double, parts<bsr<"columns", 4, std::int64_t>,
                                          compressed<"columns", std::int64_t>>>&,
              std::vector<double>&, std::vector<double>&>());
constexpr auto by_columns = kernel<"by_columns">(
    [](in<"A", float, "M", csc<"K">> A, in<"x", float, "K"> x, in<"z", float, "M"> z,
       out<"y", float, "M"> y, out<"w", float, "K"> w) {
      return blocks(y(i) = sum<k>(A(i, k) * x(k)), w(k) = sum<i>(A(i, k) * z(i)));
    });
constexpr auto diagonals = kernel<"diagonals">(
    [](in<"A", double, "M", dia<"K", std::int64_t>> A, in<"x", double, "K"> x,
       out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(
    dsl::check_call<std::remove_const_t<decltype(diagonals)>, dia_matrix<double, std::int64_t>&,
                    std::vector<double>&, std::vector<double>&>());
constexpr auto fibres = kernel<"fibres">(
    [](in<"A", float, "I", compressed<"J">, compressed<"K">> A, in<"x", float, "K"> x,
       out<"y", float, "I"> y) { return y(i) = sum<j, k>(A(i, j, k) * x(k)); });
static_assert(dsl::check_call<std::remove_const_t<decltype(fibres)>, csf_tensor<float, 3>&,
                              std::vector<float>&, std::vector<float>&>());
constexpr auto batched = kernel<"batched">(
    [](in<"X", float, "B", ragged<"L">, "K"> X, in<"W", float, "B", "K", "N"> W,
       out<"Y", float, "B", stored_like<"L", "X">, "N"> Y) {
      return Y(axes::b, axes::l, axes::n) =
                 sum<k>(X(axes::b, axes::l, k) * W(axes::b, k, axes::n));
    });
static_assert(dsl::check_call<std::remove_const_t<decltype(batched)>,
                              ragged_view<float, std::int32_t, 3>,
                              strided_view<const float, 3>, strided_view<float, 2>>());
