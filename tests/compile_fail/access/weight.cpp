// expect: an input cannot be assigned | "W"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](weight<"W", float, "M"> W, out<"C", float, "M"> C) {
  return W(i) = 1.0f;
});
