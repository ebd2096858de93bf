// expect: reads a tensor with a compressed dimension | "B"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j;

constexpr auto f = kernel<"f">([](in<"B", float, "M", "N"> B, out<"y", float, "M"> y) {
  return y(i) = max<j>(where_stored(B)(i, j));
});
