// expect: leaves the tensor | "A" | dimension<0 | over<1, 8 | extent_is<8
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, 8> A, out<"C", float, 8> C) {
  return C(i) = A(i + 1);
});
