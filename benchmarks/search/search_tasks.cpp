#include "search_tasks.hpp"

#include <tilewright/expr/reify.hpp>
#include <tilewright/ops.hpp>

namespace bench {

using namespace tilewright;

namespace {

constexpr auto dense_relu = kernel<"dense_relu">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f);
    });

constexpr auto attention_scores =
    kernel<"attention_scores">([](in<"Q", float, "B", "M", "K"> Q, in<"K", float, "B", "K", "N"> K,
                                  out<"S", float, "B", "M", "N"> S) {
      using axes::b, axes::i, axes::j, axes::k;
      return S(b, i, j) = sum<k>(Q(b, i, k) * K(b, k, j)) * 0.125f;
    });

template <int stride, int border>
constexpr auto convolution = kernel<"convolution">([](in<"X", float, "N", "H", "W", "C"> X,
                                                      in<"F", float, "R", "S", "C", "K"> F,
                                                      out<"Y", float, "N", "P", "Q", "K"> Y) {
  using axes::n, axes::p, axes::q, axes::k, axes::r, axes::s, axes::c;
  auto padded = zero_outside(X);
  return Y(n, p, q, k) = sum<r, s, c>(
             padded(n, p * stride + r - border, q * stride + s - border, c) * F(r, s, c, k));
});

constexpr auto depthwise =
    kernel<"depthwise">([](in<"X", float, "H", "W", "C"> X, in<"F", float, "R", "S", "C"> F,
                           out<"Y", float, "P", "Q", "C"> Y) {
      using axes::p, axes::q, axes::r, axes::s, axes::c;
      auto padded = zero_outside(X);
      return Y(p, q, c) = sum<r, s>(padded(p + r - 1, q + s - 1, c) * F(r, s, c));
    });

/// The arithmetic of a sampled product of dense matrices (SDDMM), the sample as a dense matrix.
constexpr auto sampled_product =
    kernel<"sampled_product">([](in<"A", float, "M", "K"> A, in<"B", float, "N", "K"> B,
                                 in<"mask", float, "M", "N"> mask, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = mask(i, j) * sum<k>(A(i, k) * B(j, k));
    });

constexpr auto matmul_tn = ops::matmul<float, float, ops::matmul_options{.transpose_a = true}>;
constexpr auto matmul_nt = ops::matmul<float, float, ops::matmul_options{.transpose_b = true}>;

template <int m, int n, int k>
ir::function product() {
  return reify(dense_relu, {{"M", m}, {"N", n}, {"K", k}});
}
template <int m, int n, int k>
ir::function product_nt() {
  return reify(matmul_nt, {{"M", m}, {"N", n}, {"K", k}});
}
template <int m, int n, int k>
ir::function product_tn() {
  return reify(matmul_tn, {{"M", m}, {"N", n}, {"K", k}});
}
template <int b, int m, int n, int k>
ir::function scores() {
  return reify(attention_scores, {{"B", b}, {"M", m}, {"N", n}, {"K", k}});
}
/// An image of `side` x `side` x c under windows of r x r, with a border that keeps its size over
/// the stride.
template <int side, int c, int k, int r, int stride>
ir::function conv() {
  constexpr int out = (side + stride - 1) / stride;
  return reify(convolution<stride, r / 2>, {{"N", 1},
                                            {"H", side},
                                            {"W", side},
                                            {"C", c},
                                            {"R", r},
                                            {"S", r},
                                            {"P", out},
                                            {"Q", out},
                                            {"K", k}});
}
template <int side, int c>
ir::function depthwise_conv() {
  return reify(depthwise,
               {{"H", side}, {"W", side}, {"C", c}, {"R", 3}, {"S", 3}, {"P", side}, {"Q", side}});
}
template <const auto& op, int m, int n>
ir::function rows() {
  return reify(op, {{"M", m}, {"N", n}});
}
template <const auto& op, int side, int c>
ir::function pool() {
  return reify(op,
               {{"N", 1}, {"H", side}, {"W", side}, {"C", c}, {"P", side / 2}, {"Q", side / 2}});
}
template <int b, int m, int d>
ir::function whole_attention() {
  return reify(ops::attention<float>, {{"B", b}, {"M", m}, {"N", m}, {"D", d}, {"E", d}});
}
template <int m, int n, int k>
ir::function sampled() {
  return reify(sampled_product, {{"M", m}, {"N", n}, {"K", k}});
}

constexpr task_use train = task_use::train, held = task_use::held_out;

// clang-format off
constexpr search_workload table[] = {
    {"gemm128", train, true, product<128, 128, 128>},
    {"gemm256", train, true, product<256, 256, 256>},
    {"gemm_odd", train, true, product<127, 131, 129>},
    {"gemm_flat", train, true, product<16, 512, 512>},
    {"gemm240", train, true, product<240, 360, 180>},
    {"gemm64", train, false, product<64, 64, 64>},
    {"gemm_tall", train, false, product<512, 32, 256>},
    {"gemm_wide", train, false, product<32, 768, 128>},
    {"gemm_deep", train, false, product<64, 64, 1024>},
    {"gemm_prime", train, false, product<131, 257, 67>},
    {"gemm_small", train, false, product<24, 96, 48>},
    {"gemm_block", train, false, product<192, 192, 384>},
    {"gemm_nt128", train, false, product_nt<128, 128, 128>},
    {"gemm_nt_flat", train, false, product_nt<16, 384, 384>},
    {"gemm_nt_odd", train, false, product_nt<101, 203, 77>},
    {"gemm_tn128", train, false, product_tn<128, 128, 128>},
    {"gemm_tn_flat", train, false, product_tn<24, 320, 256>},
    {"gemm_tn_odd", train, false, product_tn<99, 161, 133>},
    {"gemm_nt_deep", train, false, product_nt<96, 64, 768>},
    {"conv3x3", train, true, conv<28, 32, 32, 3, 1>},
    {"conv7x7", train, true, conv<56, 3, 64, 7, 2>},
    {"conv1x1", train, true, conv<28, 64, 128, 1, 1>},
    {"conv3x3_s2", train, false, conv<28, 32, 64, 3, 2>},
    {"conv3x3_14", train, false, conv<14, 64, 64, 3, 1>},
    {"conv3x3_7", train, false, conv<7, 96, 96, 3, 1>},
    {"conv5x5", train, false, conv<28, 16, 32, 5, 1>},
    {"conv5x5_s2", train, false, conv<32, 8, 48, 5, 2>},
    {"conv3x3_16", train, false, conv<16, 48, 48, 3, 1>},
    {"conv3x3_wide", train, false, conv<20, 24, 72, 3, 1>},
    {"conv1x1_56", train, false, conv<56, 16, 24, 1, 1>},
    {"conv1x1_14", train, false, conv<14, 128, 96, 1, 1>},
    {"conv1x1_s2", train, false, conv<28, 64, 64, 1, 2>},
    {"scores4", train, true, scores<4, 96, 96, 64>},
    {"batch", train, true, scores<12, 120, 240, 60>},
    {"scores8", train, false, scores<8, 64, 64, 32>},
    {"scores_odd", train, false, scores<3, 77, 77, 40>},
    {"softmax", train, true, rows<ops::softmax<float>, 256, 256>},
    {"softmax_wide", train, false, rows<ops::softmax<float>, 32, 2048>},
    {"softmax_tall", train, false, rows<ops::softmax<float>, 2048, 40>},
    {"softmax_odd", train, false, rows<ops::softmax<float>, 199, 301>},
    {"layer_norm", train, false, rows<ops::layer_norm<float>, 256, 256>},
    {"layer_norm_wide", train, false, rows<ops::layer_norm<float>, 48, 1024>},
    {"layer_norm_tall", train, false, rows<ops::layer_norm<float>, 1024, 64>},
    {"layer_norm_odd", train, false, rows<ops::layer_norm<float>, 173, 259>},
    {"rms_norm", train, false, rows<ops::rms_norm<float>, 256, 320>},
    {"rms_norm_wide", train, false, rows<ops::rms_norm<float>, 16, 4096>},
    {"max_pool", train, false, pool<ops::max_pool2d<float>, 56, 64>},
    {"avg_pool", train, false, pool<ops::avg_pool2d<float>, 56, 32>},
    {"depthwise", held, true, depthwise_conv<56, 64>},
    {"depthwise28", held, false, depthwise_conv<28, 128>},
    {"depthwise112", held, false, depthwise_conv<112, 24>},
    {"depthwise_odd", held, false, depthwise_conv<31, 47>},
    {"attention64", held, false, whole_attention<4, 64, 32>},
    {"attention128", held, false, whole_attention<2, 128, 64>},
    {"attention_small", held, false, whole_attention<8, 32, 32>},
    {"attention_odd", held, false, whole_attention<3, 77, 40>},
    {"sampled128", held, false, sampled<128, 128, 64>},
    {"sampled_deep", held, false, sampled<64, 96, 512>},
    {"sampled_wide", held, false, sampled<48, 512, 32>},
    {"sampled_odd", held, false, sampled<113, 119, 61>},
};
// clang-format on

constexpr std::size_t count(task_use use) {
  std::size_t out = 0;
  for (const search_workload& w : table) out += w.use == use ? 1 : 0;
  return out;
}
static_assert(count(train) == 48 && count(held) == 12);

}  // namespace

std::span<const search_workload> search_workloads() { return table; }

}  // namespace bench
