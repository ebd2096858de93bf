// expect: stand on the left side or be reduced | "co"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, out<"C", float, "M"> C) {
  constexpr axis<"co"> co;
  return C(i) = A(i, co);
});
