// expect: are std::int32_t or
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"K", short>> A, out<"y", float, "M"> y) {
  return y(i) = sum<k>(A(i, k));
});
