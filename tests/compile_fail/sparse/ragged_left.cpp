// expect: walks what is stored | "l" | "X"
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::b, axes::l;

constexpr auto f = kernel<"f">([](in<"X", float, "B", ragged<"L">> X, out<"Y", float, "B", "L"> Y) {
  return Y(b, l) = X(b, l);
});
