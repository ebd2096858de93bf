// expect: no parameter of the kernel | "B"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](out<"C", float, "M"> C) {
  in<"B", float, "M"> B;
  return C(i) = B(i);
});
