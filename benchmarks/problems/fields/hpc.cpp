#include "../../peers/eigen_fields.hpp"
#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::i, tw::axes::j, tw::axes::k, tw::axes::n, tw::axes::q, tw::axes::x, tw::axes::y,
    tw::axes::z;
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

constexpr auto weighted = tw::kernel<"weighted">(
    [](tw::in<"U", float, side + 2, side + 2, side + 2> U,
       tw::in<"W", float, 7, side, side, side> W, tw::out<"V", float, side, side, side> V) {
      return V(x, y, z) =
                 W(0, x, y, z) * U(x + 1, y + 1, z + 1) + W(1, x, y, z) * U(x + 0, y + 1, z + 1) +
                 W(2, x, y, z) * U(x + 2, y + 1, z + 1) + W(3, x, y, z) * U(x + 1, y + 0, z + 1) +
                 W(4, x, y, z) * U(x + 1, y + 2, z + 1) + W(5, x, y, z) * U(x + 1, y + 1, z + 0) +
                 W(6, x, y, z) * U(x + 1, y + 1, z + 2);
    });
const char* const weighted_nest = R"(
  for (int x = 0; x < V_0; ++x)
    for (int y = 0; y < V_1; ++y)
      for (int z = 0; z < V_2; ++z)
        V[x][y][z] = W[0][x][y][z] * U[x + 1][y + 1][z + 1] + W[1][x][y][z] * U[x][y + 1][z + 1] +
                     W[2][x][y][z] * U[x + 2][y + 1][z + 1] + W[3][x][y][z] * U[x + 1][y][z + 1] +
                     W[4][x][y][z] * U[x + 1][y + 2][z + 1] + W[5][x][y][z] * U[x + 1][y + 1][z] +
                     W[6][x][y][z] * U[x + 1][y + 1][z + 2];
)";

constexpr auto box27 =
    tw::kernel<"box27">([](tw::in<"U", float, side + 2, side + 2, side + 2> U,
                           tw::in<"K", float, 3, 3, 3> K, tw::out<"V", float, side, side, side> V) {
      return V(x, y, z) = tw::sum<i, j, k>(K(i, j, k) * U(x + i, y + j, z + k));
    });
const char* const box27_nest = R"(
  for (int x = 0; x < V_0; ++x)
    for (int y = 0; y < V_1; ++y)
      for (int z = 0; z < V_2; ++z) {
        f32 sum = 0;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) sum += K[i][j][k] * U[x + i][y + j][z + k];
        V[x][y][z] = sum;
      }
)";

constexpr auto triad = tw::kernel<"triad">(
    [](tw::in<"A", double, "N"> A, tw::in<"B", double, "N"> B, tw::in<"s", double> s,
       tw::out<"C", double, "N"> C) { return C(n) = A(n) + B(n) * s; });
const char* const triad_nest = R"(
  for (int n = 0; n < A_0; ++n) C[n] = A[n] + B[n] * *s;
)";

constexpr auto dot =
    tw::kernel<"dot">([](tw::in<"A", double, "N"> A, tw::in<"B", double, "N"> B,
                         tw::out<"s", double> s) { return s() = tw::sum<n>(A(n) * B(n)); });
const char* const dot_nest = R"(
  f64 sum = 0;
  for (int n = 0; n < A_0; ++n) sum += A[n] * B[n];
  *s = sum;
)";

constexpr auto transposition =
    tw::kernel<"transposition">([](tw::in<"A", double, "M", "N"> A,
                                   tw::out<"B", double, "N", "M"> B) { return B(j, i) = A(i, j); });
const char* const transposition_nest = R"(
  for (int ii = 0; ii < A_0; ii += 16)
    for (int jj = 0; jj < A_1; jj += 16)
      for (int i = ii; i < ii + 16; ++i)
        for (int j = jj; j < jj + 16; ++j) B[j][i] = A[i][j];
)";

constexpr auto matrix_vector = tw::kernel<"matrix_vector">(
    [](tw::in<"A", double, "M", "N"> A, tw::in<"X", double, "M"> X, tw::out<"Y", double, "N"> Y) {
      return Y(j) = tw::sum<i>(A(i, j) * X(i));
    });
const char* const matrix_vector_nest = R"(
  for (int j = 0; j < A_1; ++j) Y[j] = 0;
  for (int i = 0; i < A_0; ++i)
    for (int j = 0; j < A_1; ++j) Y[j] += A[i][j] * X[i];
)";

/// A step of a lattice Boltzmann method: density and velocity of each point, and what its nine populations relax to.
constexpr auto collision =
    tw::kernel<"collision">([](tw::in<"F", float, 9, "H", "W"> F, tw::in<"E", float, 9, 2> E,
                               tw::in<"W", float, 9> W, tw::out<"G", float, 9, "H", "W"> G) {
      tw::temp<"R", float, "H", "W"> R;
      tw::temp<"U", float, "H", "W"> U;
      tw::temp<"V", float, "H", "W"> V;
      const auto eu = E(q, 0) * U(y, x) + E(q, 1) * V(y, x);
      const auto moved =
          1.0f + 3.0f * eu + 4.5f * eu * eu - 1.5f * (U(y, x) * U(y, x) + V(y, x) * V(y, x));
      return tw::blocks(R(y, x) = tw::sum<q>(F(q, y, x)),
                        U(y, x) = tw::sum<q>(F(q, y, x) * E(q, 0)) / R(y, x),
                        V(y, x) = tw::sum<q>(F(q, y, x) * E(q, 1)) / R(y, x),
                        G(q, y, x) = F(q, y, x) * 0.4f + 0.6f * W(q) * R(y, x) * moved);
    });
const char* const collision_nest = R"(
  for (int y = 0; y < F_1; ++y)
    for (int x = 0; x < F_2; ++x) {
      f32 r = 0, u = 0, v = 0;
      for (int q = 0; q < 9; ++q) {
        r += F[q][y][x];
        u += F[q][y][x] * E[q][0];
        v += F[q][y][x] * E[q][1];
      }
      u /= r;
      v /= r;
      for (int q = 0; q < 9; ++q) {
        const f32 eu = E[q][0] * u + E[q][1] * v;
        G[q][y][x] = F[q][y][x] * (f32)0.4f +
                     (f32)0.6f * W[q] * r * (1 + 3 * eu + (f32)4.5f * eu * eu - (f32)1.5f * (u * u + v * v));
      }
    }
)";

constexpr auto restriction =
    tw::kernel<"restriction">([](tw::in<"U", double, "A", "B"> U, tw::in<"F", double, "A", "B"> F,
                                 tw::out<"R", double, "P", "Q"> R) {
      const auto residual = [&](auto line, auto place) {
        return F(line, place) - (4.0 * U(line, place) - U(line - 1, place) - U(line + 1, place) -
                                 U(line, place - 1) - U(line, place + 1));
      };
      return R(y, x) = 0.25 * (residual(2 * y + 1, 2 * x + 1) + residual(2 * y + 1, 2 * x + 2) +
                               residual(2 * y + 2, 2 * x + 1) + residual(2 * y + 2, 2 * x + 2));
    });
const char* const restriction_nest = R"(
#define RESIDUAL(i, j) \
  (F[i][j] - (4 * U[i][j] - U[(i) - 1][j] - U[(i) + 1][j] - U[i][(j) - 1] - U[i][(j) + 1]))
  for (int y = 0; y < R_0; ++y)
    for (int x = 0; x < R_1; ++x)
      R[y][x] = (f64)0.25 * (RESIDUAL(2 * y + 1, 2 * x + 1) + RESIDUAL(2 * y + 1, 2 * x + 2) +
                             RESIDUAL(2 * y + 2, 2 * x + 1) + RESIDUAL(2 * y + 2, 2 * x + 2));
)";

constexpr auto periodic =
    tw::kernel<"periodic">([](tw::in<"U", float, 256, 256> U, tw::out<"V", float, 256, 256> V) {
      return V(y, x) = U((y + 1) % 256, x) + U((y + 255) % 256, x) + U(y, (x + 1) % 256) +
                       U(y, (x + 255) % 256) - 4.0f * U(y, x);
    });
const char* const periodic_nest = R"(
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x)
      V[y][x] = U[(y + 1) % 256][x] + U[(y + 255) % 256][x] + U[y][(x + 1) % 256] +
                U[y][(x + 255) % 256] - 4 * U[y][x];
)";

constexpr auto directions =
    tw::kernel<"directions">([](tw::in<"X", double, 3, "N"> X, tw::out<"Y", double, 3, "N"> Y) {
      tw::temp<"L", double, "N"> L;
      return tw::blocks(L(n) = sqrt(tw::sum<q>(X(q, n) * X(q, n))), Y(q, n) = X(q, n) / L(n));
    });
const char* const directions_nest = R"(
  for (int n = 0; n < X_1; ++n) {
    const f64 length = sqrt(X[0][n] * X[0][n] + X[1][n] * X[1][n] + X[2][n] * X[2][n]);
    for (int q = 0; q < 3; ++q) Y[q][n] = X[q][n] / length;
  }
)";

}  // namespace

std::vector<field_problem> hpc() {
  constexpr int bodies = 2048, rows = 257, depth = 131, columns = 199;
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
          [](field_problem::addresses a) { eigen::product(rows, depth, columns, a); },
          drawn<double>("A", {}, rows, depth), drawn<double>("B", {}, depth, columns),
          result<double>("C", rows, columns)),
      make("hpc/seven_weights_f32", weighted, weighted_nest, {},
           drawn<float>("U", {}, side + 2, side + 2, side + 2),
           drawn<float>("W", {}, 7, side, side, side), result<float>("V", side, side, side)),
      make("hpc/box_of_27_f32", box27, box27_nest, {},
           drawn<float>("U", {}, side + 2, side + 2, side + 2), drawn<float>("K", {}, 3, 3, 3),
           result<float>("V", side, side, side)),
      make("hpc/triad_f64", triad, triad_nest, {}, drawn<double>("A", {}, 4096),
           drawn<double>("B", {}, 4096), drawn<double>("s", {}), result<double>("C", 4096)),
      make("hpc/dot_f64", dot, dot_nest, {}, drawn<double>("A", {}, 8192),
           drawn<double>("B", {}, 8192), result<double>("s")),
      make("hpc/transpose_f64", transposition, transposition_nest, {},
           drawn<double>("A", {}, 1024, 1024), result<double>("B", 1024, 1024)),
      make("hpc/transposed_matrix_vector_f64", matrix_vector, matrix_vector_nest, {},
           drawn<double>("A", {}, 512, 512), drawn<double>("X", {}, 512), result<double>("Y", 512)),
      make("hpc/collision", collision, collision_nest, {}, drawn<float>("F", {0.5, 1}, 9, 128, 128),
           drawn<float>("E", {}, 9, 2), drawn<float>("W", {}, 9), result<float>("G", 9, 128, 128)),
      make("hpc/restriction_f64", restriction, restriction_nest, {},
           drawn<double>("U", {}, 514, 514), drawn<double>("F", {}, 514, 514),
           result<double>("R", 256, 256)),
      make("hpc/periodic_f32", periodic, periodic_nest, {}, drawn<float>("U", {}, 256, 256),
           result<float>("V", 256, 256)),
      make("hpc/directions_f64", directions, directions_nest, {}, drawn<double>("X", {}, 3, 10000),
           result<double>("Y", 3, 10000)),
  };
}

}  // namespace bench::fields
