// expect: literal does not fit | int | double
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"w", int, "M"> w, out<"C", int, "M"> C) {
  return C(i) = w(i) * 0.5;
});
