#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::y, tw::axes::x, tw::axes::c, tw::axes::b, tw::axes::i, tw::axes::j, tw::axes::k,
    tw::axes::n, tw::axes::p, tw::axes::v;

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

constexpr auto skinning = tw::kernel<"skinning">(
    [](tw::in<"M", float, "B", 3, 4> M, tw::in<"I", std::int32_t, "N", 4> I,
       tw::in<"W", float, "N", 4> W, tw::in<"X", float, "N", 4> X, tw::out<"Y", float, "N", 3> Y) {
      return Y(n, i) = tw::sum<b, j>(W(n, b) * M(I(n, b), i, j) * X(n, j));
    });
const char* const skinning_nest = R"(
  for (int n = 0; n < X_0; ++n) {
    f32 m[3][4] = {{0}};
    for (int b = 0; b < 4; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) m[i][j] += W[n][b] * M[I[n][b]][i][j];
    for (int i = 0; i < 3; ++i) {
      f32 sum = 0;
      for (int j = 0; j < 4; ++j) sum += m[i][j] * X[n][j];
      Y[n][i] = sum;
    }
  }
)";

constexpr auto culling =
    tw::kernel<"culling">([](tw::in<"P", float, 6, 4> P, tw::in<"S", float, "N", 4> S,
                             tw::out<"V", std::uint8_t, "N"> V) {
      return V(n) = tw::cast<std::uint8_t>(tw::all<p>(
                 P(p, 0) * S(n, 0) + P(p, 1) * S(n, 1) + P(p, 2) * S(n, 2) + P(p, 3) >= -S(n, 3)));
    });
const char* const culling_nest = R"(
  for (int n = 0; n < S_0; ++n) {
    int inside = 1;
    for (int p = 0; p < 6; ++p)
      inside &= P[p][0] * S[n][0] + P[p][1] * S[n][1] + P[p][2] * S[n][2] + P[p][3] >= -S[n][3];
    V[n] = inside;
  }
)";

constexpr auto lamps = tw::kernel<"lamps">(
    [](tw::in<"P", float, "N", 3> P, tw::in<"O", float, "N", 3> O, tw::in<"L", float, "M", 3> L,
       tw::in<"C", float, "M", 3> C, tw::out<"Y", float, "N", 3> Y) {
      const auto d = [&](int a) { return L(j, a) - P(n, a); };
      const auto square = d(0) * d(0) + d(1) * d(1) + d(2) * d(2);
      const auto facing = O(n, 0) * d(0) + O(n, 1) * d(1) + O(n, 2) * d(2);
      const auto strength = max(facing * rsqrt(square), 0.0f) / (square + 1.0f);
      return Y(n, c) = tw::sum<j>(strength * C(j, c));
    });
const char* const lamps_nest = R"(
  for (int n = 0; n < P_0; ++n) {
    f32 r = 0, g = 0, b = 0;
    for (int j = 0; j < L_0; ++j) {
      const f32 x = L[j][0] - P[n][0], y = L[j][1] - P[n][1], z = L[j][2] - P[n][2];
      const f32 square = x * x + y * y + z * z;
      const f32 facing = (O[n][0] * x + O[n][1] * y + O[n][2] * z) / sqrt(square);
      const f32 strength = (facing > 0 ? facing : 0) / (square + 1);
      r += strength * C[j][0], g += strength * C[j][1], b += strength * C[j][2];
    }
    Y[n][0] = r, Y[n][1] = g, Y[n][2] = b;
  }
)";

constexpr auto normals =
    tw::kernel<"normals">([](tw::in<"H", float, "R", "S"> H, tw::out<"N", float, "R", "S", 3> N) {
      const auto h = tw::clamp_outside(H);
      const auto dx = (h(y, x - 1) - h(y, x + 1)) * 0.5f, dy = (h(y - 1, x) - h(y + 1, x)) * 0.5f;
      const auto r = rsqrt(dx * dx + dy * dy + 1.0f);
      return N(y, x, c) = select(c == 0, dx, select(c == 1, dy, 1.0f)) * r;
    });
const char* const normals_nest = R"(
  for (int y = 0; y < H_0; ++y)
    for (int x = 0; x < H_1; ++x) {
      const int a = x > 0 ? x - 1 : 0, b = x < H_1 - 1 ? x + 1 : x, u = y > 0 ? y - 1 : 0, v = y < H_0 - 1 ? y + 1 : y;
      const f32 dx = (H[y][a] - H[y][b]) * (f32)0.5f, dy = (H[u][x] - H[v][x]) * (f32)0.5f;
      const f32 r = 1 / sqrt(dx * dx + dy * dy + 1);
      N[y][x][0] = dx * r, N[y][x][1] = dy * r, N[y][x][2] = r;
    }
)";

constexpr auto bounds = tw::kernel<"bounds">(
    [](tw::in<"P", float, "N", 3> P, tw::out<"L", float, 3> L, tw::out<"H", float, 3> H) {
      return tw::blocks(L(i) = tw::min<n>(P(n, i)), H(i) = tw::max<n>(P(n, i)));
    });

const char* const bounds_nest = R"(
  f32 l[3] = {1e30f, 1e30f, 1e30f}, h[3] = {-1e30f, -1e30f, -1e30f};
  for (int n = 0; n < P_0; ++n)
    for (int i = 0; i < 3; ++i) {
      l[i] = P[n][i] < l[i] ? P[n][i] : l[i];
      h[i] = P[n][i] > h[i] ? P[n][i] : h[i];
    }
  for (int i = 0; i < 3; ++i) { L[i] = l[i]; H[i] = h[i]; }
)";

constexpr auto particles = tw::kernel<"particles">(
    [](tw::in<"P", float, "N", 8> P, tw::in<"D", float> D, tw::out<"Q", float, "N", 8> Q) {
      // a place, the time left, a velocity, a mass
      const auto moved = [&](auto at) { return P(n, at) + P(n, at + 4) * D(); };
      const auto before = moved(max(i, 4) - 4);
      const auto bounced = select((before < 0.0f) | (before > 1.0f), -P(n, i), P(n, i));
      return Q(n, i) = select(i < 3, min(max(moved(min(i, 3)), 0.0f), 1.0f),
                              select(i == 3, P(n, i) - D(), select(i < 7, bounced, P(n, i))));
    });
const char* const particles_nest = R"(
  for (int n = 0; n < P_0; ++n) {
    for (int i = 0; i < 3; ++i) {
      const f32 v = P[n][i] + P[n][i + 4] * *D, w = v > 0 ? v : 0;
      Q[n][i] = w < 1 ? w : 1;
      Q[n][i + 4] = v < 0 || v > 1 ? -P[n][i + 4] : P[n][i + 4];
    }
    Q[n][3] = P[n][3] - *D;
    Q[n][7] = P[n][7];
  }
)";

constexpr auto blended_poses =
    tw::kernel<"blended_poses">([](tw::in<"A", float, "N", 4> A, tw::in<"B", float, "N", 4> B,
                                   tw::in<"W", float> W, tw::out<"C", float, "N", 4> C) {
      tw::temp<"V", float, "N", 4> V;
      tw::temp<"S", float, "N"> S;
      return tw::blocks(
          S(n) = tw::sum<k>(A(n, k) * B(n, k)),
          V(n, i) = A(n, i) * (1.0f - W()) + select(S(n) < 0.0f, -B(n, i), B(n, i)) * W(),
          C(n, i) = V(n, i) * rsqrt(tw::sum<k>(V(n, k) * V(n, k)) + 1e-12f));
    });
const char* const blended_poses_nest = R"(
  for (int n = 0; n < A_0; ++n) {
    f32 s = 0, v[4], r = (f32)1e-12f;
    for (int i = 0; i < 4; ++i) s += A[n][i] * B[n][i];
    for (int i = 0; i < 4; ++i) {
      v[i] = A[n][i] * (1 - *W) + (s < 0 ? -B[n][i] : B[n][i]) * *W;
      r += v[i] * v[i];
    }
    r = 1 / sqrt(r);
    for (int i = 0; i < 4; ++i) C[n][i] = v[i] * r;
  }
)";

// A curve by its values at 257 places, straight in between.
constexpr auto curve = tw::kernel<"curve">(
    [](tw::in<"T", float, 257> T, tw::in<"X", float, "N"> X, tw::out<"Y", float, "N"> Y) {
      const auto at = min(max(X(n) * 256.0f, 0.0f), 255.0f);
      const auto first = tw::cast<std::int32_t>(floor(at));
      return Y(n) = T(first) + (at - floor(at)) * (T(first + 1) - T(first));
    });
const char* const curve_nest = R"(
  for (int n = 0; n < X_0; ++n) {
    f32 at = X[n] * 256;
    at = at < 0 ? 0 : at > 255 ? 255 : at;
    const int first = (int)floor(at);
    Y[n] = T[first] + (at - floor(at)) * (T[first + 1] - T[first]);
  }
)";

constexpr auto histogram = tw::kernel<"histogram">(
    [](tw::in<"X", std::uint8_t, "H", "W"> X, tw::out<"Y", std::int32_t, 256> Y) {
      return Y(b) = tw::sum<i, j>(select(tw::cast<std::int32_t>(X(i, j)) == b, 1, 0));
    });
const char* const histogram_nest = R"(
  for (int b = 0; b < 256; ++b) Y[b] = 0;
  for (int i = 0; i < X_0; ++i)
    for (int j = 0; j < X_1; ++j) ++Y[X[i][j]];
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
      make("games/skinning_f32", skinning, skinning_nest, {}, drawn<float>("M", {}, 64, 3, 4),
           drawn<std::int32_t>("I", {0, 64}, 16384, 4), drawn<float>("W", {0, 1}, 16384, 4),
           drawn<float>("X", {}, 16384, 4), result<float>("Y", 16384, 3)),
      make("games/culling_f32", culling, culling_nest, {}, drawn<float>("P", {}, 6, 4),
           drawn<float>("S", {}, 65536, 4), result<std::uint8_t>("V", 65536)),
      make("games/lamps_f32", lamps, lamps_nest, {}, drawn<float>("P", {}, 16384, 3),
           drawn<float>("O", {}, 16384, 3), drawn<float>("L", {2, 3}, 64, 3),
           drawn<float>("C", {0, 1}, 64, 3), result<float>("Y", 16384, 3)),
      make("games/normals_f32", normals, normals_nest, {}, drawn<float>("H", {}, 512, 512),
           result<float>("N", 512, 512, 3)),
      make("games/bounds_f32", bounds, bounds_nest, {}, drawn<float>("P", {}, 100000, 3),
           result<float>("L", 3), result<float>("H", 3)),
      make("games/bounds_of_odd_count_f32", bounds, bounds_nest, {},
           drawn<float>("P", {}, 99999, 3), result<float>("L", 3), result<float>("H", 3)),
      make("games/particles_f32", particles, particles_nest, {}, drawn<float>("P", {}, 10000, 8),
           drawn<float>("D", {0.1, 0.2}), result<float>("Q", 10000, 8)),
      make("games/blended_poses_f32", blended_poses, blended_poses_nest, {},
           drawn<float>("A", {}, 10000, 4), drawn<float>("B", {}, 10000, 4),
           drawn<float>("W", {0.2, 0.8}), result<float>("C", 10000, 4)),
      make("games/curve_f32", curve, curve_nest, {}, drawn<float>("T", {}, 257),
           drawn<float>("X", {-0.1, 1.1}, 65536), result<float>("Y", 65536)),
      make("games/histogram_u8", histogram, histogram_nest, {},
           drawn<std::uint8_t>("X", {0, 256}, 240, 320), result<std::int32_t>("Y", 256)),
  };
}

}  // namespace bench::fields
