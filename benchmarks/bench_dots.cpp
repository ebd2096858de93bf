// Products and convolutions of bytes and of brain floats: the default space with the dot products
// that the CPU has, the same space with plain vectors alone, and oneDNN, on the same data in the same
// run.
//
// Benchmarks are named WORKLOAD_TYPE/ENGINE/threads:1. Outputs are compared before anything is timed:
// those of bytes exactly, those of brain floats with f64, relative to the magnitude of the sums. The
// engines of a workload are timed in turns, and the time of a benchmark is the shortest of its
// engine. Weights are bound, and so packed beforehand, in all of them. BENCH_TUNE_SECONDS is the
// budget of one tuning session, 10 unless it is set.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <tilewright/space/cpu.hpp>
#include <tilewright/tilewright.hpp>

#include "peers/onednn_dot.hpp"

namespace bench {
namespace {

template <class A, class B, class C>
constexpr auto product = tw::kernel<"product">([](tw::in<"A", A, "M", "K"> a,
                                                  tw::weight<"B", B, "K", "N"> b,
                                                  tw::out<"C", C, "M", "N"> c) {
  using tw::axes::i, tw::axes::j, tw::axes::k;
  return c(i, j) = tw::sum<k>(tw::cast<C>(a(i, k)) * tw::cast<C>(b(k, j)));
});

template <class A, class B, class C>
constexpr auto convolution = tw::kernel<"convolution">([](tw::in<"X", A, "N", "H", "W", "C"> x,
                                                          tw::weight<"F", B, "R", "S", "C", "K"> f,
                                                          tw::out<"Y", C, "N", "P", "Q", "K"> y) {
  using tw::axes::n, tw::axes::p, tw::axes::q, tw::axes::k, tw::axes::r, tw::axes::s, tw::axes::c;
  auto padded = tw::zero_outside(x);
  return y(n, p, q, k) = tw::sum<r, s, c>(tw::cast<C>(padded(n, p + r - 1, q + s - 1, c)) *
                                          tw::cast<C>(f(r, s, c, k)));
});

double budget() {
  const char* text = std::getenv("BENCH_TUNE_SECONDS");
  return text ? std::atof(text) : 10.0;
}

struct engine {
  std::string name;
  prepared job;
  double best = 1e30;  // s
  std::string problem;
};

struct workload {
  std::string name;
  double flops = 0;
  std::vector<engine> engines;
};

/// Data of a workload, and the engines that compute it.
template <class A, class B, class C>
class problem {
 public:
  problem(dot_type type, gemm_problem g) : problem(type, false, g, {}) {
    a_.resize(count(g.m, g.k));
    b_.resize(count(g.k, g.n));
    c_.resize(count(g.m, g.n));
    fill();
    for (int i = 0; i < g.m; ++i)
      for (int k = 0; k < g.k; ++k)
        for (int j = 0; j < g.n; ++j)
          add(count(i, g.n) + static_cast<std::size_t>(j),
              count(i, g.k) + static_cast<std::size_t>(k),
              count(k, g.n) + static_cast<std::size_t>(j));
  }
  problem(dot_type type, conv_problem v) : problem(type, true, {}, v) {
    a_.resize(count(v.n, v.h) * count(v.w, v.c));
    b_.resize(count(v.r, v.s) * count(v.c, v.k));
    c_.resize(count(v.n, v.p()) * count(v.q(), v.k));
    fill();
    std::size_t at = 0;
    for (int n = 0; n < v.n; ++n)
      for (int p = 0; p < v.p(); ++p)
        for (int q = 0; q < v.q(); ++q, at += static_cast<std::size_t>(v.k))
          for (int r = 0; r < v.r; ++r)
            for (int s = 0; s < v.s; ++s) add_tap(v, at, n, p + r - v.pad, q + s - v.pad, r, s);
  }

  double flops() const { return flops_; }

  prepared tilewright(bool intrinsics) {
    const tw::tuned_options how{.seconds = budget(),
                                .database = ":memory:",
                                .space = tw::space::default_cpu(48, intrinsics),
                                .threads = 1};
    return is_conv_ ? tuned_conv(how) : tuned_gemm(how);
  }

  prepared onednn(bool free_layout) {
    return onednn_dot({type_, is_conv_, gemm_, conv_, a_.data(), b_.data(), c_.data()},
                      free_layout);
  }

  /// Runs once and says what is wrong with the output; empty when nothing is.
  std::string check(const prepared& job) {
    std::fill(c_.begin(), c_.end(), C(77));
    job.run();
    if (job.fetch) job.fetch();
    double worst = 0;
    for (std::size_t i = 0; i < c_.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(c_[i]) - want_[i]) / scale_[i]);
    if (worst <= (type_ == dot_type::bf16 ? 1e-5 : 0.0)) return {};
    return "wrong result: relative error " + std::to_string(worst);
  }

 private:
  problem(dot_type type, bool is_conv, gemm_problem g, conv_problem v)
      : type_(type), is_conv_(is_conv), gemm_(g), conv_(v) {}

  static std::size_t count(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  }

  template <class T>
  static void random(std::vector<T>& to, unsigned seed) {
    std::mt19937 generator(seed);
    if constexpr (std::is_integral_v<T>) {
      std::uniform_int_distribution<int> values(std::numeric_limits<T>::min(),
                                                std::numeric_limits<T>::max());
      for (T& v : to) v = static_cast<T>(values(generator));
    } else {
      std::uniform_real_distribution<float> values(-1.0f, 1.0f);
      for (T& v : to) v = T(values(generator));
    }
  }
  void fill() {
    random(a_, 1);
    random(b_, 2);
    want_.assign(c_.size(), 0.0);
    scale_.assign(c_.size(), 1e-30);
  }

  void add(std::size_t c, std::size_t a, std::size_t b) {
    const double p = static_cast<double>(a_[a]) * static_cast<double>(b_[b]);
    want_[c] += p;
    scale_[c] += std::abs(p);
    flops_ += 2;
  }
  void add_tap(const conv_problem& v, std::size_t at, int n, int h, int w, int r, int s) {
    flops_ += 2.0 * v.c * v.k;
    if (h < 0 || h >= v.h || w < 0 || w >= v.w) return;
    flops_ -= 2.0 * v.c * v.k;  // counted by add
    for (int c = 0; c < v.c; ++c)
      for (int k = 0; k < v.k; ++k)
        add(at + static_cast<std::size_t>(k),
            static_cast<std::size_t>(((n * v.h + h) * v.w + w) * v.c + c),
            static_cast<std::size_t>(((r * v.s + s) * v.c + c) * v.k + k));
  }

  prepared tuned_gemm(const tw::tuned_options& how) {
    const auto& kernel = product<A, B, C>;
    const auto op =
        std::make_shared<tw::tuned<std::remove_cvref_t<decltype(kernel)>>>(kernel, how)
            ->template with<"B">(tw::view(std::as_const(b_).data(), {gemm_.k, gemm_.n}));
    return {[=, this] {
              op(tw::view(std::as_const(a_).data(), {gemm_.m, gemm_.k}),
                 tw::view(c_.data(), {gemm_.m, gemm_.n}));
            },
            {}};
  }
  prepared tuned_conv(const tw::tuned_options& how) {
    const auto& kernel = convolution<A, B, C>;
    const conv_problem v = conv_;
    const auto op =
        std::make_shared<tw::tuned<std::remove_cvref_t<decltype(kernel)>>>(kernel, how)
            ->template with<"F">(tw::view(std::as_const(b_).data(), {v.r, v.s, v.c, v.k}));
    return {[=, this] {
              op(tw::view(std::as_const(a_).data(), {v.n, v.h, v.w, v.c}),
                 tw::view(c_.data(), {v.n, v.p(), v.q(), v.k}));
            },
            {}};
  }

  dot_type type_;
  bool is_conv_;
  gemm_problem gemm_;
  conv_problem conv_;
  std::vector<A> a_;
  std::vector<B> b_;
  std::vector<C> c_;
  std::vector<double> want_, scale_;
  double flops_ = 0;
};

template <class Problem>
void measure(const std::string& name, const std::string& only, Problem p) {
  if (name.find(only) == std::string::npos) return;
  workload w{name, p.flops(), {}};
  w.engines.push_back({"tilewright", p.tilewright(true), 1e30, {}});
  w.engines.push_back({"plain_vectors", p.tilewright(false), 1e30, {}});
  w.engines.push_back({"onednn", p.onednn(false), 1e30, {}});
  w.engines.push_back({"onednn_best_layout", p.onednn(true), 1e30, {}});
  for (engine& e : w.engines) e.problem = e.job.run ? p.check(e.job) : "not offered";
  using clock = std::chrono::steady_clock;
  for (int turn = 0; turn < 200; ++turn)
    for (engine& e : w.engines) {
      if (!e.problem.empty()) continue;
      e.job.run();  // its data comes into the caches
      const clock::time_point start = clock::now();
      e.job.run();
      e.best = std::min(e.best, std::chrono::duration<double>(clock::now() - start).count());
    }
  const double mine = w.engines[0].best;
  for (const engine& e : w.engines)
    benchmark::RegisterBenchmark((w.name + "/" + e.name + "/threads:1").c_str(),
                                 [e, mine, flops = w.flops](benchmark::State& state) {
                                   if (!e.problem.empty()) {
                                     state.SkipWithError(e.problem.c_str());
                                     return;
                                   }
                                   for (auto _ : state) state.SetIterationTime(e.best);
                                   state.counters["gops"] = flops / e.best * 1e-9;
                                   state.counters["tilewright_is_faster_by"] = e.best / mine;
                                 })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  benchmark::Initialize(&argc, argv);
  const std::string only = argc > 1 ? argv[1] : "";  // part of a workload's name
  using u8 = std::uint8_t;
  using s8 = std::int8_t;
  using s32 = std::int32_t;
  const gemm_problem square{512, 512, 512, nullptr, nullptr, nullptr};
  const conv_problem resnet{1, 56, 56, 64, 64, 3, 3, 1, 1, nullptr, nullptr, nullptr};
  measure("GEMM512_u8s8", only, problem<u8, s8, s32>(dot_type::u8s8, square));
  measure("GEMM512_s8s8", only, problem<s8, s8, s32>(dot_type::s8s8, square));
  measure("GEMM512_bf16", only, problem<tw::bfloat16, tw::bfloat16, float>(dot_type::bf16, square));
  measure("C2D_u8s8", only, problem<u8, s8, s32>(dot_type::u8s8, resnet));
  measure("C2D_s8s8", only, problem<s8, s8, s32>(dot_type::s8s8, resnet));
  measure("C2D_bf16", only, problem<tw::bfloat16, tw::bfloat16, float>(dot_type::bf16, resnet));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
