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
  };
}

}  // namespace bench::fields
