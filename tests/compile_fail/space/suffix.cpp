// expect: names a block that the kernel does not have | "D_pad"
#include <tilewright/space_for.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

constexpr auto scores = kernel<"scores">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      temp<"S", float, "M", "N"> S;
      return blocks(S(i, j) = sum<k>(zero_outside(A)(i, k - 1) * B(k, j)), C(i, j) = exp(S(i, j)));
    });

void test() {
  space_for<scores>(weighted(3, on<"S">(parallel<i[0]>)) | on<"D_pad">(vectorize<j[0]>));
}
