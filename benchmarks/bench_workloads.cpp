// Tilewright against the libraries people use, on the same data in the same run.
//
// Benchmarks are named WORKLOAD/ENGINE/threads:N. Every engine's output is compared with a double
// precision reference before it is timed; one that differs is reported and not timed. Run with
// --benchmark_enable_random_interleaving=true --benchmark_repetitions=9 on a noisy machine. The
// paper's convolutions come with channels last and first, as C2D_nhwc and C2D_nchw; their rates
// count the taps that lie in the image.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "peak.hpp"
#include "peers/peer.hpp"
#include "problems/paper_convolutions.hpp"
#include "tilewright_engine.hpp"

namespace bench {
namespace {

using floats = std::vector<float>;

floats random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  floats out(count);
  for (float& v : out) v = values(generator);
  return out;
}

/// Largest |got - want| relative to the magnitude of the sum that was computed.
/// @param at the positions of `want`; empty: all
double relative_error(const floats& got, const std::vector<double>& want,
                      const std::vector<double>& scale, const std::vector<std::size_t>& at) {
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    worst = std::max(worst, std::abs(got[at.empty() ? i : at[i]] - want[i]) / scale[i]);
  for (const float v : got)
    if (!std::isfinite(v)) return 1e30;
  return worst;
}

/// Data of one workload, shared by all engines; outputs are compared with `want`.
struct workload {
  std::string name;
  double flops = 0, bytes = 0;
  floats in0, in1, out;
  std::vector<double> want, scale;
  std::vector<std::size_t> at;                                // of `want`; empty: all
  std::function<prepared(const peer&, int threads)> prepare;  // empty run: not offered
};

std::shared_ptr<workload> gemm_workload(std::string name, int m, int n, int k) {
  auto w = std::make_shared<workload>();
  w->name = std::move(name);
  w->flops = 2.0 * m * n * k;
  w->bytes = 4.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
  const auto size = [](int r, int c) {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(c);
  };
  w->in0 = random_floats(size(m, k), 1);
  w->in1 = random_floats(size(k, n), 2);
  w->out.resize(size(m, n));
  w->want.assign(size(m, n), 0.0);
  w->scale.assign(size(m, n), 1e-30);
  for (int i = 0; i < m; ++i)
    for (int r = 0; r < k; ++r)
      for (int j = 0; j < n; ++j) {
        const double p = static_cast<double>(w->in0[size(i, k) + r]) * w->in1[size(r, n) + j];
        w->want[size(i, n) + j] += p;
        w->scale[size(i, n) + j] += std::abs(p);
      }
  w->prepare = [p = w.get(), m, n, k](const peer& e, int threads) {
    return e.gemm ? e.gemm({m, n, k, p->in0.data(), p->in1.data(), p->out.data()}, threads)
                  : prepared{};
  };
  return w;
}

std::shared_ptr<workload> conv_workload(std::string name, conv_problem v) {
  auto w = std::make_shared<workload>();
  w->name = std::move(name);
  const auto count = [](auto... d) { return (static_cast<std::size_t>(d) * ...); };
  w->in0 = random_floats(count(v.n, v.h, v.w, v.c), 3);
  w->in1 = random_floats(count(v.r, v.s, v.c, v.k), 4);
  w->out.resize(count(v.n, v.p(), v.q(), v.k));
  w->flops = 2.0 * static_cast<double>(w->out.size()) * v.r * v.s * v.c;
  w->bytes = 4.0 * static_cast<double>(w->in0.size() + w->in1.size() + w->out.size());
  v.x = w->in0.data();
  v.f = w->in1.data();
  v.y = w->out.data();
  w->want.assign(w->out.size(), 0.0);
  w->scale.assign(w->out.size(), 1e-30);
  std::size_t at = 0;
  for (int n = 0; n < v.n; ++n)
    for (int p = 0; p < v.p(); ++p)
      for (int q = 0; q < v.q(); ++q, at += static_cast<std::size_t>(v.k))
        for (int r = 0; r < v.r; ++r)
          for (int s = 0; s < v.s; ++s) {
            const int h = p * v.stride + r - v.pad, x = q * v.stride + s - v.pad;
            if (h < 0 || h >= v.h || x < 0 || x >= v.w) continue;
            for (int c = 0; c < v.c; ++c)
              for (int k = 0; k < v.k; ++k) {
                const double t = static_cast<double>(v.x[((n * v.h + h) * v.w + x) * v.c + c]) *
                                 v.f[((r * v.s + s) * v.c + c) * v.k + k];
                w->want[at + static_cast<std::size_t>(k)] += t;
                w->scale[at + static_cast<std::size_t>(k)] += std::abs(t);
              }
          }
  w->prepare = [v](const peer& e, int threads) { return e.conv ? e.conv(v, threads) : prepared{}; };
  return w;
}

std::shared_ptr<workload> softmax_workload(std::string name, int rows, int columns) {
  auto w = std::make_shared<workload>();
  w->name = std::move(name);
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  w->flops = 5.0 * static_cast<double>(count);  // max, subtract, exp (counted once), sum, divide
  w->bytes = 8.0 * static_cast<double>(count);
  w->in0 = random_floats(count, 5);
  w->out.resize(count);
  for (std::size_t i = 0; i < count; i += static_cast<std::size_t>(columns)) {
    double total = 0;
    for (std::size_t j = i; j < i + static_cast<std::size_t>(columns); ++j)
      total += std::exp(static_cast<double>(w->in0[j]));
    for (std::size_t j = i; j < i + static_cast<std::size_t>(columns); ++j) {
      w->want.push_back(std::exp(static_cast<double>(w->in0[j])) / total);
      w->scale.push_back(w->want.back());
    }
  }
  w->prepare = [p = w.get(), rows, columns](const peer& e, int threads) {
    return e.softmax ? e.softmax({rows, columns, p->in0.data(), p->out.data()}, threads)
                     : prepared{};
  };
  return w;
}

std::shared_ptr<workload> paper_workload(const paper_convolution& p) {
  auto w = std::make_shared<workload>();
  w->name = p.name;
  w->in0 = random_floats(image_size(p.v), 3);
  w->in1 = random_floats(filter_size(p.v), 4);
  w->out.resize(output_size(p.v));
  w->flops = useful_flops(p.v);
  w->bytes = 4.0 * static_cast<double>(w->in0.size() + w->in1.size() + w->out.size());
  sampled_outputs some = reference_at(p.v, w->in0.data(), w->in1.data(), 4096);
  w->at = std::move(some.at);
  w->want = std::move(some.want);
  w->scale = std::move(some.scale);
  w->prepare = [p, d = w.get()](const peer& e, int threads) -> prepared {
    const float *x = d->in0.data(), *f = d->in1.data();
    if (e.name == "onednn_best_layout") {
      convolution v = p.v;
      v.threads = threads;
      return onednn_convolution(v, x, f, d->out.data());
    }
    return tilewright_convolution(p, x, f, d->out.data(), threads, tuning_seconds(),
                                  e.name == "tilewright_bound");
  };
  return w;
}

struct ceilings {
  double gflops, gbs;
};

void run(benchmark::State& state, const std::shared_ptr<workload>& w, const peer& engine,
         int threads, const ceilings& machine) {
  std::fill(w->out.begin(), w->out.end(), std::nanf(""));
  const prepared job = w->prepare(engine, threads);
  if (!job.run) return state.SkipWithError("not offered");
  job.run();
  if (job.fetch) job.fetch();
  const double error = relative_error(w->out, w->want, w->scale, w->at);
  if (!(error < 1e-5)) {
    char text[64];
    std::snprintf(text, sizeof text, "wrong result: relative error %.2g", error);
    state.SkipWithError(text);
    return;
  }
  // rates are of wall time, which Google Benchmark would otherwise put into the benchmark's name
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  for (auto _ : state) job.run();
  const double seconds = std::chrono::duration<double>(clock::now() - start).count() /
                         static_cast<double>(state.iterations());
  const double peak = machine.gflops * 1e9 * threads;
  const double roof = std::min(peak, w->flops / w->bytes * machine.gbs * 1e9 * threads);
  state.counters["gflops"] = w->flops / seconds * 1e-9;
  state.counters["pct_peak"] = 100.0 * w->flops / seconds / peak;
  state.counters["pct_roofline"] = 100.0 * w->flops / seconds / roof;
  state.counters["max_rel_err"] = error;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const ceilings machine{fma_peak_gflops(), read_bandwidth_gbs()};
  std::printf("one core: %.1f GFLOP/s f32 FMA peak, %.1f GB/s read bandwidth, both measured\n",
              machine.gflops, machine.gbs);

  std::vector<peer> engines{tilewright_engine(), bound_tilewright_engine(),
                            openblas_peer(),     blis_peer(),
                            eigen_peer(),        plain_peer()};
  for (peer& p : onednn_peers()) engines.push_back(p);
  for (const peer& e : engines)
    if (!e.missing.empty()) std::printf("missing: %s: %s\n", e.name.c_str(), e.missing.c_str());

  const std::shared_ptr<workload> workloads[] = {
      gemm_workload("GMM", 128, 128, 128),
      gemm_workload("GEMM256", 256, 256, 256),
      gemm_workload("GEMM512", 512, 512, 512),
      gemm_workload("GEMM1024", 1024, 1024, 1024),
      gemm_workload("GEMM127x129x131", 127, 129, 131),
      conv_workload("C2D", {1, 224, 224, 3, 64, 7, 7, 2, 3, nullptr, nullptr, nullptr}),
      softmax_workload("SFM", 256, 256),
  };
  for (const auto& w : workloads)
    for (int threads : {1, 2})
      for (const peer& e : engines) {
        const bool offered = (w->name[0] == 'G' && e.gemm) || (w->name == "C2D" && e.conv) ||
                             (w->name == "SFM" && e.softmax);
        if (!e.missing.empty() || !offered) continue;
        const std::string name = w->name + "/" + e.name + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(
            name.c_str(), [=](benchmark::State& state) { run(state, w, e, threads, machine); });
      }
  // made when the first of its benchmarks runs: a filter may leave most of them out
  for (const paper_convolution& p : paper_convolutions())
    for (int threads : {1, 2})
      for (const peer& e : engines) {
        const bool offered = e.name == "tilewright" || e.name == "tilewright_bound" ||
                             e.name == "onednn_best_layout";
        if (!e.missing.empty() || !offered) continue;
        const auto made = std::make_shared<std::shared_ptr<workload>>();
        const std::string name = p.name + "/" + e.name + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          if (!*made) *made = paper_workload(p);
          run(state, *made, e, threads, machine);
        });
      }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
