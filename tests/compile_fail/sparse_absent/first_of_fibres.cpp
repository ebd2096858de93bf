// expect: absent_as<..> stands around the last dimension | "A"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">(
    [](in<"A", float, "I", absent_as<compressed<"J">, infinity>, compressed<"K">> A, out<"y", float, "I"> y) {
      return y(i) = min<j, k>(where_stored(A)(i, j, k));
    });
