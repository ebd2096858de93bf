// expect: a condition on elements is no bool of C++ | bool
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  return C(i) = A(i) > 0.0f ? A(i) : A(i);
});
