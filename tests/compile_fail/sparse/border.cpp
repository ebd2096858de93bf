// expect: no border | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, out<"y", float, "M"> y) {
  return y(i) = sum<k>(zero_outside(A)(i, k));
});
