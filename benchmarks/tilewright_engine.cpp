#include "tilewright_engine.hpp"

#include <tilewright/tilewright.hpp>

#include <cstdlib>
#include <memory>

namespace bench {
namespace {

constexpr auto matmul =
    tw::kernel<"matmul">([](tw::in<"A", float, "M", "K"> A, tw::weight<"B", float, "K", "N"> B,
                            tw::out<"C", float, "M", "N"> C) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return C(i, j) = tw::sum<k>(A(i, k) * B(k, j));
    });

template <int stride, int border>
constexpr auto conv2d = tw::kernel<"conv2d">([](tw::in<"X", float, "N", "H", "W", "C"> X,
                                                tw::weight<"F", float, "R", "S", "C", "K"> F,
                                                tw::out<"Y", float, "N", "P", "Q", "K"> Y) {
  using tw::axes::n, tw::axes::p, tw::axes::q, tw::axes::k, tw::axes::r, tw::axes::s, tw::axes::c;
  auto padded = tw::zero_outside(X);
  return Y(n, p, q, k) = tw::sum<r, s, c>(
             padded(n, p * stride + r - border, q * stride + s - border, c) * F(r, s, c, k));
});

constexpr auto softmax =
    tw::kernel<"softmax">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j;
      tw::temp<"peak", float, "M"> peak;
      tw::temp<"e", float, "M", "N"> e;
      tw::temp<"total", float, "M"> total;
      return tw::blocks(peak(i) = tw::max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                        total(i) = tw::sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });

template <class Kernel>
auto tuned_for(const Kernel& kernel, int threads) {
  return std::make_shared<tw::tuned<Kernel>>(
      kernel, tw::tuned_options{.seconds = tuning_seconds(), .threads = threads});
}

prepared gemm(const gemm_problem& g, int threads) {
  auto op = tuned_for(matmul, threads);
  return {[=] {
            (*op)(tw::view(g.a, {g.m, g.k}), tw::view(g.b, {g.k, g.n}), tw::view(g.c, {g.m, g.n}));
          },
          {}};
}

prepared conv(const conv_problem& v, int threads) {
  if (v.stride != 2 || v.pad != 3) return {};
  auto op = tuned_for(conv2d<2, 3>, threads);
  return {[=] {
            (*op)(tw::view(v.x, {v.n, v.h, v.w, v.c}), tw::view(v.f, {v.r, v.s, v.c, v.k}),
                  tw::view(v.y, {v.n, v.p(), v.q(), v.k}));
          },
          {}};
}

prepared softmax_rows(const softmax_problem& s, int threads) {
  auto op = tuned_for(softmax, threads);
  return {[=] {
            (*op)(tw::view(s.x, {s.rows, s.columns}), tw::view(s.y, {s.rows, s.columns}));
          },
          {}};
}

prepared bound_gemm(const gemm_problem& g, int threads) {
  const auto op = tuned_for(matmul, threads)->with<"B">(tw::view(g.b, {g.k, g.n}));
  return {[=] { op(tw::view(g.a, {g.m, g.k}), tw::view(g.c, {g.m, g.n})); }, {}};
}

prepared bound_conv(const conv_problem& v, int threads) {
  if (v.stride != 2 || v.pad != 3) return {};
  const auto op = tuned_for(conv2d<2, 3>, threads)->with<"F">(tw::view(v.f, {v.r, v.s, v.c, v.k}));
  return {[=] {
            op(tw::view(v.x, {v.n, v.h, v.w, v.c}), tw::view(v.y, {v.n, v.p(), v.q(), v.k}));
          },
          {}};
}

}  // namespace

double tuning_seconds() {
  const char* text = std::getenv("BENCH_TUNE_SECONDS");
  return text ? std::atof(text) : 10.0;
}

peer tilewright_engine() { return {"tilewright", "", gemm, conv, softmax_rows}; }

peer bound_tilewright_engine() { return {"tilewright_bound", "", bound_gemm, bound_conv, {}}; }

}  // namespace bench
