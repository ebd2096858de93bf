// expect: reads other elements of its own target, a recurrence | "C"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](inout<"C", float, 8> C) {
  return C(i) = zero_outside(C)(i + 1);
});
