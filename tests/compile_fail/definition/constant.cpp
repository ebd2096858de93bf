// expect: leaves the tensor | "A" | over<9, 9
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, 8> A, out<"C", float, 8> C) {
  return C(i) = A(9);
});
