// expect: needs the rank of its parameter | "X"
#include <vector>

#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/ragged_view.hpp>
using namespace tilewright;
using axes::b, axes::l, axes::d;

constexpr auto sums =
    kernel<"sums">([](in<"X", float, "B", ragged<"L">, "D"> X, out<"Y", float, "B", "D"> Y) {
      return Y(b, d) = sum<l>(X(b, l, d));
    });
using rows = ragged_view<float, std::int32_t, 2>;

constexpr bool fits =
    dsl::check_call<std::remove_const_t<decltype(sums)>, rows, strided_view<float, 2>>();
