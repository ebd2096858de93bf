// expect: is ragged_of(offsets, values) | "X"
#include <vector>

#include <tilewright/expr/argument.hpp>
using namespace tilewright;
using axes::b, axes::l;

constexpr auto sums =
    kernel<"sums">([](in<"X", float, "B", ragged<"L">> X, out<"y", float, "B"> y) {
      return y(b) = sum<l>(X(b, l));
    });
using vector = std::vector<float>;

constexpr bool fits = dsl::check_call<std::remove_const_t<decltype(sums)>, vector&, vector&>();
