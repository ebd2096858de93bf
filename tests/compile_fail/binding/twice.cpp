// expect: a weight is bound once | "W"
#include <vector>

#include <tilewright/expr/binding.hpp>
using namespace tilewright;

constexpr auto dense = kernel<"dense">(
    [](in<"X", float, "M", "K"> X, weight<"W", float, "K", "N"> W, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j, axes::k;
      return Y(i, j) = sum<k>(X(i, k) * W(k, j));
    });
using dense_type = std::remove_const_t<decltype(dense)>;

void test() {
  float x[2][3], w[3][4], y[2][4];
  std::vector<float> flat(12);
  static_cast<void>(x), static_cast<void>(y);
  static_cast<void>(dsl::check_binding<dense_type, "W", decltype((w)), meta::to_name<"W">>());
}
