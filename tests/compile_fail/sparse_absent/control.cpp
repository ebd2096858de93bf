// control: compiles
#include <tilewright/expr/argument.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr dim ways = absent_as<compressed<"K">, infinity>;
constexpr auto step = kernel<"step">([](in<"A", float, "M", ways> A, in<"x", float, "K"> x, out<"y", float, "M"> y) {
  return y(i) = min<k>(A(i, k) + x(k));
});
constexpr auto widest = kernel<"widest">(
    [](in<"A", double, "M", absent_as<bsr<"K", 4>, -infinity>> A, in<"x", double, "K"> x, out<"y", double, "M"> y) {
      return y(i) = max<k>(min(A(i, k), x(k)));
    });
constexpr auto largest = kernel<"largest">(
    [](in<"A", std::uint8_t, "M", absent_as<compressed<"K">, -infinity>> A, out<"y", std::uint8_t, "M"> y) {
      return y(i) = max<k>(A(i, k));
    });
constexpr auto anywhere = kernel<"anywhere">(
    [](in<"A", float, "M", absent_as<compressed<"K">, 2.5f>> A, in<"x", float, "K"> x, out<"y", float, "M"> y) {
      return y(i) = sum<k>(looked_up(A)(i, k) * x(k)) + sum<k>(where_stored(A)(i, k));
    });
constexpr auto two = kernel<"two">([](in<"A", float, "M", absent_as<compressed<"K">, 1>> A,
                                      in<"B", float, "M", compressed<"K">> B, out<"y", float, "M"> y) {
  return y(i) = sum<k>(unite(A(i, k) * B(i, k)));
});

int main() {}
