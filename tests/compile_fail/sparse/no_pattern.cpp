// expect: names an input with a compressed | "S" | "B"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"N">> A, in<"B", float, "M", "N"> B,
                                   out<"S", float, "M", stored_like<"N", "B">> S) {
  return S(i, j) = A(i, j) * B(i, j);
});
