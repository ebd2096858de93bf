// control: compiles
#include <tilewright/tuned.hpp>
using namespace tilewright;

const tuned_options options{.seconds = 5};

constexpr auto scale = kernel<"scale">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
  using axes::i;
  return Y(i) = X(i) * 2.0f;
});

using op = tuned<std::remove_const_t<decltype(scale)>>;

const tuned plain{scale};
const tuned assigned = scale;
const tuned named{scale, options};
const tuned in_braces{scale, {.seconds = 5, .threads = 1}};
const tuned written{scale, tuned_options{.seconds = 5}};
const tuned copied{plain};
const tuned several{alternatives(scale)};
const tuned several_with{alternatives(scale), {.seconds = 5}};
static_assert(std::is_same_v<decltype(copied), decltype(in_braces)>);
static_assert(std::is_same_v<decltype(several), decltype(several_with)>);
static_assert(!std::is_constructible_v<op, float> && !std::is_constructible_v<op, const op&, int>);
