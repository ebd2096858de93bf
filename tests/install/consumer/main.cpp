#include <tilewright/tilewright.hpp>

#include <cstdio>
#include <vector>

constexpr auto doubled =
    tw::kernel<"doubled">([](tw::in<"x", float, "N"> x, tw::out<"y", float, "N"> y) {
      using tw::axes::i;
      return y(i) = x(i) * 2.0f;
    });

int main() {
  std::vector<float> x(100, 1.5f), y(100);
  tw::tuned op{doubled, {.seconds = 0.2}};
  op(x, y);
  for (float v : y)
    if (v != 3.0f) return std::puts("wrong result"), 1;
  return 0;
}
