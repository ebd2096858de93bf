// expect: is for inputs | "C"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, out<"C", float, "M", compressed<"K">> C) {
  return C(i, k) = A(i, k);
});
