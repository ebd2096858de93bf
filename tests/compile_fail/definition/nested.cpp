// expect: nested reductions | "j"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, out<"C", float, "M"> C) {
  return C(i) = sum<j>(A(i, j) * max<j>(A(i, j)));
});
