// control: compiles
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  temp<"t", float, "M"> t;
  return blocks(t(i) = A(i) * 2.0f, C(i) = t(i));
});
