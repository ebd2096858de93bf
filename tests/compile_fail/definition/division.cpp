// expect: divided by what can be zero | "C"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  return C(i) = zero_outside(A)(i / 0);
});
