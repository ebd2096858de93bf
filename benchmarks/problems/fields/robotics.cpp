#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::b, tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::m, tw::axes::n;

constexpr auto small_products = tw::kernel<"small_products">([](tw::in<"A", float, "B", 6, 6> A,
                                                                tw::in<"X", float, "B", 6, 6> X,
                                                                tw::out<"C", float, "B", 6, 6> C) {
  return C(b, i, j) = tw::sum<k>(A(b, i, k) * X(b, k, j));
});
const char* const small_products_nest = R"(
  for (int b = 0; b < C_0; ++b)
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) {
        f32 sum = 0;
        for (int k = 0; k < 6; ++k) sum += A[b][i][k] * X[b][k][j];
        C[b][i][j] = sum;
      }
)";

constexpr auto turn = tw::kernel<"turn">(
    [](tw::in<"R", float, 3, 3> R, tw::in<"T", float, 3> T, tw::in<"P", float, "N", 3> P,
       tw::out<"Q", float, "N", 3> Q) { return Q(n, i) = tw::sum<j>(R(i, j) * P(n, j)) + T(i); });
const char* const turn_nest = R"(
  for (int n = 0; n < P_0; ++n)
    for (int i = 0; i < 3; ++i)
      Q[n][i] = R[i][0] * P[n][0] + R[i][1] * P[n][1] + R[i][2] * P[n][2] + T[i];
)";

constexpr auto nearest =
    tw::kernel<"nearest">([](tw::in<"A", float, "N", 3> A, tw::in<"B", float, "M", 3> B,
                             tw::out<"I", std::int32_t, "N"> I) {
      const auto squared = [&](int at) { return (A(n, at) - B(m, at)) * (A(n, at) - B(m, at)); };
      return I(n) = tw::argmin<m>(squared(0) + squared(1) + squared(2));
    });
const char* const nearest_nest = R"(
  for (int n = 0; n < A_0; ++n) {
    f32 best = 1e30f;
    int found = 0;
    for (int m = 0; m < B_0; ++m) {
      const f32 x = A[n][0] - B[m][0], y = A[n][1] - B[m][1], z = A[n][2] - B[m][2];
      const f32 squared = x * x + y * y + z * z;
      if (squared < best) best = squared, found = m;
    }
    I[n] = found;
  }
)";

constexpr auto normal_equations = tw::kernel<"normal_equations">(
    [](tw::in<"J", float, "B", "K", 6> J, tw::in<"R", float, "B", "K"> R,
       tw::out<"H", float, "B", 6, 6> H, tw::out<"G", float, "B", 6> G) {
      return tw::blocks(H(b, i, j) = tw::sum<k>(J(b, k, i) * J(b, k, j)),
                        G(b, i) = tw::sum<k>(J(b, k, i) * R(b, k)));
    });
const char* const normal_equations_nest = R"(
  for (int b = 0; b < J_0; ++b) {
    for (int i = 0; i < 6; ++i) {
      G[b][i] = 0;
      for (int j = 0; j < 6; ++j) H[b][i][j] = 0;
    }
    for (int k = 0; k < J_1; ++k)
      for (int i = 0; i < 6; ++i) {
        G[b][i] += J[b][k][i] * R[b][k];
        for (int j = 0; j < 6; ++j) H[b][i][j] += J[b][k][i] * J[b][k][j];
      }
  }
)";

constexpr auto residuals = tw::kernel<"residuals">(
    [](tw::in<"P", float, "N", 3> P, tw::in<"U", float, "N", 2> U, tw::in<"T", float, 3, 4> T,
       tw::in<"f", float> f, tw::out<"E", float, "N", 2> E) {
      const auto at = [&](int r) {
        return T(r, 0) * P(n, 0) + T(r, 1) * P(n, 1) + T(r, 2) * P(n, 2) + T(r, 3);
      };
      return E(n, i) = f * select(i == 0, at(0), at(1)) / at(2) - U(n, i);
    });
const char* const residuals_nest = R"(
  for (int n = 0; n < P_0; ++n) {
    f32 at[3];
    for (int r = 0; r < 3; ++r) at[r] = T[r][0] * P[n][0] + T[r][1] * P[n][1] + T[r][2] * P[n][2] + T[r][3];
    for (int i = 0; i < 2; ++i) E[n][i] = *f * at[i] / at[2] - U[n][i];
  }
)";

constexpr auto descriptors = tw::kernel<"descriptors">([](tw::in<"A", std::uint64_t, "M", 4> A,
                                                          tw::in<"B", std::uint64_t, "N", 4> B,
                                                          tw::out<"D", std::int32_t, "M", "N"> D) {
  return D(i, j) = tw::sum<k>(tw::cast<int>(tw::popcount(A(i, k) ^ B(j, k))));
});
const char* const descriptors_nest = R"(
  for (int i = 0; i < A_0; ++i)
    for (int j = 0; j < B_0; ++j) {
      int sum = 0;
      for (int k = 0; k < 4; ++k) sum += __builtin_popcountll(A[i][k] ^ B[j][k]);
      D[i][j] = sum;
    }
)";

constexpr auto gate_distances =
    tw::kernel<"gate_distances">([](tw::in<"X", float, "N", 6> X, tw::in<"M", float, 6> M,
                                    tw::in<"P", float, 6, 6> P, tw::out<"D", float, "N"> D) {
      return D(n) = tw::sum<i, j>((X(n, i) - M(i)) * P(i, j) * (X(n, j) - M(j)));
    });
const char* const gate_distances_nest = R"(
  for (int n = 0; n < X_0; ++n) {
    f32 sum = 0;
    for (int i = 0; i < 6; ++i) {
      f32 row = 0;
      for (int j = 0; j < 6; ++j) row += P[i][j] * (X[n][j] - M[j]);
      sum += row * (X[n][i] - M[i]);
    }
    D[n] = sum;
  }
)";

constexpr auto alignment = tw::kernel<"alignment">(
    [](tw::in<"P", float, "N", 3> P, tw::in<"Q", float, "N", 3> Q, tw::in<"O", float, "N", 3> O,
       tw::out<"H", float, 6, 6> H, tw::out<"G", float, 6> G) {
      tw::temp<"J", float, "N", 6> J;
      tw::temp<"E", float, "N"> E;
      const auto p = [&](int a) { return P(n, a); };
      const auto o = [&](int a) { return O(n, a); };
      return tw::blocks(
          J(n, i) = select(i == 0, p(1) * o(2) - p(2) * o(1),
                           select(i == 1, p(2) * o(0) - p(0) * o(2),
                                  select(i == 2, p(0) * o(1) - p(1) * o(0),
                                         select(i == 3, o(0), select(i == 4, o(1), o(2)))))),
          E(n) =
              (P(n, 0) - Q(n, 0)) * o(0) + (P(n, 1) - Q(n, 1)) * o(1) + (P(n, 2) - Q(n, 2)) * o(2),
          H(i, j) = tw::sum<n>(J(n, i) * J(n, j)), G(i) = tw::sum<n>(J(n, i) * E(n)));
    });
const char* const alignment_nest = R"(
  f32 h[6][6] = {{0}}, g[6] = {0};
  for (int n = 0; n < P_0; ++n) {
    const f32 *p = P[n], *o = O[n];
    const f32 J[6] = {p[1] * o[2] - p[2] * o[1], p[2] * o[0] - p[0] * o[2], p[0] * o[1] - p[1] * o[0], o[0], o[1], o[2]};
    const f32 e = (p[0] - Q[n][0]) * o[0] + (p[1] - Q[n][1]) * o[1] + (p[2] - Q[n][2]) * o[2];
    for (int i = 0; i < 6; ++i) {
      g[i] += J[i] * e;
      for (int j = 0; j < 6; ++j) h[i][j] += J[i] * J[j];
    }
  }
  for (int i = 0; i < 6; ++i) {
    G[i] = g[i];
    for (int j = 0; j < 6; ++j) H[i][j] = h[i][j];
  }
)";

constexpr auto great_circle = tw::kernel<"great_circle">(
    [](tw::in<"A", double, "N", 2> A, tw::in<"B", double, "N", 2> B, tw::out<"D", double, "N"> D) {
      const auto square_of_half_sine = [](auto difference) {
        const auto s = sin(difference * 0.5);
        return s * s;
      };
      const auto h = square_of_half_sine(A(i, 0) - B(i, 0)) +
                     cos(A(i, 0)) * cos(B(i, 0)) * square_of_half_sine(A(i, 1) - B(i, 1));
      return D(i) = asin(sqrt(h)) * 12742.0;
    });
const char* const great_circle_nest = R"(
  for (int i = 0; i < A_0; ++i) {
    const f64 s = sin((A[i][0] - B[i][0]) * 0.5), t = sin((A[i][1] - B[i][1]) * 0.5);
    D[i] = 12742 * asin(sqrt(s * s + cos(A[i][0]) * cos(B[i][0]) * t * t));
  }
)";

constexpr auto rotated = tw::kernel<"rotated">(
    [](tw::in<"Q", float, "N", 4> Q, tw::in<"P", float, "N", 3> P, tw::out<"R", float, "N", 3> R) {
      const auto cross = [&](int r, int s) {
        return 2.0f * (Q(n, r) * P(n, s) - Q(n, s) * P(n, r));
      };
      const auto x = cross(1, 2);
      const auto y = cross(2, 0);
      const auto z = cross(0, 1);
      return tw::blocks(R(n, 0) = P(n, 0) + Q(n, 3) * x + Q(n, 1) * z - Q(n, 2) * y,
                        R(n, 1) = P(n, 1) + Q(n, 3) * y + Q(n, 2) * x - Q(n, 0) * z,
                        R(n, 2) = P(n, 2) + Q(n, 3) * z + Q(n, 0) * y - Q(n, 1) * x);
    });
const char* const rotated_nest = R"(
  for (int n = 0; n < P_0; ++n) {
    const f32 *q = Q[n], *p = P[n];
    const f32 x = 2 * (q[1] * p[2] - q[2] * p[1]);
    const f32 y = 2 * (q[2] * p[0] - q[0] * p[2]);
    const f32 z = 2 * (q[0] * p[1] - q[1] * p[0]);
    R[n][0] = p[0] + q[3] * x + q[1] * z - q[2] * y;
    R[n][1] = p[1] + q[3] * y + q[2] * x - q[0] * z;
    R[n][2] = p[2] + q[3] * z + q[0] * y - q[1] * x;
  }
)";

}  // namespace

std::vector<field_problem> robotics() {
  constexpr int matrices = 10000, points = 100000, seen = 1000, known = 1200;
  return {
      make(
          "robotics/batch_6x6_f32", small_products, small_products_nest,
          [](field_problem::addresses a) { eigen::small_products(matrices, a); },
          drawn<float>("A", {}, matrices, 6, 6), drawn<float>("X", {}, matrices, 6, 6),
          result<float>("C", matrices, 6, 6)),
      make(
          "robotics/points_turned_f32", turn, turn_nest,
          [](field_problem::addresses a) { eigen::turn(points, a); }, drawn<float>("R", {}, 3, 3),
          drawn<float>("T", {}, 3), drawn<float>("P", {}, points, 3),
          result<float>("Q", points, 3)),
      make("robotics/nearest_point_f32", nearest, nearest_nest, {}, drawn<float>("A", {}, seen, 3),
           drawn<float>("B", {}, known, 3), result<std::int32_t>("I", seen)),
      make("robotics/normal_equations_f32", normal_equations, normal_equations_nest, {},
           drawn<float>("J", {}, 256, 128, 6), drawn<float>("R", {}, 256, 128),
           result<float>("H", 256, 6, 6), result<float>("G", 256, 6)),
      make("robotics/projection_errors_f32", residuals, residuals_nest, {},
           drawn<float>("P", {1, 2}, 65536, 3), drawn<float>("U", {}, 65536, 2),
           drawn<float>("T", {0.5, 1}, 3, 4), drawn<float>("f", {1, 2}),
           result<float>("E", 65536, 2)),
      make("robotics/hamming_distances", descriptors, descriptors_nest, {},
           drawn<std::uint64_t>("A", {0, 1.8e19}, 512, 4),
           drawn<std::uint64_t>("B", {0, 1.8e19}, 512, 4), result<std::int32_t>("D", 512, 512)),
      make("robotics/mahalanobis_f32", gate_distances, gate_distances_nest, {},
           drawn<float>("X", {}, 65536, 6), drawn<float>("M", {}, 6), drawn<float>("P", {}, 6, 6),
           result<float>("D", 65536)),
      make("robotics/alignment_f32", alignment, alignment_nest, {}, drawn<float>("P", {}, 65536, 3),
           drawn<float>("Q", {}, 65536, 3), drawn<float>("O", {}, 65536, 3),
           result<float>("H", 6, 6), result<float>("G", 6)),
      make("robotics/great_circle_f64", great_circle, great_circle_nest, {},
           drawn<double>("A", {}, 65536, 2), drawn<double>("B", {}, 65536, 2),
           result<double>("D", 65536)),
      make("robotics/rotated_f32", rotated, rotated_nest, {}, drawn<float>("Q", {}, 20000, 4),
           drawn<float>("P", {}, 20000, 3), result<float>("R", 20000, 3)),
  };
}

}  // namespace bench::fields
