// expect: read before it is defined | "t"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  temp<"t", float, "M"> t;
  return blocks(C(i) = t(i), t(i) = A(i));
});
