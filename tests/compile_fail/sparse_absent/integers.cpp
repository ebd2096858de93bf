// expect: leaves absent elements out where they change nothing | "A" | "k"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">(
    [](in<"A", int, "M", absent_as<compressed<"K">, infinity>> A, in<"x", int, "K"> x, out<"y", int, "M"> y) {
      return y(i) = min<k>(A(i, k) + x(k));
    });
