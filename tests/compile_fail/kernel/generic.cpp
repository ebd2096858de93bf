// expect: spells its parameters | "f"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](auto A, auto C) { return C(i) = A(i); });
