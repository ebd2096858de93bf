// expect: after one dense dimension | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, compressed<"M">, "K"> A, out<"y", float, "M"> y) {
  return y(i) = sum<k>(A(i, k));
});
