// expect: intersect, unite and looked_up read compressed rows | "B"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", bsr<"K", 4>> B,
                                   out<"y", float, "M"> y) {
  return y(i) = sum<k>(A(i, k) * looked_up(B)(i, k));
});
