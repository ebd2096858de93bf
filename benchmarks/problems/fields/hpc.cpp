#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::x, tw::axes::y, tw::axes::z;
constexpr int side = 128;

constexpr auto jacobi = tw::kernel<"jacobi">([](tw::in<"U", double, side + 2, side + 2, side + 2> U,
                                                tw::in<"F", double, side, side, side> F,
                                                tw::out<"V", double, side, side, side> V) {
  return V(x, y, z) = (U(x + 0, y + 1, z + 1) + U(x + 2, y + 1, z + 1) + U(x + 1, y + 0, z + 1) +
                       U(x + 1, y + 2, z + 1) + U(x + 1, y + 1, z + 0) + U(x + 1, y + 1, z + 2) +
                       F(x, y, z)) *
                      (1.0 / 6);
});
const char* const jacobi_nest = R"(
  for (int x = 0; x < V_0; ++x)
    for (int y = 0; y < V_1; ++y)
      for (int z = 0; z < V_2; ++z)
        V[x][y][z] = (U[x][y + 1][z + 1] + U[x + 2][y + 1][z + 1] + U[x + 1][y][z + 1] +
                      U[x + 1][y + 2][z + 1] + U[x + 1][y + 1][z] + U[x + 1][y + 1][z + 2] +
                      F[x][y][z]) * (1.0 / 6);
)";

constexpr auto attraction = tw::kernel<"attraction">(
    [](tw::in<"X", float, "N"> X, tw::in<"Y", float, "N"> Y, tw::in<"Z", float, "N"> Z,
       tw::in<"M", float, "N"> M, tw::out<"AX", float, "N"> AX, tw::out<"AY", float, "N"> AY,
       tw::out<"AZ", float, "N"> AZ) {
      const auto dx = X(j) - X(i), dy = Y(j) - Y(i), dz = Z(j) - Z(i);
      const auto r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
      const auto force = M(j) * r * r * r;
      return tw::blocks(AX(i) = tw::sum<j>(force * dx), AY(i) = tw::sum<j>(force * dy),
                        AZ(i) = tw::sum<j>(force * dz));
    });
const char* const attraction_nest = R"(
  for (int i = 0; i < X_0; ++i) {
    f32 a = 0, b = 0, c = 0;
    for (int j = 0; j < X_0; ++j) {
      const f32 dx = X[j] - X[i], dy = Y[j] - Y[i], dz = Z[j] - Z[i];
      const f32 r = 1 / sqrt(dx * dx + dy * dy + dz * dz + (f32)1e-3f);
      const f32 force = M[j] * r * r * r;
      a += force * dx, b += force * dy, c += force * dz;
    }
    AX[i] = a, AY[i] = b, AZ[i] = c;
  }
)";

constexpr auto product = tw::kernel<"product">(
    [](tw::in<"A", double, "M", "K"> A, tw::in<"B", double, "K", "N"> B,
       tw::out<"C", double, "M", "N"> C) { return C(i, j) = tw::sum<k>(A(i, k) * B(k, j)); });
const char* const product_nest = R"(
  for (int i = 0; i < C_0; ++i) {
    for (int j = 0; j < C_1; ++j) C[i][j] = 0;
    for (int k = 0; k < A_1; ++k)
      for (int j = 0; j < C_1; ++j) C[i][j] += A[i][k] * B[k][j];
  }
)";

}  // namespace

std::vector<field_problem> hpc() {
  constexpr int bodies = 2048, m = 257, l = 131, n = 199;
  return {
      make("hpc/jacobi_f64", jacobi, jacobi_nest, {},
           drawn<double>("U", {}, side + 2, side + 2, side + 2),
           drawn<double>("F", {}, side, side, side), result<double>("V", side, side, side)),
      make("hpc/n_body_f32", attraction, attraction_nest, {}, drawn<float>("X", {}, bodies),
           drawn<float>("Y", {}, bodies), drawn<float>("Z", {}, bodies),
           drawn<float>("M", {0, 1}, bodies), result<float>("AX", bodies),
           result<float>("AY", bodies), result<float>("AZ", bodies)),
      make(
          "hpc/odd_dgemm", product, product_nest,
          [](field_problem::addresses a) { eigen::product(m, l, n, a); },
          drawn<double>("A", {}, m, l), drawn<double>("B", {}, l, n), result<double>("C", m, n)),
  };
}

}  // namespace bench::fields
