// expect: walks what is stored | "k" | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, out<"D", float, "M", "K"> D) {
  return D(i, k) = A(i, k);
});
