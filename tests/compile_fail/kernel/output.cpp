// expect: an output needs a definition | "D"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C, out<"D", float, "M"> D) {
  static_cast<void>(D);
  return C(i) = A(i);
});
