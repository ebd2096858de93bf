// expect: in one intersect(..) or in one unite(..) | "k" | "A" | "D"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", compressed<"K">> B,
                                   in<"D", float, "M", compressed<"K">> D, out<"y", float, "M"> y) {
  return y(i) = sum<k>(intersect(A(i, k) * B(i, k)) * D(i, k));
});
