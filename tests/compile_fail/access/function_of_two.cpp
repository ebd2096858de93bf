// expect: atan2, fmod, hypot and copysign need a floating element type | int
#include <tilewright/expr/functions.hpp>
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto angle =
    kernel<"angle">([](in<"A", int, "N"> A, in<"B", int, "N"> B, out<"C", int, "N"> C) {
      return C(i) = atan2(A(i), B(i));
    });

int main() {}
