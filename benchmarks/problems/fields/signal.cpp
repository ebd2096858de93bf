#include "field_problem.hpp"

namespace bench::fields {
namespace {

using tw::axes::c, tw::axes::k, tw::axes::n, tw::axes::x, tw::axes::y;

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
  const auto r = level(0), g = level(1), b = level(2);
  return YUV(y, x, c) = tw::cast<std::uint8_t>(
             select(c == 0, (r * 66 + g * 129 + b * 25 + 128) / 256 + 16,
                    select(c == 1, (r * -38 - g * 74 + b * 112 + 128) / 256 + 128,
                           (r * 112 - g * 94 - b * 18 + 128) / 256 + 128)));
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
  };
}

}  // namespace bench::fields
