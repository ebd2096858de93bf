// expect: a reduction names the axes that it goes over; write sum<j>(x) | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, out<"C", float, "M"> C) {
  return C(i) = sum(A(i, j));
});
