// expect: merge what several sparse tensors store | "k" | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, in<"x", float, "K"> x, out<"y", float, "M"> y) {
  return y(i) = sum<k>(intersect(A(i, k) * x(k)));
});
