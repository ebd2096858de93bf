// expect: atan2, fmod, hypot and copysign need a floating element type | int
#include <tilewright/tilewright.hpp>

constexpr auto angle = tw::kernel<"angle">(
    [](tw::in<"A", int, "N"> A, tw::in<"B", int, "N"> B, tw::out<"C", int, "N"> C) {
      using tw::axes::i;
      return C(i) = tw::atan2(A(i), B(i));
    });

int main() {}
