// expect: an element has no value while its kernel is written; write exp(x) and its like without std:: | "total"
#include <cmath>

#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i;

constexpr auto f = kernel<"f">([](in<"total", float, "M"> A, out<"C", float, "M"> C) {
  return C(i) = std::exp(A(i));
});
