// control: compiles

#include <tilewright/expr/argument.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto spmm = kernel<"spmm">([](in<"A", float, "M", compressed<"K">> A,
                                        in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j) - 2.0f * A(i, k));
});
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
constexpr auto by_columns = kernel<"by_columns">(
    [](in<"A", float, "M", csc<"K">> A, in<"x", float, "K"> x, in<"z", float, "M"> z,
       out<"y", float, "M"> y, out<"w", float, "K"> w) {
      return blocks(y(i) = sum<k>(A(i, k) * x(k)), w(k) = sum<i>(A(i, k) * z(i)));
    });
