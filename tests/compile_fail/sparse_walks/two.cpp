// expect: of one sparse tensor | "k" | "A" | "B"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", compressed<"K">> B,
                                   out<"y", float, "M"> y) {
  return y(i) = sum<k>(A(i, k) * B(i, k));
});
