// expect: needs to be mutable | "C"
#include <tilewright/tuned.hpp>
using namespace tilewright;

constexpr auto scale = kernel<"scale">(
    [](in<"alpha", float> alpha, weight<"A", float, "M", "N"> A, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j;
      return C(i, j) = alpha * A(i, j);
    });

void test(const tuned<decltype(scale)>& op, float* a, const float* c) {
  op(2.0f, on_device(a, {3, 4}), on_device(c, {3, 4}));
}
