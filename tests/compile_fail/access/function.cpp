// expect: floating element type | int
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"w", int, "M"> w, out<"C", int, "M"> C) {
  return C(i) = exp(w(i));
});
