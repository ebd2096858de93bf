// expect: a condition on elements is no bool of C++; write select(condition, yes, no)
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto f = kernel<"f">(
    [](in<"A", float, "M"> A, in<"B", float, "M"> B, out<"C", float, "M"> C) {
      return C(i) = A(i) > 0 ? A(i) : B(i);
    });
