// expect: no parameter of this name | "Z"
#include <array>
#include <vector>

#include <tilewright/expr/argument.hpp>
using namespace tilewright;

constexpr auto scale = kernel<"scale">(
    [](in<"alpha", float> alpha, in<"A", float, "M", "N"> A, out<"C", float, "M", 4> C) {
      using axes::i, axes::j;
      return C(i, j) = alpha * A(i, j + 0);
    });

template <class... A>
void call(A&&...) {
  static_cast<void>(dsl::check_call<std::remove_const_t<decltype(scale)>, A...>());
}

static_assert(dsl::param_index<std::remove_const_t<decltype(scale)>, "Z">() == 0);
