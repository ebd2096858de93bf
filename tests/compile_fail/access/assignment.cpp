// expect: another element type is assigned | "C" | float | double
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", double, "M"> A, out<"C", float, "M"> C) {
  return C(i) = A(i);
});
