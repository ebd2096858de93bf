// expect: with the sparse tensor as a factor | "A" | "k"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, out<"y", float, "M"> y) {
  return y(i) = max<k>(A(i, k));
});
