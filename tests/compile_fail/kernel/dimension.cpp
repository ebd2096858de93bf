// expect: name of a dimension | "Z"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  temp<"t", float, "Z"> t;
  return blocks(t(j) = 1.0f, C(i) = A(i));
});
