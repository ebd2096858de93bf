// expect: of one sparse tensor | "j" | "B" | "S"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"N">> A,
                                   in<"B", float, "M", compressed<"N">> B,
                                   out<"S", float, "M", stored_like<"N", "A">> S) {
  return S(i, j) = A(i, j) * B(i, j);
});
