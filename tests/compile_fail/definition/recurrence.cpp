// expect: holds the step before, and loop over steps around the call | "X"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::b, axes::i;

constexpr auto f =
    kernel<"f">([](in<"A", double, 4, 25> A, in<"R", double, 4, 25> R, out<"X", double, 4, 25> X) {
      return X(b, i) = R(b, i) - A(b, i) * zero_outside(X)(b, i - 1);
    });
