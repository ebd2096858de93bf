// expect: the arrays of a call lie on one GPU, or all of them on the host | "A"
#include <tilewright/tuned.hpp>
using namespace tilewright;

constexpr auto scale = kernel<"scale">(
    [](in<"alpha", float> alpha, weight<"A", float, "M", "N"> A, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j;
      return C(i, j) = alpha * A(i, j);
    });

void test(const tuned<decltype(scale)>& op, float* a, float* c) {
  op(2.0f, view(a, {3, 4}), on_device(c, {3, 4}));
}
