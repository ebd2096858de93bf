// expect: is no value of the element type | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", int, "M", absent_as<compressed<"K">, 0.5>> A, out<"y", int, "M"> y) {
  return y(i) = max<k>(where_stored(A)(i, k));
});
