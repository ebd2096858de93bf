// expect: walks what is stored: it is reduced | "j" | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"N">> A, in<"B", float, "M", compressed<"N">> B,
                                   out<"C", float, "M", "N"> C) {
  return C(i, j) = intersect(A(i, j) * B(i, j));
});
