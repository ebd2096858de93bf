// expect: with the sparse tensor as a factor | "kind" | "j"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", compressed<"N">> A, in<"kind", int, "M", stored_like<"N", "A">> kind,
                                  in<"w", float, "R"> w, out<"y", float, "M"> y) {
  return y(i) = sum<j>(w(kind(i, j)));
});
