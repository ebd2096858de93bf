// expect: after one dense dimension | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "I", compressed<"J">, "K"> A,
                                  out<"y", float, "I", "K"> y) {
  return y(i, k) = sum<j>(A(i, j, k));
});
