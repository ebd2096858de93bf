// expect: leaves the tensor | "C" | over<4, 11
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, 8> A, out<"C", float, 8> C) {
  return blocks(C(i) = 0.0f, C(i + 4) = A(i));
});
