#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::c, tw::axes::d, tw::axes::h, tw::axes::t;

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
  };
}

}  // namespace bench::fields
