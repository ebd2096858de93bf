// control: compiles
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, 8, 16> A, in<"B", float, 8> B, out<"C", float, 8> C) {
  return blocks(C(i) = sum<j>(A(i, j)) + B(i) + zero_outside(B)(i + 1));
});
