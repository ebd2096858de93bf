#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::f, tw::axes::b, tw::axes::c, tw::axes::d, tw::axes::i, tw::axes::j, tw::axes::k,
    tw::axes::l, tw::axes::n, tw::axes::x, tw::axes::y;

constexpr auto fir = tw::kernel<"fir">(
    [](tw::in<"X", float, "L"> X, tw::in<"H", float, "K"> H, tw::out<"Y", float, "N"> Y) {
      return Y(n) = tw::sum<k>(H(k) * X(n + k));
    });
const char* const fir_nest = R"(
  for (int n = 0; n < Y_0; ++n) {
    f32 sum = 0;
    for (int k = 0; k < H_0; ++k) sum += H[k] * X[n + k];
    Y[n] = sum;
  }
)";

constexpr auto decimation = tw::kernel<"decimation">(
    [](tw::in<"X", float, "L"> X, tw::in<"H", float, "K"> H, tw::out<"Y", float, "N"> Y) {
      return Y(n) = tw::sum<k>(H(k) * X(n * 8 + k));
    });
const char* const decimation_nest = R"(
  for (int n = 0; n < Y_0; ++n) {
    f32 sum = 0;
    for (int k = 0; k < H_0; ++k) sum += H[k] * X[8 * n + k];
    Y[n] = sum;
  }
)";

constexpr auto blur = tw::kernel<"blur">(
    [](tw::in<"A", std::uint8_t, "H", "W"> A, tw::out<"B", std::uint8_t, "H", "W"> B) {
      tw::temp<"T", std::uint16_t, "H", "W"> T;
      const auto a = tw::clamp_outside(A);
      const auto t = tw::clamp_outside(T);
      const auto wide = [&](auto at) { return tw::cast<std::uint16_t>(a(y, at)); };
      return tw::blocks(
          T(y, x) = wide(x - 2) + wide(x - 1) * 4 + wide(x) * 6 + wide(x + 1) * 4 + wide(x + 2),
          B(y, x) = tw::cast<std::uint8_t>(
              (t(y - 2, x) + t(y - 1, x) * 4 + t(y, x) * 6 + t(y + 1, x) * 4 + t(y + 2, x) + 128) /
              256));
    });
const char* const blur_nest = R"(
  static u16 T[A_0][A_1];
#define INSIDE(i, n) ((i) < 0 ? 0 : (i) >= (n) ? (n) - 1 : (i))
#define AT(i) A[y][INSIDE(i, A_1)]
  for (int y = 0; y < A_0; ++y) {
    for (int x = 2; x < A_1 - 2; ++x)
      T[y][x] = A[y][x - 2] + 4 * A[y][x - 1] + 6 * A[y][x] + 4 * A[y][x + 1] + A[y][x + 2];
    for (int e = 0; e < 4; ++e) {
      const int x = e < 2 ? e : A_1 - 4 + e;
      T[y][x] = AT(x - 2) + 4 * AT(x - 1) + 6 * AT(x) + 4 * AT(x + 1) + AT(x + 2);
    }
  }
  for (int y = 0; y < A_0; ++y) {
    const u16 *a = T[INSIDE(y - 2, A_0)], *b = T[INSIDE(y - 1, A_0)], *c = T[y],
              *d = T[INSIDE(y + 1, A_0)], *e = T[INSIDE(y + 2, A_0)];
    for (int x = 0; x < A_1; ++x)
      B[y][x] = (u16)(a[x] + 4 * b[x] + 6 * c[x] + 4 * d[x] + e[x] + 128) >> 8;
  }
)";

constexpr auto yuv = tw::kernel<"yuv">([](tw::in<"RGB", std::uint8_t, "H", "W", 3> RGB,
                                          tw::out<"YUV", std::uint8_t, "H", "W", 3> YUV) {
  const auto level = [&](int channel) { return tw::cast<int>(RGB(y, x, channel)); };
  const auto r = level(0), g = level(1), u = level(2);
  return YUV(y, x, c) = tw::cast<std::uint8_t>(
             select(c == 0, (r * 66 + g * 129 + u * 25 + 128) / 256 + 16,
                    select(c == 1, (r * -38 - g * 74 + u * 112 + 128) / 256 + 128,
                           (r * 112 - g * 94 - u * 18 + 128) / 256 + 128)));
});
const char* const yuv_nest = R"(
  for (int y = 0; y < RGB_0; ++y)
    for (int x = 0; x < RGB_1; ++x) {
      const int r = RGB[y][x][0], g = RGB[y][x][1], b = RGB[y][x][2];
      YUV[y][x][0] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
      YUV[y][x][1] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
      YUV[y][x][2] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
    }
)";

constexpr auto autocorrelation = tw::kernel<"autocorrelation">(
    [](tw::in<"X", float, "L"> X, tw::out<"R", float, "D"> R, tw::in<"W", float, "N"> W) {
      return R(d) = tw::sum<n>(W(n) * X(n + 0) * X(n + d));
    });
const char* const autocorrelation_nest = R"(
  for (int d = 0; d < R_0; ++d) {
    f32 sum = 0;
    for (int n = 0; n < W_0; ++n) sum += W[n] * X[n] * X[n + d];
    R[d] = sum;
  }
)";

constexpr auto motion = tw::kernel<"motion">([](tw::in<"A", std::uint8_t, "B", 16, 16> A,
                                                tw::in<"F", std::uint8_t, "B", 31, 31> F,
                                                tw::out<"S", std::int32_t, "B", 16, 16> S) {
  return S(b, i, j) =
             tw::sum<y, x>(abs(tw::cast<int>(A(b, y, x)) - tw::cast<int>(F(b, i + y, j + x))));
});
const char* const motion_nest = R"(
  for (int b = 0; b < A_0; ++b)
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) {
        int sum = 0;
        for (int y = 0; y < 16; ++y)
          for (int x = 0; x < 16; ++x) {
            const int d = (int)A[b][y][x] - (int)F[b][i + y][j + x];
            sum += d < 0 ? -d : d;
          }
        S[b][i][j] = sum;
      }
)";

constexpr auto curve = tw::kernel<"curve">(
    [](tw::in<"A", std::uint8_t, "H", "W"> A, tw::in<"T", std::uint8_t, 256> T,
       tw::out<"B", std::uint8_t, "H", "W"> B) { return B(y, x) = T(A(y, x)); });
const char* const curve_nest = R"(
  for (int y = 0; y < A_0; ++y)
    for (int x = 0; x < A_1; ++x) B[y][x] = T[A[y][x]];
)";

constexpr auto median = tw::kernel<"median">([](tw::in<"A", std::uint8_t, "H", "W"> A,
                                                tw::out<"B", std::uint8_t, "H", "W"> B) {
  tw::temp<"low", std::uint8_t, "H", "W"> low;
  tw::temp<"mid", std::uint8_t, "H", "W"> mid;
  tw::temp<"high", std::uint8_t, "H", "W"> high;
  const auto a = tw::clamp_outside(A);
  const auto p = a(y - 1, x), q = a(y + 0, x), r = a(y + 1, x);
  const auto middle = [](auto u, auto v, auto w) { return max(min(u, v), min(max(u, v), w)); };
  const auto least = tw::clamp_outside(low);
  const auto m = tw::clamp_outside(mid);
  const auto most = tw::clamp_outside(high);
  return tw::blocks(low(y, x) = min(min(p, q), r), mid(y, x) = middle(p, q, r),
                    high(y, x) = max(max(p, q), r),
                    B(y, x) = middle(max(max(least(y, x - 1), least(y, x + 0)), least(y, x + 1)),
                                     middle(m(y, x - 1), m(y, x + 0), m(y, x + 1)),
                                     min(min(most(y, x - 1), most(y, x + 0)), most(y, x + 1))));
});
const char* const median_nest = R"(
  static u8 low[A_0][A_1], mid[A_0][A_1], high[A_0][A_1];
#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))
#define MIDDLE(a, b, c) MORE(LESS(a, b), LESS(MORE(a, b), c))
  for (int y = 0; y < A_0; ++y) {
    const u8 *p = A[y > 0 ? y - 1 : 0], *q = A[y], *r = A[y < A_0 - 1 ? y + 1 : y];
    for (int x = 0; x < A_1; ++x) {
      low[y][x] = LESS(LESS(p[x], q[x]), r[x]);
      mid[y][x] = MIDDLE(p[x], q[x], r[x]);
      high[y][x] = MORE(MORE(p[x], q[x]), r[x]);
    }
  }
  for (int y = 0; y < A_0; ++y)
    for (int x = 0; x < A_1; ++x) {
      const int a = x > 0 ? x - 1 : 0, b = x < A_1 - 1 ? x + 1 : x;
      const u8 l = MORE(MORE(low[y][a], low[y][x]), low[y][b]);
      const u8 m = MIDDLE(mid[y][a], mid[y][x], mid[y][b]);
      const u8 h = LESS(LESS(high[y][a], high[y][x]), high[y][b]);
      B[y][x] = MIDDLE(l, m, h);
    }
)";

constexpr auto halving = tw::kernel<"halving">([](tw::in<"A", std::uint8_t, "P", "Q", 3> A,
                                                  tw::out<"B", std::uint8_t, "H", "W", 3> B) {
  const auto at = [&](int dy, int dx) {
    return tw::cast<std::uint16_t>(A(y * 2 + dy, x * 2 + dx, c));
  };
  return B(y, x, c) = tw::cast<std::uint8_t>((at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1) + 2) / 4);
});
const char* const halving_nest = R"(
  for (int y = 0; y < B_0; ++y)
    for (int x = 0; x < B_1; ++x)
      for (int c = 0; c < 3; ++c)
        B[y][x][c] = (A[2 * y][2 * x][c] + A[2 * y][2 * x + 1][c] + A[2 * y + 1][2 * x][c] +
                      A[2 * y + 1][2 * x + 1][c] + 2) / 4;
)";

constexpr auto cosines =
    tw::kernel<"cosines">([](tw::in<"D", float, 8, 8> D, tw::in<"X", float, "B", 8, 8> X,
                             tw::out<"Y", float, "B", 8, 8> Y) {
      tw::temp<"T", float, "B", 8, 8> T;
      return tw::blocks(T(b, i, x) = tw::sum<k>(D(i, k) * X(b, k, x)),
                        Y(b, i, j) = tw::sum<k>(T(b, i, k) * D(j, k)));
    });
const char* const cosines_nest = R"(
  for (int b = 0; b < X_0; ++b) {
    f32 T[8][8];
    for (int i = 0; i < 8; ++i)
      for (int x = 0; x < 8; ++x) {
        f32 sum = 0;
        for (int k = 0; k < 8; ++k) sum += D[i][k] * X[b][k][x];
        T[i][x] = sum;
      }
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        f32 sum = 0;
        for (int k = 0; k < 8; ++k) sum += T[i][k] * D[j][k];
        Y[b][i][j] = sum;
      }
  }
)";

constexpr auto channelizer = tw::kernel<"channelizer">([](tw::in<"X", float, "N", "P", 2> X,
                                                          tw::in<"F", float, "P", "P", 2> F,
                                                          tw::out<"Y", float, "N", "P", 2> Y) {
  return Y(n, i, c) = tw::sum<k>(X(n, k, 0) * select(c == 0, F(k, i, 0), F(k, i, 1)) +
                                 X(n, k, 1) * select(c == 0, -F(k, i, 1), F(k, i, 0)));
});
const char* const channelizer_nest = R"(
  for (int n = 0; n < X_0; ++n) {
    for (int i = 0; i < X_1; ++i) Y[n][i][0] = Y[n][i][1] = 0;
    for (int k = 0; k < X_1; ++k)
      for (int i = 0; i < X_1; ++i) {
        Y[n][i][0] += X[n][k][0] * F[k][i][0] - X[n][k][1] * F[k][i][1];
        Y[n][i][1] += X[n][k][0] * F[k][i][1] + X[n][k][1] * F[k][i][0];
      }
  }
)";

constexpr auto over =
    tw::kernel<"over">([](tw::in<"A", std::uint8_t, "N", 4> A, tw::in<"B", std::uint8_t, "N", 4> B,
                          tw::out<"Y", std::uint8_t, "N", 4> Y) {
      return Y(n, c) = tw::cast<std::uint8_t>(
                 tw::cast<int>(A(n, c)) +
                 (tw::cast<int>(B(n, c)) * (255 - tw::cast<int>(A(n, 3))) + 127) / 255);
    });
const char* const over_nest = R"(
  for (int n = 0; n < A_0; ++n)
    for (int c = 0; c < 4; ++c) Y[n][c] = A[n][c] + (B[n][c] * (255 - A[n][3]) + 127) / 255;
)";

constexpr auto steering =
    tw::kernel<"steering">([](tw::in<"A", float, "M", "N", 2> A, tw::in<"X", float, "N", 2> X,
                              tw::out<"Y", float, "M", 2> Y) {
      return Y(i, c) = tw::sum<j>(select(c == 0, A(i, j, 0) * X(j, 0) - A(i, j, 1) * X(j, 1),
                                         A(i, j, 0) * X(j, 1) + A(i, j, 1) * X(j, 0)));
    });
const char* const steering_nest = R"(
  for (int i = 0; i < A_0; ++i) {
    f32 re = 0, im = 0;
    for (int j = 0; j < A_1; ++j) {
      re += A[i][j][0] * X[j][0] - A[i][j][1] * X[j][1];
      im += A[i][j][0] * X[j][1] + A[i][j][1] * X[j][0];
    }
    Y[i][0] = re, Y[i][1] = im;
  }
)";

constexpr auto spectrum = tw::kernel<"spectrum">(
    [](tw::in<"X", float, "L"> X, tw::in<"W", float, 256> W, tw::in<"C", float, 256, "F"> C,
       tw::in<"S", float, 256, "F"> S, tw::out<"P", float, "T", "F"> P) {
      tw::temp<"re", float, "T", "F"> re;
      tw::temp<"im", float, "T", "F"> im;
      return tw::blocks(re(n, f) = tw::sum<k>(X(n * 128 + k) * W(k) * C(k, f)),
                        im(n, f) = tw::sum<k>(X(n * 128 + k) * W(k) * S(k, f)),
                        P(n, f) = re(n, f) * re(n, f) + im(n, f) * im(n, f));
    });
const char* const spectrum_nest = R"(
  for (int t = 0; t < P_0; ++t) {
    f32 re[P_1], im[P_1];
    for (int f = 0; f < P_1; ++f) re[f] = im[f] = 0;
    for (int k = 0; k < 256; ++k) {
      const f32 x = X[t * 128 + k] * W[k];
      for (int f = 0; f < P_1; ++f) re[f] += x * C[k][f], im[f] += x * S[k][f];
    }
    for (int f = 0; f < P_1; ++f) P[t][f] = re[f] * re[f] + im[f] * im[f];
  }
)";

constexpr auto differences =
    tw::kernel<"differences">([](tw::in<"A", std::uint8_t, "N"> A, tw::in<"B", std::uint8_t, "N"> B,
                                 tw::out<"S", std::int32_t> S) {
      return S() = tw::sum<n>(abs(tw::cast<int>(A(n)) - tw::cast<int>(B(n))));
    });

const char* const differences_nest = R"(
  int s = 0;
  for (int n = 0; n < A_0; ++n) {
    const int d = (int)A[n] - (int)B[n];
    s += d < 0 ? -d : d;
  }
  *S = s;
)";

constexpr auto brightness = tw::kernel<"brightness">(
    [](tw::in<"A", std::uint8_t, "H", "W"> A, tw::out<"S", std::int32_t, "H"> S) {
      return S(i) = tw::sum<j>(tw::cast<int>(A(i, j)));
    });

const char* const brightness_nest = R"(
  for (int i = 0; i < A_0; ++i) {
    int s = 0;
    for (int j = 0; j < A_1; ++j) s += A[i][j];
    S[i] = s;
  }
)";

constexpr auto phase =
    tw::kernel<"phase">([](tw::in<"X", float, "N", 2> X, tw::out<"P", float, "N"> P) {
      return P(n) = atan2(X(n, 1), X(n, 0));
    });
const char* const phase_nest = R"(
  for (int n = 0; n < X_0; ++n) P[n] = atan2(X[n][1], X[n][0]);
)";

/// Brightness for each pixel, both differences of colour for each square of four.
constexpr auto video = tw::kernel<"video">([](tw::in<"L", std::uint8_t, "H", "W"> L,
                                              tw::in<"C", std::uint8_t, "P", "Q", 2> C,
                                              tw::out<"RGB", std::uint8_t, "H", "W", 3> RGB) {
  const auto light = 298 * (tw::cast<int>(L(y, x)) - 16) + 128;
  const auto u = tw::cast<int>(C(y / 2, x / 2, 0)) - 128;
  const auto v = tw::cast<int>(C(y / 2, x / 2, 1)) - 128;
  const auto byte = [](auto s) { return tw::cast<std::uint8_t>(min(max(s >> 8, 0), 255)); };
  return tw::blocks(RGB(y, x, 0) = byte(light + 409 * v),
                    RGB(y, x, 1) = byte(light - 100 * u - 208 * v),
                    RGB(y, x, 2) = byte(light + 516 * u));
});
const char* const video_nest = R"(
  for (int y = 0; y < L_0; ++y)
    for (int x = 0; x < L_1; ++x) {
      const int l = 298 * (L[y][x] - 16) + 128, u = C[y / 2][x / 2][0] - 128;
      const int v = C[y / 2][x / 2][1] - 128;
      const int all[3] = {(l + 409 * v) >> 8, (l - 100 * u - 208 * v) >> 8, (l + 516 * u) >> 8};
      for (int c = 0; c < 3; ++c) RGB[y][x][c] = all[c] < 0 ? 0 : all[c] > 255 ? 255 : all[c];
    }
)";

constexpr auto colour_matrix =
    tw::kernel<"colour_matrix">([](tw::in<"A", std::uint8_t, "H", "W", 3> A,
                                   tw::in<"M", float, 3, 3> M, tw::out<"B", float, "H", "W", 3> B) {
      const auto sum = tw::sum<k>(M(c, k) * tw::cast<float>(A(y, x, k)));
      return B(y, x, c) = min(max(sum, 0.0f), 255.0f);
    });
const char* const colour_matrix_nest = R"(
  for (int y = 0; y < A_0; ++y)
    for (int x = 0; x < A_1; ++x)
      for (int c = 0; c < 3; ++c) {
        f32 sum = 0;
        for (int k = 0; k < 3; ++k) sum += M[c][k] * A[y][x][k];
        sum = sum > 0 ? sum : 0;
        B[y][x][c] = sum < 255 ? sum : 255;
      }
)";

constexpr auto interleave = tw::kernel<"interleave">(
    [](tw::in<"R", std::uint8_t, "N"> R, tw::in<"G", std::uint8_t, "N"> G,
       tw::in<"B", std::uint8_t, "N"> B, tw::out<"RGB", std::uint8_t, "M"> RGB) {
      return tw::blocks(RGB(3 * n) = R(n), RGB(3 * n + 1) = G(n), RGB(3 * n + 2) = B(n));
    });
const char* const interleave_nest = R"(
  for (int n = 0; n < R_0; ++n) {
    RGB[3 * n] = R[n];
    RGB[3 * n + 1] = G[n];
    RGB[3 * n + 2] = B[n];
  }
)";

/// One stage of a Fourier transform.
constexpr auto butterflies =
    tw::kernel<"butterflies">([](tw::in<"X", float, "G", 2, "H", 2> X, tw::in<"W", float, "H", 2> W,
                                 tw::out<"Y", float, "G", 2, "H", 2> Y) {
      const auto re = X(b, 1, k, 0) * W(k, 0) - X(b, 1, k, 1) * W(k, 1);
      const auto im = X(b, 1, k, 0) * W(k, 1) + X(b, 1, k, 1) * W(k, 0);
      return tw::blocks(Y(b, 0, k, 0) = X(b, 0, k, 0) + re, Y(b, 0, k, 1) = X(b, 0, k, 1) + im,
                        Y(b, 1, k, 0) = X(b, 0, k, 0) - re, Y(b, 1, k, 1) = X(b, 0, k, 1) - im);
    });
const char* const butterflies_nest = R"(
  for (int g = 0; g < X_0; ++g)
    for (int h = 0; h < X_2; ++h) {
      const f32 re = X[g][1][h][0] * W[h][0] - X[g][1][h][1] * W[h][1];
      const f32 im = X[g][1][h][0] * W[h][1] + X[g][1][h][1] * W[h][0];
      Y[g][0][h][0] = X[g][0][h][0] + re;
      Y[g][0][h][1] = X[g][0][h][1] + im;
      Y[g][1][h][0] = X[g][0][h][0] - re;
      Y[g][1][h][1] = X[g][0][h][1] - im;
    }
)";

}  // namespace

std::vector<field_problem> signal() {
  constexpr int samples = 1 << 20, taps = 64, kept = 1 << 17, long_taps = 128, h = 1080, w = 1920;
  return {
      make("signal/fir_64_f32", fir, fir_nest, {}, drawn<float>("X", {}, samples + taps - 1),
           drawn<float>("H", {}, taps), result<float>("Y", samples)),
      make("signal/decimate_by_8_f32", decimation, decimation_nest, {},
           drawn<float>("X", {}, 8 * kept + long_taps), drawn<float>("H", {}, long_taps),
           result<float>("Y", kept)),
      make("signal/blur_u8", blur, blur_nest, {}, drawn<std::uint8_t>("A", {0, 255}, h, w),
           result<std::uint8_t>("B", h, w)),
      make("signal/rgb_to_yuv_u8", yuv, yuv_nest, {}, drawn<std::uint8_t>("RGB", {0, 255}, h, w, 3),
           result<std::uint8_t>("YUV", h, w, 3)),
      make("signal/autocorrelation_f32", autocorrelation, autocorrelation_nest, {},
           drawn<float>("X", {}, 4096 + 512), result<float>("R", 512),
           drawn<float>("W", {0, 1}, 4096)),
      make("signal/motion_sad_u8", motion, motion_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, 64, 16, 16),
           drawn<std::uint8_t>("F", {0, 255}, 64, 31, 31), result<std::int32_t>("S", 64, 16, 16)),
      make("signal/tone_curve_u8", curve, curve_nest, {}, drawn<std::uint8_t>("A", {0, 255}, h, w),
           drawn<std::uint8_t>("T", {0, 255}, 256), result<std::uint8_t>("B", h, w)),
      make("signal/median_3x3_u8", median, median_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, h, w), result<std::uint8_t>("B", h, w)),
      make("signal/halve_rgb_u8", halving, halving_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, h, w, 3), result<std::uint8_t>("B", h / 2, w / 2, 3)),
      make("signal/dct_8x8_f32", cosines, cosines_nest, {}, drawn<float>("D", {}, 8, 8),
           drawn<float>("X", {}, 4096, 8, 8), result<float>("Y", 4096, 8, 8)),
      make("signal/complex_product_f32", channelizer, channelizer_nest, {},
           drawn<float>("X", {}, 256, 64, 2), drawn<float>("F", {}, 64, 64, 2),
           result<float>("Y", 256, 64, 2)),
      make("signal/over_rgba_u8", over, over_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, 512 * 512, 4),
           drawn<std::uint8_t>("B", {0, 255}, 512 * 512, 4),
           result<std::uint8_t>("Y", 512 * 512, 4)),
      make("signal/complex_matrix_vector_f32", steering, steering_nest, {},
           drawn<float>("A", {}, 512, 512, 2), drawn<float>("X", {}, 512, 2),
           result<float>("Y", 512, 2)),
      make("signal/spectrum_f32", spectrum, spectrum_nest, {}, drawn<float>("X", {}, 128 * 513),
           drawn<float>("W", {0, 1}, 256), drawn<float>("C", {}, 256, 129),
           drawn<float>("S", {}, 256, 129), result<float>("P", 512, 129)),
      make("signal/sum_of_differences_u8", differences, differences_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, 307200), drawn<std::uint8_t>("B", {0, 255}, 307200),
           result<std::int32_t>("S")),
      make("signal/row_sums_u8", brightness, brightness_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, h, w), result<std::int32_t>("S", h)),
      make("signal/phase_f32", phase, phase_nest, {}, drawn<float>("X", {}, 65536, 2),
           result<float>("P", 65536)),
      make("signal/video_to_rgb_u8", video, video_nest, {},
           drawn<std::uint8_t>("L", {0, 255}, 240, 320),
           drawn<std::uint8_t>("C", {0, 255}, 120, 160, 2),
           result<std::uint8_t>("RGB", 240, 320, 3)),
      make("signal/colour_matrix_f32", colour_matrix, colour_matrix_nest, {},
           drawn<std::uint8_t>("A", {0, 255}, 480, 640, 3), drawn<float>("M", {}, 3, 3),
           result<float>("B", 480, 640, 3)),
      make("signal/interleave_u8", interleave, interleave_nest, {},
           drawn<std::uint8_t>("R", {0, 255}, 100000), drawn<std::uint8_t>("G", {0, 255}, 100000),
           drawn<std::uint8_t>("B", {0, 255}, 100000), result<std::uint8_t>("RGB", 300000)),
      make("signal/butterflies_f32", butterflies, butterflies_nest, {},
           drawn<float>("X", {}, 64, 2, 128, 2), drawn<float>("W", {}, 128, 2),
           result<float>("Y", 64, 2, 128, 2)),
  };
}

}  // namespace bench::fields
