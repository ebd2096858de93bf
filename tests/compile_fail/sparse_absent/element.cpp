// expect: is no value of the element type | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", unsigned, "M", absent_as<compressed<"K">, -1>> A, out<"y", unsigned, "M"> y) {
  return y(i) = max<k>(where_stored(A)(i, k));
});
