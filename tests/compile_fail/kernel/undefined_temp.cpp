// expect: a tensor is read before it is defined; add its definition to blocks(...) | "total"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto f = kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) {
  temp<"total", float, "M"> t;
  return C(i) = A(i) + t(i);
});
