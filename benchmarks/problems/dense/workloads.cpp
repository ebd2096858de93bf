#include <tilewright/ops.hpp>

#include "dense_workload.hpp"

namespace bench {
namespace dense {
namespace {

using tw::axes::b, tw::axes::i, tw::axes::j, tw::axes::k;

constexpr tw::ops::matmul_options of_weight{.weight_b = true};
const char* const product_nest = R"(
  for (int i = 0; i < C_0; ++i) {
    for (int j = 0; j < C_1; ++j) C[i][j] = 0;
    for (int k = 0; k < A_1; ++k)
      for (int j = 0; j < C_1; ++j) C[i][j] += A[i][k] * B[k][j];
  }
)";

template <class T = float>
dense_workload product(const char* set, const char* name, int m, int n, int depth) {
  constexpr bool in_double = std::is_same_v<T, double>;
  dense_shape s{in_double ? dense_kind::double_product : dense_kind::product, 1, m, n, depth};
  return make(set, name, tw::ops::matmul<T, T, of_weight>, product_nest, s, 2.0 * m * n * depth,
              depth, drawn<T>("A", {}, m, depth), weight<"B", T>("B", depth, n),
              result<T>("C", m, n));
}

/// Scores of attention from what projections wrote: a row of each operand holds all heads.
constexpr auto heads =
    tw::kernel<"heads">([](tw::in<"Q", float, "M", "B", "K"> Q, tw::in<"V", float, "N", "B", "K"> V,
                           tw::out<"C", float, "B", "M", "N"> C) {
      return C(b, i, j) = tw::sum<k>(Q(i, b, k) * V(j, b, k));
    });
const char* const heads_nest = R"(
  for (int b = 0; b < C_0; ++b)
    for (int i = 0; i < C_1; ++i)
      for (int j = 0; j < C_2; ++j) {
        f32 sum = 0;
        for (int k = 0; k < Q_2; ++k) sum += Q[i][b][k] * V[j][b][k];
        C[b][i][j] = sum;
      }
)";
dense_workload head_products(const char* set, const char* name, int length, int count, int width) {
  return make(
      set, name, heads, heads_nest, {dense_kind::heads, count, length, length, width},
      2.0 * count * length * length * width, width, drawn<float>("Q", {}, length, count, width),
      drawn<float>("V", {}, length, count, width), result<float>("C", count, length, length));
}

const char* const norm_nest = R"(
  f32 sum = 0;
  for (int i = 0; i < X_1; ++i)
    for (int j = 0; j < X_2; ++j) sum += X[0][i][j] * X[0][i][j];
  Y[0] = sqrt(sum);
)";
dense_workload norm(const char* set, const char* name, int m, int n) {
  return make(set, name, tw::ops::l2_norm<float>, norm_nest, {dense_kind::norm, 1, m, n},
              2.0 * m * n, m * n, drawn<float>("X", {}, 1, m, n), result<float>("Y", 1));
}

// Five operations a number: maximum, subtraction, exponential, sum, quotient.
const char* const softmax_nest = R"(
  for (int i = 0; i < X_0; ++i) {
    f32 peak = X[i][0], total = 0;
    for (int j = 0; j < X_1; ++j) peak = X[i][j] > peak ? X[i][j] : peak;
    for (int j = 0; j < X_1; ++j) total += Y[i][j] = exp(X[i][j] - peak);
    for (int j = 0; j < X_1; ++j) Y[i][j] /= total;
  }
)";
dense_workload softmax(const char* set, const char* name, int m, int n) {
  return make(set, name, tw::ops::softmax<float>, softmax_nest, {dense_kind::softmax, 1, m, n},
              5.0 * m * n, n, drawn<float>("X", {}, m, n), result<float>("Y", m, n));
}

const char* const dense_gelu_nest = R"(
  for (int i = 0; i < Y_0; ++i) {
    for (int j = 0; j < Y_1; ++j) Y[i][j] = bias[j];
    for (int k = 0; k < W_0; ++k)
      for (int j = 0; j < Y_1; ++j) Y[i][j] += X[i][k] * W[k][j];
    for (int j = 0; j < Y_1; ++j)
      Y[i][j] = Y[i][j] * (f32)0.5 * (1 + erf(Y[i][j] * (f32)0.70710678118654752440));
  }
)";
dense_workload dense_gelu(const char* set, const char* name, int m, int depth, int n) {
  return make(set, name, tw::ops::dense<float, float, tw::ops::activation::gelu>, dense_gelu_nest,
              {dense_kind::dense_gelu, 1, m, n, depth}, 2.0 * m * n * depth, depth,
              drawn<float>("X", {}, m, depth), weight<"W", float>("W", depth, n),
              weight<"bias", float>("bias", n), result<float>("Y", m, n));
}

const char* const layer_norm_nest = R"(
  for (int i = 0; i < X_0; ++i) {
    f32 mean = 0, variance = 0;
    for (int j = 0; j < X_1; ++j) mean += X[i][j];
    mean /= X_1;
    for (int j = 0; j < X_1; ++j) variance += (X[i][j] - mean) * (X[i][j] - mean);
    const f32 scale = 1 / sqrt(variance / X_1 + *epsilon);
    for (int j = 0; j < X_1; ++j) Y[i][j] = (X[i][j] - mean) * scale * gamma[j] + beta[j];
  }
)";
dense_workload layer_norm(const char* set, const char* name, int m, int n) {
  return make(set, name, tw::ops::layer_norm<float>, layer_norm_nest,
              {dense_kind::layer_norm, 1, m, n}, 8.0 * m * n, n, drawn<float>("X", {}, m, n),
              weight<"gamma", float>("gamma", n), weight<"beta", float>("beta", n),
              drawn<float>("epsilon", {1e-5, 1e-5}), result<float>("Y", m, n));
}

const char* const attention_nest = R"(
  static f32 share[K_1];
  for (int b = 0; b < Y_0; ++b)
    for (int i = 0; i < Y_1; ++i) {
      f32 peak = -1e30, total = 0;
      for (int j = 0; j < K_1; ++j) {
        f32 score = 0;
        for (int k = 0; k < K_2; ++k) score += Q[b][i][k] * K[b][j][k];
        share[j] = score * *scale;
        peak = share[j] > peak ? share[j] : peak;
      }
      for (int j = 0; j < K_1; ++j) total += share[j] = exp(share[j] - peak);
      for (int e = 0; e < V_2; ++e) Y[b][i][e] = 0;
      for (int j = 0; j < K_1; ++j)
        for (int e = 0; e < V_2; ++e) Y[b][i][e] += share[j] * V[b][j][e];
      for (int e = 0; e < V_2; ++e) Y[b][i][e] /= total;
    }
)";
dense_workload attention(const char* set, const char* name, int count, int length, int width) {
  return make(
      set, name, tw::ops::attention<float>, attention_nest,
      {dense_kind::attention, count, length, length, width}, 4.0 * count * length * length * width,
      length, drawn<float>("Q", {}, count, length, width),
      drawn<float>("K", {}, count, length, width), drawn<float>("V", {}, count, length, width),
      drawn<float>("scale", {0.125, 0.125}), result<float>("Y", count, length, width));
}

constexpr auto stencil_kernel =
    tw::kernel<"stencil">([](tw::in<"X", float, "P", "Q"> X, tw::out<"Y", float, "M", "N"> Y) {
      return Y(i, j) = (X(i + 1, j + 1) + X(i + 0, j + 1) + X(i + 2, j + 1) + X(i + 1, j + 0) +
                        X(i + 1, j + 2)) *
                       0.2f;
    });
const char* const stencil_nest = R"(
  for (int i = 0; i < Y_0; ++i)
    for (int j = 0; j < Y_1; ++j)
      Y[i][j] = (f32)0.2f * (X[i + 1][j + 1] + X[i][j + 1] + X[i + 2][j + 1] + X[i + 1][j] + X[i + 1][j + 2]);
)";
dense_workload stencil(const char* set, const char* name, int n) {
  return make(set, name, stencil_kernel, stencil_nest, {}, 5.0 * n * n, 5,
              drawn<float>("X", {}, n + 2, n + 2), result<float>("Y", n, n));
}

constexpr auto blur_kernel = tw::kernel<"blur">(
    [](tw::in<"X", float, "P", "Q"> X, tw::in<"W", float, "K"> W, tw::out<"Y", float, "M", "N"> Y) {
      tw::temp<"T", float, "P", "N"> T;
      return tw::blocks(T(i, j) = tw::sum<k>(W(k) * X(i, j + k)),
                        Y(i, j) = tw::sum<k>(W(k) * T(i + k, j)));
    });
const char* const blur_nest = R"(
  static f32 T[X_0][Y_1];
  for (int i = 0; i < X_0; ++i)
    for (int j = 0; j < Y_1; ++j) {
      f32 sum = 0;
      for (int k = 0; k < W_0; ++k) sum += W[k] * X[i][j + k];
      T[i][j] = sum;
    }
  for (int i = 0; i < Y_0; ++i)
    for (int j = 0; j < Y_1; ++j) {
      f32 sum = 0;
      for (int k = 0; k < W_0; ++k) sum += W[k] * T[i + k][j];
      Y[i][j] = sum;
    }
)";
dense_workload blur(const char* set, const char* name, int n, int taps) {
  return make(set, name, blur_kernel, blur_nest, {}, 4.0 * n * n * taps, 2 * taps,
              drawn<float>("X", {}, n + taps - 1, n + taps - 1), drawn<float>("W", {}, taps),
              result<float>("Y", n, n));
}

constexpr auto chain_kernel =
    tw::kernel<"chain">([](tw::in<"X", float, "N"> X, tw::out<"Y", float, "N"> Y) {
      tw::temp<"scaled", float, "N"> scaled;
      tw::temp<"shifted", float, "N"> shifted;
      tw::temp<"positive", float, "N"> positive;
      tw::temp<"square", float, "N"> square;
      return tw::blocks(scaled(i) = X(i) * 1.5f, shifted(i) = scaled(i) + 0.5f,
                        positive(i) = max(shifted(i), 0), square(i) = positive(i) * positive(i),
                        Y(i) = square(i) - 1.0f);
    });
const char* const chain_nest = R"(
  for (int i = 0; i < Y_0; ++i) {
    const f32 shifted = X[i] * (f32)1.5 + (f32)0.5, positive = shifted > 0 ? shifted : 0;
    Y[i] = positive * positive - 1;
  }
)";
dense_workload chain(const char* set, const char* name, int n) {
  return make(set, name, chain_kernel, chain_nest, {dense_kind::chain, 1, 1, n}, 5.0 * n, 1,
              drawn<float>("X", {}, n), result<float>("Y", n));
}

constexpr auto add_relu_kernel =
    tw::kernel<"add_relu">([](tw::in<"A", float, "N"> A, tw::in<"B", float, "N"> B,
                              tw::out<"Y", float, "N"> Y) { return Y(i) = max(A(i) + B(i), 0); });
const char* const add_relu_nest = R"(
  for (int i = 0; i < Y_0; ++i) {
    const f32 sum = A[i] + B[i];
    Y[i] = sum > 0 ? sum : 0;
  }
)";
dense_workload add_relu(const char* set, const char* name, int n) {
  return make(set, name, add_relu_kernel, add_relu_nest, {dense_kind::add_relu, 1, 1, n}, 2.0 * n,
              1, drawn<float>("A", {}, n), drawn<float>("B", {}, n), result<float>("Y", n));
}

constexpr auto row_sums_kernel =
    tw::kernel<"row_sums">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "M"> Y) {
      return Y(i) = tw::sum<j>(X(i, j));
    });
const char* const row_sums_nest = R"(
  for (int i = 0; i < X_0; ++i) {
    f32 sum = 0;
    for (int j = 0; j < X_1; ++j) sum += X[i][j];
    Y[i] = sum;
  }
)";
constexpr auto column_sums_kernel =
    tw::kernel<"column_sums">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "N"> Y) {
      return Y(j) = tw::sum<i>(X(i, j));
    });
const char* const column_sums_nest = R"(
  for (int j = 0; j < X_1; ++j) Y[j] = 0;
  for (int i = 0; i < X_0; ++i)
    for (int j = 0; j < X_1; ++j) Y[j] += X[i][j];
)";
dense_workload row_sums(const char* set, const char* name, int m, int n) {
  return make(set, name, row_sums_kernel, row_sums_nest, {dense_kind::row_sums, 1, m, n},
              1.0 * m * n, n, drawn<float>("X", {}, m, n), result<float>("Y", m));
}
dense_workload column_sums(const char* set, const char* name, int m, int n) {
  return make(set, name, column_sums_kernel, column_sums_nest, {dense_kind::column_sums, 1, m, n},
              1.0 * m * n, m, drawn<float>("X", {}, m, n), result<float>("Y", n));
}

}  // namespace
}  // namespace dense

std::vector<dense_workload> dense_workloads() {
  using namespace dense;
  constexpr auto twelve = "twelve", beyond = "beyond";
  std::vector<dense_workload> out{
      product(twelve, "GMM", 128, 128, 128),
      head_products(twelve, "TBG", 128, 12, 64),
      norm(twelve, "NRM", 256, 256),
      softmax(twelve, "SFM", 256, 256),
      product(beyond, "GEMM256", 256, 256, 256),
      product(beyond, "GEMM512", 512, 512, 512),
      product(beyond, "GEMM1024", 1024, 1024, 1024),
      product(beyond, "GEMM2048", 2048, 2048, 2048),
      product(beyond, "M1", 1, 1024, 1024),
      product(beyond, "M4", 4, 1024, 1024),
      product(beyond, "M16", 16, 1024, 1024),
      product(beyond, "GEMM1000", 1000, 1000, 1000),
      product(beyond, "GEMM127x129x131", 127, 129, 131),
      product<double>(beyond, "F64_512", 512, 512, 512),
      dense_gelu(beyond, "DENSE_GELU", 512, 768, 3072),
      layer_norm(beyond, "LAYERNORM", 512, 768),
      attention(beyond, "ATTENTION", 12, 128, 64),
      stencil(beyond, "STENCIL5", 2048),
      blur(beyond, "BLUR9", 2048, 9),
      chain(beyond, "CHAIN5", 1 << 20),
      add_relu(beyond, "ADDRELU", 1 << 20),
      row_sums(beyond, "ROWSUM", 4096, 4096),
      column_sums(beyond, "COLSUM", 4096, 4096),
  };
  add_convolutions(out);
  return out;
}

}  // namespace bench
