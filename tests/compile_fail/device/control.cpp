// control: calls with arrays of a device, on a stream, and of the host
#include <tilewright/tuned.hpp>
using namespace tilewright;

constexpr auto scale = kernel<"scale">(
    [](in<"alpha", float> alpha, weight<"A", float, "M", "N"> A, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j;
      return C(i, j) = alpha * A(i, j);
    });

void test(const tuned<decltype(scale)>& op, float* a, float* c, void* stream) {
  op(2.0f, on_device(a, {3, 4}), on_device(c, {3, 4}));
  op.on(stream)(2.0f, on_device(a, {3, 4}), on_device(c, {3, 4}));
  op.warm(2.0f, on_device(a, {3, 4}), on_device(c, {3, 4}));
  op(2.0f, view(a, {3, 4}), view(c, {3, 4}));
}
