// expect: one index per dimension | "A" | given<1> | needed<2>
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr auto f = kernel<"f">([](in<"A", float, "M", "K"> A, out<"C", float, "M"> C) {
  return C(i) = A(i);
});
