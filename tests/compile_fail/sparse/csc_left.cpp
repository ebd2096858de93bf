// expect: walks what is stored | "k" | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", csc<"K">> A, out<"D", float, "M", "K"> D) {
  return D(i, k) = A(i, k);
});
