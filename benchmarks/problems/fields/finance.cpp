#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::p, tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::t;

constexpr auto black_scholes = tw::kernel<"black_scholes">(
    [](tw::in<"S", float, "N"> S, tw::in<"K", float, "N"> K, tw::in<"T", float, "N"> T,
       tw::in<"rate", float> rate, tw::in<"volatility", float> volatility,
       tw::out<"call", float, "N"> call, tw::out<"put", float, "N"> put) {
      const auto below = [](auto x) { return (erf(x * 0.70710678118654752f) + 1.0f) * 0.5f; };
      const auto root = volatility * sqrt(T(i));
      const auto d1 = (log(S(i) / K(i)) + (rate + volatility * volatility * 0.5f) * T(i)) / root;
      const auto d2 = d1 - root;
      const auto discounted = K(i) * exp(-rate * T(i));
      return tw::blocks(call(i) = S(i) * below(d1) - discounted * below(d2),
                        put(i) = discounted * below(-d2) - S(i) * below(-d1));
    });
const char* const black_scholes_nest = R"(
#define BELOW(x) ((erf((x) * (f32)0.70710678118654752) + 1) * (f32)0.5)
  for (int i = 0; i < S_0; ++i) {
    const f32 root = *volatility * sqrt(T[i]);
    const f32 d1 = (log(S[i] / K[i]) + (*rate + *volatility * *volatility * (f32)0.5) * T[i]) / root;
    const f32 d2 = d1 - root, discounted = K[i] * exp(-*rate * T[i]);
    call[i] = S[i] * BELOW(d1) - discounted * BELOW(d2);
    put[i] = discounted * BELOW(-d2) - S[i] * BELOW(-d1);
  }
)";

constexpr auto payoff =
    tw::kernel<"payoff">([](tw::in<"Z", float, "N"> Z, tw::in<"S", float> S, tw::in<"K", float> K,
                            tw::in<"drift", float> drift, tw::in<"volatility", float> volatility,
                            tw::out<"P", float> P) {
      return P() = tw::sum<i>(max(S * exp(drift + volatility * Z(i)) - K, 0.0f)) /
                   tw::cast<float>(tw::extent<"N">);
    });
const char* const payoff_nest = R"(
  f32 sum = 0;
  for (int i = 0; i < Z_0; ++i) {
    const f32 gain = *S * exp(*drift + *volatility * Z[i]) - *K;
    sum += gain > 0 ? gain : 0;
  }
  *P = sum / Z_0;
)";

constexpr auto covariance =
    tw::kernel<"covariance">([](tw::in<"X", double, "N", "T"> X, tw::out<"C", double, "N", "N"> C) {
      tw::temp<"mean", double, "N"> mean;
      tw::temp<"D", double, "N", "T"> D;
      return tw::blocks(
          mean(i) = tw::sum<t>(X(i, t)) / tw::cast<double>(tw::extent<"T">),
          D(i, t) = X(i, t) - mean(i),
          C(i, j) = tw::sum<t>(D(i, t) * D(j, t)) / tw::cast<double>(tw::extent<"T"> - 1));
    });
const char* const covariance_nest = R"(
  static f64 D[X_0][X_1];
  for (int i = 0; i < X_0; ++i) {
    f64 mean = 0;
    for (int t = 0; t < X_1; ++t) mean += X[i][t];
    mean /= X_1;
    for (int t = 0; t < X_1; ++t) D[i][t] = X[i][t] - mean;
  }
  for (int i = 0; i < X_0; ++i)
    for (int j = 0; j < X_0; ++j) {
      f64 sum = 0;
      for (int t = 0; t < X_1; ++t) sum += D[i][t] * D[j][t];
      C[i][j] = sum / (X_1 - 1);
    }
)";

constexpr auto moving_mean = tw::kernel<"moving_mean">(
    [](tw::in<"X", double, "A", "L"> X, tw::out<"Y", double, "A", "T"> Y) {
      constexpr tw::axis<"w", 20> w;
      return Y(i, t) = tw::sum<w>(X(i, t + w)) * (1.0 / 20);
    });
const char* const moving_mean_nest = R"(
  for (int i = 0; i < Y_0; ++i)
    for (int t = 0; t < Y_1; ++t) {
      f64 sum = 0;
      for (int w = 0; w < 20; ++w) sum += X[i][t + w];
      Y[i][t] = sum * (1.0 / 20);
    }
)";

constexpr auto portfolios = tw::kernel<"portfolios">(
    [](tw::in<"C", double, "A", "A"> C, tw::in<"W", double, "P", "A"> W,
       tw::out<"V", double, "P"> V) { return V(t) = tw::sum<i, j>(W(t, i) * C(i, j) * W(t, j)); });
const char* const portfolios_nest = R"(
  for (int t = 0; t < W_0; ++t) {
    f64 sum = 0;
    for (int i = 0; i < C_0; ++i) {
      f64 row = 0;
      for (int j = 0; j < C_0; ++j) row += C[i][j] * W[t][j];
      sum += W[t][i] * row;
    }
    V[t] = sum;
  }
)";

constexpr auto bonds =
    tw::kernel<"bonds">([](tw::in<"R", float, "S", "T"> R, tw::in<"C", float, "B", "T"> C,
                           tw::in<"Y", float, "T"> Y, tw::out<"V", float, "S", "B"> V) {
      return V(i, j) = tw::sum<t>(C(j, t) * exp(-R(i, t) * Y(t)));
    });
const char* const bonds_nest = R"(
  for (int i = 0; i < R_0; ++i) {
    f32 d[R_1];
    for (int t = 0; t < R_1; ++t) d[t] = exp(-R[i][t] * Y[t]);
    for (int j = 0; j < C_0; ++j) {
      f32 sum = 0;
      for (int t = 0; t < R_1; ++t) sum += C[j][t] * d[t];
      V[i][j] = sum;
    }
  }
)";

constexpr auto tail_means = tw::kernel<"tail_means">(
    [](tw::in<"X", float, "S", "P"> X, tw::in<"L", float, "P"> L, tw::out<"M", float, "P"> M) {
      tw::temp<"sum", float, "P"> sum;
      tw::temp<"count", float, "P"> count;
      return tw::blocks(sum(p) = tw::sum<i>(select(X(i, p) < L(p), X(i, p), 0.0f)),
                        count(p) = tw::sum<i>(select(X(i, p) < L(p), 1.0f, 0.0f)),
                        M(p) = sum(p) / max(count(p), 1.0f));
    });
const char* const tail_means_nest = R"(
  f32 sum[X_1], count[X_1];
  for (int p = 0; p < X_1; ++p) sum[p] = count[p] = 0;
  for (int i = 0; i < X_0; ++i)
    for (int p = 0; p < X_1; ++p) {
      sum[p] += X[i][p] < L[p] ? X[i][p] : 0;
      count[p] += X[i][p] < L[p] ? 1 : 0;
    }
  for (int p = 0; p < X_1; ++p) M[p] = sum[p] / (count[p] > 1 ? count[p] : 1);
)";

constexpr tw::axis<"window", 20> window;
constexpr auto rolling =
    tw::kernel<"rolling">([](tw::in<"X", float, "L", "T"> X, tw::out<"S", float, "P", "T"> S) {
      tw::temp<"M", float, "P", "T"> M;
      const auto apart = X(i + window, t) - M(i, t);
      return tw::blocks(M(i, t) = tw::sum<window>(X(i + window, t)) * 0.05f,
                        S(i, t) = sqrt(tw::sum<window>(apart * apart) * 0.05f));
    });
const char* const rolling_nest = R"(
  for (int i = 0; i < S_0; ++i) {
    f32 m[S_1] = {0}, v[S_1] = {0};
    for (int k = 0; k < 20; ++k)
      for (int t = 0; t < S_1; ++t) m[t] += X[i + k][t];
    for (int t = 0; t < S_1; ++t) m[t] *= (f32)0.05f;
    for (int k = 0; k < 20; ++k)
      for (int t = 0; t < S_1; ++t) v[t] += (X[i + k][t] - m[t]) * (X[i + k][t] - m[t]);
    for (int t = 0; t < S_1; ++t) S[i][t] = sqrt(v[t] * (f32)0.05f);
  }
)";

}  // namespace

std::vector<field_problem> finance() {
  constexpr int options = 1 << 18, paths = 1 << 20, assets = 256, days = 1000;
  return {
      make("finance/black_scholes_f32", black_scholes, black_scholes_nest, {},
           drawn<float>("S", {50, 150}, options), drawn<float>("K", {50, 150}, options),
           drawn<float>("T", {0.1, 2}, options), drawn<float>("rate", {0.01, 0.05}),
           drawn<float>("volatility", {0.1, 0.3}), result<float>("call", options),
           result<float>("put", options)),
      make(
          "finance/payoff_mean_f32", payoff, payoff_nest,
          [](field_problem::addresses a) { eigen::payoff(paths, a); },
          drawn<float>("Z", {-3, 3}, paths), drawn<float>("S", {90, 110}),
          drawn<float>("K", {90, 110}), drawn<float>("drift", {0, 0.02}),
          drawn<float>("volatility", {0.1, 0.3}), result<float>("P")),
      make(
          "finance/covariance_f64", covariance, covariance_nest,
          [](field_problem::addresses a) { eigen::covariance(assets, days, a); },
          drawn<double>("X", {}, assets, days), result<double>("C", assets, assets)),
      make("finance/portfolio_variances_f64", portfolios, portfolios_nest, {},
           drawn<double>("C", {}, assets, assets), drawn<double>("W", {}, 128, assets),
           result<double>("V", 128)),
      make("finance/moving_mean_f64", moving_mean, moving_mean_nest, {},
           drawn<double>("X", {50, 150}, assets, days + 19), result<double>("Y", assets, days)),
      make("finance/bonds_f32", bonds, bonds_nest, {}, drawn<float>("R", {0, 0.1}, 500, 40),
           drawn<float>("C", {0, 1}, 128, 40), drawn<float>("Y", {0, 30}, 40),
           result<float>("V", 500, 128)),
      make("finance/tail_means_f32", tail_means, tail_means_nest, {},
           drawn<float>("X", {}, 2000, 256), drawn<float>("L", {-0.9, -0.5}, 256),
           result<float>("M", 256)),
      make("finance/rolling_deviation_f32", rolling, rolling_nest, {},
           drawn<float>("X", {}, 519, 128), result<float>("S", 500, 128)),
  };
}

}  // namespace bench::fields
