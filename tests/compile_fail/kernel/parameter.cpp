// expect: lambda of a kernel takes in, out, inout
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, int n, out<"C", float, "M"> C) {
  static_cast<void>(n);
  return C(i) = A(i);
});
