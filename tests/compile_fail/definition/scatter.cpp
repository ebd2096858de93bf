// expect: sums of axes | "C"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"w", int, "M"> w, out<"C", float, "M"> C) {
  return C(w(i)) = 1.0f;
});
