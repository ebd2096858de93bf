// control: compiles
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto both = kernel<"both">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", compressed<"K">> B,
                                        out<"y", float, "M"> y) {
  return y(i) = sum<k>(intersect(A(i, k) * B(i, k)));
});
constexpr auto either = kernel<"either">([](in<"A", float, "M", compressed<"K">> A,
                                            in<"B", float, "M", compressed<"K">> B, out<"y", float, "M"> y) {
  return y(i) = sum<k>(unite(A(i, k) + B(i, k)));
});

int main() {}
