// Google Benchmark: a tuned kernel and its rivals side by side.
//
//     tw::benchmark::comparison all("matmul/512", 2.0 * 512 * 512 * 512);
//     all.add(op, a, b, c);
//     all.add("eigen", [&] { expected.noalias() = a * b; });
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include <tilewright/tuned.hpp>

namespace tilewright::benchmark {

/// Registers benchmarks NAME/ENGINE that report `gflops` from the number of operations of one run.
/// What is captured by reference has to live until the benchmarks have run.
class comparison {
 public:
  comparison(std::string name, double operations)
      : name_(std::move(name)), operations_(operations) {}

  /// A rival: anything that can be called.
  template <class Work>
  comparison& add(const std::string& engine, Work work) {
    const double operations = operations_;
    ::benchmark::RegisterBenchmark(
        (name_ + "/" + engine).c_str(), [work, operations](::benchmark::State& state) mutable {
          for (auto _ : state) {
            work();
            ::benchmark::ClobberMemory();
          }
          state.counters["gflops"] =
              ::benchmark::Counter(operations * 1e-9 * static_cast<double>(state.iterations()),
                                   ::benchmark::Counter::kIsRate);
        });
    return *this;
  }

  /// The tuned kernel on these arguments; it is tuned when the benchmark first runs, before the
  /// clock starts.
  template <class Kernel, class... Bound, class... Argument>
  comparison& add(const tuned<Kernel, Bound...>& op, Argument&... arguments) {
    const double operations = operations_;
    ::benchmark::RegisterBenchmark((name_ + "/tilewright").c_str(), [op, operations, &arguments...](
                                                                        ::benchmark::State& state) {
      op.warm(arguments...);
      for (auto _ : state) {
        op(arguments...);
        ::benchmark::ClobberMemory();
      }
      state.counters["gflops"] =
          ::benchmark::Counter(operations * 1e-9 * static_cast<double>(state.iterations()),
                               ::benchmark::Counter::kIsRate);
    });
    return *this;
  }

 private:
  std::string name_;
  double operations_;  // of one run
};

}  // namespace tilewright::benchmark
