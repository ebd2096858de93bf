// expect: any and all reduce bool | float
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, out<"C", bool, "M"> C) {
  return C(i) = any<j>(A(i, j));
});
