// expect: bits are those of integers | float
#include <tilewright/tilewright.hpp>

constexpr auto flipped = tw::kernel<"flipped">([](tw::in<"A", float, "N"> A, tw::out<"C", float, "N"> C) {
  using tw::axes::i;
  return C(i) = ~A(i);
});

int main() {}
