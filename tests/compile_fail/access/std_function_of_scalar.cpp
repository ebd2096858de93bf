// expect: an element has no value while its kernel is written | "alpha"
#include <cmath>

#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto f = kernel<"f">([](in<"alpha", float> alpha, out<"C", float, "M"> C) {
  return C(i) = std::sqrt(alpha);
});
