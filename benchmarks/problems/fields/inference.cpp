#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::b, tw::axes::c, tw::axes::d, tw::axes::g, tw::axes::h, tw::axes::i, tw::axes::j,
    tw::axes::k, tw::axes::n, tw::axes::o, tw::axes::p, tw::axes::q, tw::axes::t, tw::axes::v;

constexpr auto rms_norm = tw::kernel<"rms_norm">(
    [](tw::in<"X", float, "T", "D"> X, tw::in<"G", float, "D"> G, tw::out<"Y", float, "T", "D"> Y) {
      tw::temp<"r", float, "T"> r;
      return tw::blocks(
          r(t) = rsqrt(tw::sum<d>(X(t, d) * X(t, d)) / tw::cast<float>(tw::extent<"D">) + 1e-6f),
          Y(t, d) = X(t, d) * r(t) * G(d));
    });
const char* const rms_norm_nest = R"(
  for (int t = 0; t < X_0; ++t) {
    f32 sum = 0;
    for (int d = 0; d < X_1; ++d) sum += X[t][d] * X[t][d];
    const f32 r = 1 / sqrt(sum / X_1 + (f32)1e-6f);
    for (int d = 0; d < X_1; ++d) Y[t][d] = X[t][d] * r * G[d];
  }
)";

constexpr auto rotary =
    tw::kernel<"rotary">([](tw::in<"X", float, "T", "H", 32, 2> X, tw::in<"C", float, "T", 32> C,
                            tw::in<"S", float, "T", 32> S, tw::out<"Y", float, "T", "H", 32, 2> Y) {
      return Y(t, h, d, c) = select(c == 0, X(t, h, d, 0) * C(t, d) - X(t, h, d, 1) * S(t, d),
                                    X(t, h, d, 1) * C(t, d) + X(t, h, d, 0) * S(t, d));
    });
const char* const rotary_nest = R"(
  for (int t = 0; t < X_0; ++t)
    for (int h = 0; h < X_1; ++h)
      for (int d = 0; d < 32; ++d) {
        const f32 c = C[t][d], s = S[t][d];
        Y[t][h][d][0] = X[t][h][d][0] * c - X[t][h][d][1] * s;
        Y[t][h][d][1] = X[t][h][d][1] * c + X[t][h][d][0] * s;
      }
)";

constexpr auto bytes_product =
    tw::kernel<"bytes_product">([](tw::in<"X", float, "K"> X, tw::in<"W", std::int8_t, "N", "K"> W,
                                   tw::in<"S", float, "N"> S, tw::out<"Y", float, "N"> Y) {
      return Y(n) = tw::sum<k>(X(k) * tw::cast<float>(W(n, k))) * S(n);
    });
const char* const bytes_product_nest = R"(
  for (int n = 0; n < W_0; ++n) {
    f32 sum = 0;
    for (int k = 0; k < W_1; ++k) sum += X[k] * (f32)W[n][k];
    Y[n] = sum * S[n];
  }
)";

constexpr auto nibbles_product = tw::kernel<"nibbles_product">(
    [](tw::in<"X", float, "G", 16, 2> X, tw::in<"W", std::uint8_t, "N", "G", 16> W,
       tw::in<"S", float, "N", "G"> S, tw::out<"Y", float, "N"> Y) {
      const auto low = tw::cast<int>(bitwise_and(W(n, g, k), std::uint8_t{15})) - 8;
      const auto high = tw::cast<int>(W(n, g, k) >> std::uint8_t{4}) - 8;
      return Y(n) = tw::sum<g, k>(
                 (X(g, k, 0) * tw::cast<float>(low) + X(g, k, 1) * tw::cast<float>(high)) *
                 S(n, g));
    });
const char* const nibbles_product_nest = R"(
  for (int n = 0; n < W_0; ++n) {
    f32 sum = 0;
    for (int g = 0; g < W_1; ++g) {
      f32 part = 0;
      for (int k = 0; k < 16; ++k)
        part += X[g][k][0] * (f32)((W[n][g][k] & 15) - 8) + X[g][k][1] * (f32)((W[n][g][k] >> 4) - 8);
      sum += part * S[n][g];
    }
    Y[n] = sum;
  }
)";

// Weights in four bits that are numbers of a code book, such as quantiles of a normal distribution.
constexpr auto code_book_product = tw::kernel<"code_book_product">(
    [](tw::in<"X", float, "G", 16, 2> X, tw::in<"W", std::uint8_t, "N", "G", 16> W,
       tw::in<"T", float, 16> T, tw::in<"S", float, "N", "G"> S, tw::out<"Y", float, "N"> Y) {
      const auto low = tw::cast<int>(bitwise_and(W(n, g, k), std::uint8_t{15}));
      const auto high = tw::cast<int>(W(n, g, k) >> std::uint8_t{4});
      return Y(n) = tw::sum<g, k>((X(g, k, 0) * T(low) + X(g, k, 1) * T(high)) * S(n, g));
    });
const char* const code_book_product_nest = R"(
  for (int n = 0; n < W_0; ++n) {
    f32 sum = 0;
    for (int g = 0; g < W_1; ++g) {
      f32 part = 0;
      for (int k = 0; k < 16; ++k)
        part += X[g][k][0] * T[W[n][g][k] & 15] + X[g][k][1] * T[W[n][g][k] >> 4];
      sum += part * S[n][g];
    }
    Y[n] = sum;
  }
)";

constexpr auto depthwise_gradient = tw::kernel<"depthwise_gradient">(
    [](tw::in<"X", float, "H", "W", "C"> X, tw::in<"G", float, "P", "Q", "C"> G,
       tw::out<"D", float, 3, 3, "C"> D) {
      return D(i, j, c) = tw::sum<p, q>(X(p + i, q + j, c) * G(p, q, c));
    });
const char* const depthwise_gradient_nest = R"(
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int c = 0; c < X_2; ++c) D[i][j][c] = 0;
  for (int p = 0; p < G_0; ++p)
    for (int q = 0; q < G_1; ++q)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (int c = 0; c < X_2; ++c) D[i][j][c] += X[p + i][q + j][c] * G[p][q][c];
)";

constexpr auto embedding_bag = tw::kernel<"embedding_bag">(
    [](tw::in<"E", float, "V", "D"> E, tw::in<"I", std::int32_t, "B", "L"> I,
       tw::out<"Y", float, "B", "D"> Y) { return Y(b, d) = tw::sum<t>(E(I(b, t), d)); });
const char* const embedding_bag_nest = R"(
  for (int b = 0; b < I_0; ++b) {
    for (int d = 0; d < E_1; ++d) Y[b][d] = 0;
    for (int t = 0; t < I_1; ++t)
      for (int d = 0; d < E_1; ++d) Y[b][d] += E[I[b][t]][d];
  }
)";

constexpr auto decoding =
    tw::kernel<"decoding">([](tw::in<"Q", float, "H", 64> Q, tw::in<"K", float, "H", "T", 64> K,
                              tw::in<"V", float, "H", "T", 64> V, tw::out<"Y", float, "H", 64> Y) {
      tw::temp<"S", float, "H", "T"> S;
      tw::temp<"M", float, "H"> M;
      tw::temp<"P", float, "H", "T"> P;
      tw::temp<"L", float, "H"> L;
      return tw::blocks(S(h, t) = tw::sum<d>(Q(h, d) * K(h, t, d)) * 0.125f,
                        M(h) = tw::max<t>(S(h, t)), P(h, t) = exp(S(h, t) - M(h)),
                        L(h) = tw::sum<t>(P(h, t)),
                        Y(h, d) = tw::sum<t>(P(h, t) * V(h, t, d)) / L(h));
    });
const char* const decoding_nest = R"(
  static f32 S[K_1];
  for (int h = 0; h < K_0; ++h) {
    f32 most = -1e30f, total = 0;
    for (int t = 0; t < K_1; ++t) {
      f32 sum = 0;
      for (int d = 0; d < 64; ++d) sum += Q[h][d] * K[h][t][d];
      S[t] = sum * (f32)0.125;
    }
    for (int t = 0; t < K_1; ++t) most = S[t] > most ? S[t] : most;
    for (int t = 0; t < K_1; ++t) total += S[t] = exp(S[t] - most);
    for (int d = 0; d < 64; ++d) Y[h][d] = 0;
    for (int t = 0; t < K_1; ++t)
      for (int d = 0; d < 64; ++d) Y[h][d] += S[t] * V[h][t][d];
    for (int d = 0; d < 64; ++d) Y[h][d] /= total;
  }
)";

constexpr auto gate = tw::kernel<"gate">(
    [](tw::in<"A", float, "T", "D"> A, tw::in<"B", float, "T", "D"> B,
       tw::out<"Y", float, "T", "D"> Y) { return Y(t, d) = A(t, d) * sigmoid(A(t, d)) * B(t, d); });
const char* const gate_nest = R"(
  for (int t = 0; t < A_0; ++t)
    for (int d = 0; d < A_1; ++d) Y[t][d] = A[t][d] / (1 + exp(-A[t][d])) * B[t][d];
)";

constexpr auto best_word =
    tw::kernel<"best_word">([](tw::in<"X", float, "T", "V"> X, tw::out<"I", std::int32_t, "T"> I) {
      return I(t) = tw::argmax<v>(X(t, v));
    });
const char* const best_word_nest = R"(
  for (int t = 0; t < X_0; ++t) {
    f32 best = -1e30f;
    int found = 0;
    for (int v = 0; v < X_1; ++v)
      if (X[t][v] > best) best = X[t][v], found = v;
    I[t] = found;
  }
)";

constexpr auto best_row =
    tw::kernel<"best_row">([](tw::in<"X", float, "T", "C"> X, tw::out<"I", std::int32_t, "C"> I) {
      return I(c) = tw::argmax<t>(X(t, c));
    });
const char* const best_row_nest = R"(
  f32 best[X_1];
  for (int c = 0; c < X_1; ++c) { best[c] = X[0][c]; I[c] = 0; }
  for (int t = 1; t < X_0; ++t)
    for (int c = 0; c < X_1; ++c) {
      I[c] = X[t][c] > best[c] ? t : I[c];
      best[c] = X[t][c] > best[c] ? X[t][c] : best[c];
    }
)";

constexpr auto causal_weights = tw::kernel<"causal_weights">(
    [](tw::in<"X", float, "T", "T"> X, tw::out<"Y", float, "T", "T"> Y) {
      tw::temp<"M", float, "T"> M;
      tw::temp<"S", float, "T"> S;
      const auto seen = j <= i;
      const auto power = exp(X(i, j) - M(i));
      return tw::blocks(M(i) = tw::max<j>(select(seen, X(i, j), -1e30f)),
                        S(i) = tw::sum<j>(select(seen, power, 0.0f)),
                        Y(i, j) = select(seen, power / S(i), 0.0f));
    });
const char* const causal_weights_nest = R"(
  for (int i = 0; i < X_0; ++i) {
    f32 most = -1e30f, sum = 0;
    for (int j = 0; j <= i; ++j) most = X[i][j] > most ? X[i][j] : most;
    for (int j = 0; j <= i; ++j) Y[i][j] = exp(X[i][j] - most), sum += Y[i][j];
    for (int j = 0; j <= i; ++j) Y[i][j] /= sum;
    for (int j = i + 1; j < X_1; ++j) Y[i][j] = 0;
  }
)";

constexpr auto mean_of_positions = tw::kernel<"mean_of_positions">(
    [](tw::in<"X", float, "B", "P", "C"> X, tw::out<"Y", float, "B", "C"> Y) {
      return Y(b, c) = tw::sum<t>(X(b, t, c)) / tw::cast<float>(tw::extent<"P">);
    });

const char* const mean_of_positions_nest = R"(
  for (int b = 0; b < X_0; ++b) {
    for (int c = 0; c < X_2; ++c) Y[b][c] = 0;
    for (int t = 0; t < X_1; ++t)
      for (int c = 0; c < X_2; ++c) Y[b][c] += X[b][t][c];
    for (int c = 0; c < X_2; ++c) Y[b][c] /= X_1;
  }
)";

constexpr auto mish = tw::kernel<"mish">([](tw::in<"X", float, "N"> X, tw::out<"Y", float, "N"> Y) {
  return Y(i) = X(i) * tanh(log1p(exp(X(i))));
});
const char* const mish_nest = R"(
  for (int i = 0; i < X_0; ++i) Y[i] = X[i] * tanh(log1p(exp(X[i])));
)";

constexpr auto quantized_rows = tw::kernel<"quantized_rows">(
    [](tw::in<"X", float, "N", "K"> X, tw::out<"Q", std::int8_t, "N", "K"> Q,
       tw::out<"S", float, "N"> S) {
      return tw::blocks(S(n) = tw::max<k>(abs(X(n, k))) * (1.0f / 127),
                        Q(n, k) = tw::cast<std::int8_t>(round(X(n, k) / max(S(n), 1e-20f))));
    });
const char* const quantized_rows_nest = R"(
  for (int n = 0; n < X_0; ++n) {
    f32 s = 0;
    for (int k = 0; k < X_1; ++k) {
      const f32 v = fabs(X[n][k]);
      s = s > v ? s : v;
    }
    s *= (f32)(1.0f / 127);
    S[n] = s;
    const f32 by = s > (f32)1e-20f ? s : (f32)1e-20f;
    for (int k = 0; k < X_1; ++k) Q[n][k] = (i8)rint(X[n][k] / by);
  }
)";

constexpr auto group_norm =
    tw::kernel<"group_norm">([](tw::in<"X", float, "H", "G", 8> X, tw::in<"S", float, "G", 8> S,
                                tw::out<"Y", float, "H", "G", 8> Y) {
      tw::temp<"M", float, "G"> M;
      tw::temp<"V", float, "G"> V;
      const auto count = tw::cast<float>(tw::extent<"H">) * 8.0f;
      const auto apart = X(h, g, c) - M(g);
      return tw::blocks(M(g) = tw::sum<h, c>(X(h, g, c)) / count,
                        V(g) = tw::sum<h, c>(apart * apart) / count,
                        Y(h, g, c) = apart * rsqrt(V(g) + 1e-5f) * S(g, c));
    });
const char* const group_norm_nest = R"(
  f32 m[X_1] = {0}, v[X_1] = {0};
  for (int h = 0; h < X_0; ++h)
    for (int g = 0; g < X_1; ++g) for (int c = 0; c < 8; ++c) m[g] += X[h][g][c];
  for (int g = 0; g < X_1; ++g) m[g] /= X_0 * 8;
  for (int h = 0; h < X_0; ++h)
    for (int g = 0; g < X_1; ++g)
      for (int c = 0; c < 8; ++c) v[g] += (X[h][g][c] - m[g]) * (X[h][g][c] - m[g]);
  for (int g = 0; g < X_1; ++g) v[g] = 1 / sqrt(v[g] / (X_0 * 8) + (f32)1e-5f);
  for (int h = 0; h < X_0; ++h)
    for (int g = 0; g < X_1; ++g)
      for (int c = 0; c < 8; ++c) Y[h][g][c] = (X[h][g][c] - m[g]) * v[g] * S[g][c];
)";

constexpr auto column_norm = tw::kernel<"column_norm">(
    [](tw::in<"X", float, "C", "H"> X, tw::in<"S", float, "C"> S, tw::out<"Y", float, "C", "H"> Y) {
      tw::temp<"M", float, "H"> M;
      tw::temp<"V", float, "H"> V;
      const auto count = tw::cast<float>(tw::extent<"C">);
      const auto apart = X(c, h) - M(h);
      return tw::blocks(M(h) = tw::sum<c>(X(c, h)) / count,
                        V(h) = tw::sum<c>(apart * apart) / count,
                        Y(c, h) = apart * rsqrt(V(h) + 1e-5f) * S(c));
    });
const char* const column_norm_nest = R"(
  f32 m[X_1] = {0}, v[X_1] = {0};
  for (int c = 0; c < X_0; ++c) for (int h = 0; h < X_1; ++h) m[h] += X[c][h];
  for (int h = 0; h < X_1; ++h) m[h] /= X_0;
  for (int c = 0; c < X_0; ++c)
    for (int h = 0; h < X_1; ++h) v[h] += (X[c][h] - m[h]) * (X[c][h] - m[h]);
  for (int h = 0; h < X_1; ++h) v[h] = 1 / sqrt(v[h] / X_0 + (f32)1e-5f);
  for (int c = 0; c < X_0; ++c)
    for (int h = 0; h < X_1; ++h) Y[c][h] = (X[c][h] - m[h]) * v[h] * S[c];
)";

constexpr auto unit_rows = tw::kernel<"unit_rows">([](tw::in<"X", float, "N", 8> X,
                                                      tw::out<"Y", float, "N", 8> Y) {
  tw::temp<"L", float, "N"> L;
  return tw::blocks(L(n) = tw::sum<c>(X(n, c) * X(n, c)), Y(n, c) = X(n, c) * rsqrt(L(n) + 1e-6f));
});
const char* const unit_rows_nest = R"(
  for (int n = 0; n < X_0; ++n) {
    f32 s = 0;
    for (int c = 0; c < 8; ++c) s += X[n][c] * X[n][c];
    s = 1 / sqrt(s + (f32)1e-6f);
    for (int c = 0; c < 8; ++c) Y[n][c] = X[n][c] * s;
  }
)";

/// Numbers of eight bits with a scale and a zero for each channel.
constexpr auto per_channel = tw::kernel<"per_channel">(
    [](tw::in<"X", float, "N", "C"> X, tw::in<"S", float, "C"> S, tw::in<"Z", std::int8_t, "C"> Z,
       tw::out<"Q", std::int8_t, "N", "C"> Q) {
      const auto scaled = round(X(n, c) * S(c)) + tw::cast<float>(Z(c));
      return Q(n, c) = tw::cast<std::int8_t>(min(max(scaled, -128.0f), 127.0f));
    });
const char* const per_channel_nest = R"(
  for (int n = 0; n < X_0; ++n)
    for (int c = 0; c < X_1; ++c) {
      float q = rintf((float)X[n][c] * (float)S[c]) + Z[c];
      q = q < -128 ? -128 : q;
      Q[n][c] = (i8)(q > 127 ? 127 : q);
    }
)";

/// Two numbers of four bits in a byte, scaled by rows.
constexpr auto packed_nibbles =
    tw::kernel<"packed_nibbles">([](tw::in<"X", float, "N", "K"> X, tw::in<"S", float, "N"> S,
                                    tw::out<"Q", std::uint8_t, "N", "P"> Q) {
      const auto four_bits = [&](auto at) {
        return tw::cast<int>(min(max(floor(X(n, at) * S(n) + 8.5f), 0.0f), 15.0f));
      };
      return Q(n, p) = tw::cast<std::uint8_t>(four_bits(2 * p) ^ (four_bits(2 * p + 1) << 4));
    });
const char* const packed_nibbles_nest = R"(
  for (int n = 0; n < X_0; ++n)
    for (int p = 0; p < Q_1; ++p) {
      int all[2];
      for (int i = 0; i < 2; ++i) {
        float q = floorf((float)X[n][2 * p + i] * (float)S[n] + 8.5f);
        q = q < 0 ? 0 : q;
        all[i] = (int)(q > 15 ? 15 : q);
      }
      Q[n][p] = all[0] ^ (all[1] << 4);
    }
)";

// Gradients of a table: rows of V are added up by the rows that they belong to.
constexpr auto segment_sums =
    tw::kernel<"segment_sums">([](tw::in<"V", float, "N", "D"> V, tw::in<"I", std::int32_t, "N"> I,
                                  tw::out<"Y", float, "B", "D"> Y) {
      return Y(b, d) = tw::sum<n>(select(I(n) == b, V(n, d), 0.0f));
    });
const char* const segment_sums_nest = R"(
  for (int b = 0; b < Y_0; ++b)
    for (int d = 0; d < Y_1; ++d) Y[b][d] = 0;
  for (int n = 0; n < I_0; ++n)
    for (int d = 0; d < V_1; ++d) Y[I[n]][d] += V[n][d];
)";

constexpr auto joined_features = tw::kernel<"joined_features">(
    [](tw::in<"A", float, "T", 37> A, tw::in<"B", float, "T", 64> B, tw::in<"C", float, "T", 19> C,
       tw::out<"Y", float, "T", 120> Y) {
      return tw::blocks(Y(t, i + 0) = A(t, i), Y(t, j + 37) = B(t, j), Y(t, k + 101) = C(t, k));
    });
const char* const joined_features_nest = R"(
  for (int t = 0; t < A_0; ++t) {
    for (int i = 0; i < 37; ++i) Y[t][i] = A[t][i];
    for (int i = 0; i < 64; ++i) Y[t][i + 37] = B[t][i];
    for (int i = 0; i < 19; ++i) Y[t][i + 101] = C[t][i];
  }
)";

}  // namespace

std::vector<field_problem> inference() {
  constexpr int tokens = 256, width = 768, heads = 12;
  return {
      make(
          "inference/rms_norm_f32", rms_norm, rms_norm_nest,
          [](field_problem::addresses a) { eigen::rms_norm(tokens, width, a); },
          drawn<float>("X", {}, tokens, width), drawn<float>("G", {}, width),
          result<float>("Y", tokens, width)),
      make("inference/rotary_pairs_f32", rotary, rotary_nest, {},
           drawn<float>("X", {}, tokens, heads, 32, 2), drawn<float>("C", {}, tokens, 32),
           drawn<float>("S", {}, tokens, 32), result<float>("Y", tokens, heads, 32, 2)),
      make("inference/bytes_matrix_vector", bytes_product, bytes_product_nest, {},
           drawn<float>("X", {}, 4096), drawn<std::int8_t>("W", {-127, 127}, 1024, 4096),
           drawn<float>("S", {0, 0.01}, 1024), result<float>("Y", 1024)),
      make("inference/nibbles_matrix_vector", nibbles_product, nibbles_product_nest, {},
           drawn<float>("X", {}, 128, 16, 2), drawn<std::uint8_t>("W", {0, 255}, 1024, 128, 16),
           drawn<float>("S", {0, 0.01}, 1024, 128), result<float>("Y", 1024)),
      make("inference/code_book_matrix_vector", code_book_product, code_book_product_nest, {},
           drawn<float>("X", {}, 128, 16, 2), drawn<std::uint8_t>("W", {0, 255}, 1024, 128, 16),
           drawn<float>("T", {}, 16), drawn<float>("S", {0, 0.01}, 1024, 128),
           result<float>("Y", 1024)),
      make("inference/depthwise_gradient_f32", depthwise_gradient, depthwise_gradient_nest, {},
           drawn<float>("X", {}, 58, 58, 64), drawn<float>("G", {}, 56, 56, 64),
           result<float>("D", 3, 3, 64)),
      make("inference/embedding_bag_f32", embedding_bag, embedding_bag_nest, {},
           drawn<float>("E", {}, 8192, 64), drawn<std::int32_t>("I", {0, 8192}, 256, 32),
           result<float>("Y", 256, 64)),
      make("inference/decoding_attention_f32", decoding, decoding_nest, {},
           drawn<float>("Q", {}, 12, 64), drawn<float>("K", {}, 12, 1024, 64),
           drawn<float>("V", {}, 12, 1024, 64), result<float>("Y", 12, 64)),
      make("inference/gated_silu_f32", gate, gate_nest, {}, drawn<float>("A", {}, 128, 2048),
           drawn<float>("B", {}, 128, 2048), result<float>("Y", 128, 2048)),
      make("inference/argmax_of_vocabulary_f32", best_word, best_word_nest, {},
           drawn<float>("X", {}, 8, 32000), result<std::int32_t>("I", 8)),
      make("inference/argmax_of_columns_f32", best_row, best_row_nest, {},
           drawn<float>("X", {}, 512, 512), result<std::int32_t>("I", 512)),
      make("inference/causal_softmax_f32", causal_weights, causal_weights_nest, {},
           drawn<float>("X", {}, 256, 256), result<float>("Y", 256, 256)),
      make("inference/mean_of_positions_f32", mean_of_positions, mean_of_positions_nest, {},
           drawn<float>("X", {}, 8, 49, 2048), result<float>("Y", 8, 2048)),
      make("inference/mish_f32", mish, mish_nest, {}, drawn<float>("X", {-5, 5}, 65536),
           result<float>("Y", 65536)),
      make("inference/quantized_rows", quantized_rows, quantized_rows_nest, {},
           drawn<float>("X", {}, 128, 1024), result<std::int8_t>("Q", 128, 1024),
           result<float>("S", 128)),
      make("inference/groups_of_eight_f32", group_norm, group_norm_nest, {},
           drawn<float>("X", {}, 1024, 16, 8), drawn<float>("S", {}, 16, 8),
           result<float>("Y", 1024, 16, 8)),
      make("inference/normalized_columns_f32", column_norm, column_norm_nest, {},
           drawn<float>("X", {}, 192, 1024), drawn<float>("S", {}, 192),
           result<float>("Y", 192, 1024)),
      make("inference/unit_rows_of_eight_f32", unit_rows, unit_rows_nest, {},
           drawn<float>("X", {}, 20000, 8), result<float>("Y", 20000, 8)),
      make("inference/per_channel_i8", per_channel, per_channel_nest, {},
           drawn<float>("X", {}, 300, 200), drawn<float>("S", {100, 127}, 200),
           drawn<std::int8_t>("Z", {-20, 20}, 200), result<std::int8_t>("Q", 300, 200)),
      make("inference/packed_nibbles_u8", packed_nibbles, packed_nibbles_nest, {},
           drawn<float>("X", {}, 128, 512), drawn<float>("S", {7, 8}, 128),
           result<std::uint8_t>("Q", 128, 256)),
      make("inference/segment_sums_f32", segment_sums, segment_sums_nest, {},
           drawn<float>("V", {}, 4096, 32), drawn<std::int32_t>("I", {0, 100}, 4096),
           result<float>("Y", 100, 32)),
      make("inference/joined_features_f32", joined_features, joined_features_nest, {},
           drawn<float>("A", {}, 500, 37), drawn<float>("B", {}, 500, 64),
           drawn<float>("C", {}, 500, 19), result<float>("Y", 500, 120)),
  };
}

}  // namespace bench::fields
