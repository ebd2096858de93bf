// Two threads call one op: the first to come tunes, the other waits for it, both compute.
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

namespace {

constexpr auto softmax =
    tw::kernel<"softmax">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j;
      tw::temp<"peak", float, "M"> peak;
      tw::temp<"e", float, "M", "N"> e;
      tw::temp<"total", float, "M"> total;
      return tw::blocks(peak(i) = tw::max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                        total(i) = tw::sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });

constexpr std::size_t rows = 128, columns = 200;

double worst_row_error(const std::vector<float>& y) {
  double worst = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    double total = 0;
    for (std::size_t c = 0; c < columns; ++c) total += y[r * columns + c];
    worst = std::max(worst, std::abs(total - 1));
  }
  return worst;
}

}  // namespace

int main() {
  tw::tuned op{softmax, {.seconds = 2}};
  std::vector<float> x(rows * columns), y[2];
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) * 0.25f;

  std::vector<std::thread> callers;
  for (auto& out : y) {
    out.resize(x.size());
    callers.emplace_back([&] {
      for (int call = 0; call < 100; ++call)
        op(tw::view(x.data(), {rows, columns}), tw::view(out.data(), {rows, columns}));
    });
  }
  for (std::thread& t : callers) t.join();

  std::cout << "200 calls from two threads; rows sum to 1 within " << worst_row_error(y[0])
            << ", results equal: " << (y[0] == y[1] ? "yes" : "no") << "\n";
  return worst_row_error(y[0]) < 1e-5 && y[0] == y[1] ? 0 : 1;
}
