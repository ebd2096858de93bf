// expect: leaves absent elements out where they change nothing | "A" | "k"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">(
    [](in<"A", float, "M", absent_as<compressed<"K">, infinity>> A, in<"x", float, "K"> x, out<"y", float, "M"> y) {
      return y(i) = sum<k>(A(i, k) * x(k));
    });
