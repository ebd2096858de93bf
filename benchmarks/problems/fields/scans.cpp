// Results that take in what stands before them: running sums and maxima, summed areas, offsets, sums of windows.
#include <cstdint>
#include <limits>

#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::c, tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::l, tw::axes::r;

constexpr auto prefix_rows =
    tw::kernel<"prefix_rows">([](tw::in<"X", float, "R", "N"> X, tw::out<"Y", float, "R", "N"> Y) {
      return Y(r, i) = tw::sum<j>(select(j <= i, X(r, j), 0.0f));
    });
const char* const prefix_rows_nest = R"(
  for (int r = 0; r < X_0; ++r) {
    f32 sum = 0;
    for (int i = 0; i < X_1; ++i) Y[r][i] = sum += X[r][i];
  }
)";

constexpr auto prefix_columns = tw::kernel<"prefix_columns">(
    [](tw::in<"X", float, "N", "C"> X, tw::out<"Y", float, "N", "C"> Y) {
      return Y(i, c) = tw::sum<j>(select(j <= i, X(j, c), 0.0f));
    });
const char* const prefix_columns_nest = R"(
  for (int c = 0; c < X_1; ++c) Y[0][c] = X[0][c];
  for (int i = 1; i < X_0; ++i)
    for (int c = 0; c < X_1; ++c) Y[i][c] = Y[i - 1][c] + X[i][c];
)";

constexpr auto prefix_long =
    tw::kernel<"prefix_long">([](tw::in<"X", float, "N"> X, tw::out<"Y", float, "N"> Y) {
      return Y(i) = tw::sum<j>(select(j <= i, X(j), 0.0f));
    });
const char* const prefix_long_nest = R"(
  f32 sum = 0;
  for (int i = 0; i < X_0; ++i) Y[i] = sum += X[i];
)";

constexpr auto drawdown =
    tw::kernel<"drawdown">([](tw::in<"P", double, "A", "T"> P, tw::out<"D", double, "A", "T"> D) {
      tw::temp<"M", double, "A", "T"> M;
      constexpr double least = -std::numeric_limits<double>::infinity();
      return tw::blocks(M(r, i) = tw::max<j>(select(j <= i, P(r, j), least)),
                        D(r, i) = P(r, i) - M(r, i));
    });
const char* const drawdown_nest = R"(
  for (int r = 0; r < P_0; ++r) {
    f64 most = P[r][0];
    for (int i = 0; i < P_1; ++i) {
      most = P[r][i] > most ? P[r][i] : most;
      D[r][i] = P[r][i] - most;
    }
  }
)";

constexpr auto summed_area = tw::kernel<"summed_area">([](tw::in<"A", std::uint8_t, "H", "W"> A,
                                                          tw::out<"S", std::int32_t, "H", "W"> S) {
  return S(i, c) = tw::sum<j, k>(select((j <= i) & (k <= c), tw::cast<std::int32_t>(A(j, k)), 0));
});
const char* const summed_area_nest = R"(
  for (int i = 0; i < A_0; ++i) {
    i32 sum = 0;
    for (int c = 0; c < A_1; ++c) {
      sum += A[i][c];
      S[i][c] = sum + (i > 0 ? S[i - 1][c] : 0);
    }
  }
)";

constexpr auto offsets =
    tw::kernel<"offsets">([](tw::in<"F", std::uint8_t, "N"> F, tw::out<"O", std::int32_t, "N"> O) {
      return O(i) = tw::sum<j>(tw::cast<std::int32_t>((j < i) & (F(j) > 127)));
    });
const char* const offsets_nest = R"(
  int count = 0;
  for (int i = 0; i < F_0; ++i) {
    O[i] = count;
    count += F[i] > 127;
  }
)";

constexpr auto growth =
    tw::kernel<"growth">([](tw::in<"R", double, "A", "T"> R, tw::out<"G", double, "A", "T"> G) {
      return G(r, i) = tw::prod<j>(select(j <= i, R(r, j) + 1.0, 1.0));
    });
const char* const growth_nest = R"(
  for (int r = 0; r < R_0; ++r) {
    f64 product = 1;
    for (int i = 0; i < R_1; ++i) G[r][i] = product *= 1 + R[r][i];
  }
)";

constexpr auto window_sum =
    tw::kernel<"window_sum">([](tw::in<"X", float, "L"> X, tw::out<"Y", float, "N"> Y) {
      constexpr tw::axis<"w", 64> w;
      return Y(i) = tw::sum<w>(X(i + w));
    });
const char* const window_sum_nest = R"(
  f32 sum = 0;
  for (int i = 0; i < 63; ++i) sum += X[i];
  for (int i = 0; i < Y_0; ++i) {
    sum += X[i + 63];
    Y[i] = sum;
    sum -= X[i];
  }
)";

}  // namespace

std::vector<field_problem> scans() {
  return {
      make("scans/prefix_rows_f32", prefix_rows, prefix_rows_nest, {},
           drawn<float>("X", {}, 256, 1024), result<float>("Y", 256, 1024)),
      make("scans/prefix_short_rows_f32", prefix_rows, prefix_rows_nest, {},
           drawn<float>("X", {}, 1000, 96), result<float>("Y", 1000, 96)),
      make("scans/prefix_columns_f32", prefix_columns, prefix_columns_nest, {},
           drawn<float>("X", {}, 1024, 256), result<float>("Y", 1024, 256)),
      make("scans/prefix_long_f32", prefix_long, prefix_long_nest, {}, drawn<float>("X", {}, 10000),
           result<float>("Y", 10000)),
      make("scans/drawdown_f64", drawdown, drawdown_nest, {}, drawn<double>("P", {1, 2}, 64, 2520),
           result<double>("D", 64, 2520)),
      make("scans/summed_area_u8", summed_area, summed_area_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, 480, 640), result<std::int32_t>("S", 480, 640)),
      make("scans/offsets_u8", offsets, offsets_nest, {}, drawn<std::uint8_t>("F", {0, 255}, 10000),
           result<std::int32_t>("O", 10000)),
      make("scans/growth_f64", growth, growth_nest, {}, drawn<double>("R", {-0.01, 0.01}, 64, 252),
           result<double>("G", 64, 252)),
      make("scans/window_sum_f32", window_sum, window_sum_nest, {},
           drawn<float>("X", {}, 10000 + 63), result<float>("Y", 10000)),
  };
}

}  // namespace bench::fields
