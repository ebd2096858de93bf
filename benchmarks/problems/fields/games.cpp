#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::i, tw::axes::j, tw::axes::n, tw::axes::v;

constexpr auto transform = tw::kernel<"transform">(
    [](tw::in<"M", float, 4, 4> M, tw::in<"X", float, "N", 4> X, tw::out<"Y", float, "N", 4> Y) {
      return Y(n, i) = tw::sum<j>(M(i, j) * X(n, j));
    });
const char* const transform_nest = R"(
  for (int n = 0; n < X_0; ++n)
    for (int i = 0; i < 4; ++i) {
      f32 sum = 0;
      for (int j = 0; j < 4; ++j) sum += M[i][j] * X[n][j];
      Y[n][i] = sum;
    }
)";

constexpr auto mix =
    tw::kernel<"mix">([](tw::in<"S", float, "V", "N"> S, tw::in<"G", float, "V"> G,
                         tw::out<"O", float, "N"> O) { return O(n) = tw::sum<v>(S(v, n) * G(v)); });
const char* const mix_nest = R"(
  for (int n = 0; n < O_0; ++n) O[n] = 0;
  for (int v = 0; v < S_0; ++v)
    for (int n = 0; n < O_0; ++n) O[n] += S[v][n] * G[v];
)";

}  // namespace

std::vector<field_problem> games() {
  constexpr int vectors = 1 << 18, voices = 32, samples = 4096;
  return {
      make(
          "games/mat4_vec4_f32", transform, transform_nest,
          [](field_problem::addresses a) { eigen::transform(vectors, a); },
          drawn<float>("M", {}, 4, 4), drawn<float>("X", {}, vectors, 4),
          result<float>("Y", vectors, 4)),
      make(
          "games/mix_of_voices_f32", mix, mix_nest,
          [](field_problem::addresses a) { eigen::mix(voices, samples, a); },
          drawn<float>("S", {}, voices, samples), drawn<float>("G", {0, 1}, voices),
          result<float>("O", samples)),
  };
}

}  // namespace bench::fields
