// expect: absent_as<..> stands around parts<..>
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr dim ways = parts<absent_as<ell<"K", 4>, infinity>, dcsr<"K">>;
constexpr auto f = kernel<"f">([](in<"A", float, "M", ways> A, out<"y", float, "M"> y) {
  return y(i) = min<k>(where_stored(A)(i, k));
});
