// control: compiles
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, in<"w", int, "M"> w, out<"C", float, "M"> C) {
  return C(i) = sum<j>(A(i, j) * 2.0f) + exp(cast<float>(w(i)));
});
