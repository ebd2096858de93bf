// expect: counts as a number or an infinity
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr dim ways = absent_as<compressed<"K">, std::numeric_limits<float>::quiet_NaN()>;
constexpr auto f = kernel<"f">([](in<"A", float, "M", ways> A, out<"y", float, "M"> y) {
  return y(i) = min<k>(where_stored(A)(i, k));
});
