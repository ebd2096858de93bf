// expect: absent_as<..> is about a dimension of which only some elements are stored
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", absent_as<"K", infinity>> A, out<"y", float, "M"> y) {
  return y(i) = min<k>(A(i, k));
});
