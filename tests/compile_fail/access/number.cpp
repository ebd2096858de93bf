// expect: an element has no value while its kernel is written | float
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  const float twice = A(i) * 2.0f;
  return C(i) = A(i) + twice;
});
