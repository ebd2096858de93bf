// expect: different static extents | "i" | "C" | extent_is<8 | "A" | extent_is<9
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, 9> A, out<"C", float, 8> C) {
  return C(i) = A(i);
});
