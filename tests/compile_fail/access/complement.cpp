// expect: bits are those of integers | float
#include <tilewright/expr/functions.hpp>
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto flipped =
    kernel<"flipped">([](in<"A", float, "N"> A, out<"C", float, "N"> C) { return C(i) = ~A(i); });

int main() {}
