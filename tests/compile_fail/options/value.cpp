// expect: a value of another type | write tuned op{kernel, tuned_options{...}}
#include <tilewright/tuned.hpp>
using namespace tilewright;

constexpr auto scale = kernel<"scale">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
  using axes::i;
  return Y(i) = X(i) * 2.0f;
});

const tuned op{scale, {.seconds = "5"}};
