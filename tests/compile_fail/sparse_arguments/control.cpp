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
#include <tilewright/expr/formats/values_like.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

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
constexpr auto in_parts = kernel<"in_parts">(
    [](in<"A", double, "M", parts<bsr<"K", 4, std::int64_t>, compressed<"K", std::int64_t>>> A,
       in<"x", double, "K"> x, out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(dsl::check_call<std::remove_const_t<decltype(in_parts)>,
                              parted_matrix<double, parts<bsr<"columns", 4, std::int64_t>,
                                                          compressed<"columns", std::int64_t>>>&,
                              std::vector<double>&, std::vector<double>&>());
constexpr auto diagonals =
    kernel<"diagonals">([](in<"A", double, "M", dia<"K", std::int64_t>> A, in<"x", double, "K"> x,
                           out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
static_assert(
    dsl::check_call<std::remove_const_t<decltype(diagonals)>, dia_matrix<double, std::int64_t>&,
                    std::vector<double>&, std::vector<double>&>());
constexpr auto fibres = kernel<"fibres">(
    [](in<"A", float, "I", compressed<"J">, compressed<"K">> A, in<"x", float, "K"> x,
       out<"y", float, "I"> y) { return y(i) = sum<j, k>(A(i, j, k) * x(k)); });
static_assert(dsl::check_call<std::remove_const_t<decltype(fibres)>, csf_tensor<float, 3>&,
                              std::vector<float>&, std::vector<float>&>());
constexpr auto batched =
    kernel<"batched">([](in<"X", float, "B", ragged<"L">, "K"> X, in<"W", float, "B", "K", "N"> W,
                         out<"Y", float, "B", stored_like<"L", "X">, "N"> Y) {
      return Y(axes::b, axes::l, axes::n) = sum<k>(X(axes::b, axes::l, k) * W(axes::b, k, axes::n));
    });
static_assert(
    dsl::check_call<std::remove_const_t<decltype(batched)>, ragged_view<float, std::int32_t, 3>,
                    strided_view<const float, 3>, strided_view<float, 2>>());
constexpr auto twice = kernel<"twice">(
    [](in<"A", float, "M", bsr<"N", 8>> A, out<"S", float, "M", stored_like<"N", "A">> S) {
      return S(i, j) = 2.0f * A(i, j);
    });
static_assert(dsl::check_call<std::remove_const_t<decltype(twice)>, bsr_matrix<float, 8>&,
                              values_like<float, bsr<"N", 8>>&>());
