// expect: a step names an axis that the block does not have | "z"
#include <tilewright/space_for.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

constexpr auto scores = kernel<"scores">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      temp<"S", float, "M", "N"> S;
      return blocks(S(i, j) = sum<k>(zero_outside(A)(i, k - 1) * B(k, j)), C(i, j) = exp(S(i, j)));
    });

void test() { space_for<scores>(tile<axes::z, 2>); }
