// A program that has threads of its own lends them: plain threads, OpenMP's, and oneTBB's.
//
// An executor is a function that calls `body` once for each chunk, on any thread, and returns when
// all are done. `worker` numbers the threads from 0; no two that run at once have the same number.
#include <tilewright/tilewright.hpp>

#include <atomic>
#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

#if defined(EXAMPLE_OPENMP)
#include <omp.h>
#endif
#if defined(EXAMPLE_TBB)
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace {

using tw::backend::chunk_body;
using tw::backend::executor;

constexpr int threads = 2;

/// Starts threads for each loop: simple, and slow for short loops.
void run_on_threads(void*, std::int64_t chunks, chunk_body body, void* context) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int worker) {
    for (std::int64_t chunk = next++; chunk < chunks; chunk = next++) body(context, chunk, worker);
  };
  std::vector<std::thread> others;
  for (int worker = 1; worker < threads; ++worker) others.emplace_back(work, worker);
  work(0);
  for (std::thread& t : others) t.join();
}

#if defined(EXAMPLE_OPENMP)
void run_on_openmp(void*, std::int64_t chunks, chunk_body body, void* context) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) body(context, chunk, omp_get_thread_num());
}
#endif

#if defined(EXAMPLE_TBB)
void run_on_tbb(void* self, std::int64_t chunks, chunk_body body, void* context) {
  static_cast<tbb::task_arena*>(self)->execute([&] {
    tbb::parallel_for(std::int64_t{0}, chunks, [&](std::int64_t chunk) {
      body(context, chunk, tbb::this_task_arena::current_thread_index());
    });
  });
}
#endif

constexpr auto growth =
    tw::kernel<"growth">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "M", "N"> Y) {
      using tw::axes::i, tw::axes::j;
      return Y(i, j) = exp(X(i, j)) * X(i, j);
    });

constexpr std::size_t rows = 512, columns = 512;

/// The largest error of a call whose parallel loops run on `own`.
float error_on(const executor& own) {
  const tw::tuned op{growth,
                     {.seconds = 1, .trials = 16, .database = ":memory:", .executor = &own}};
  std::vector<float> x(rows * columns), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) * 0.001f;
  op(tw::view(x.data(), {rows, columns}), tw::view(y.data(), {rows, columns}));
  float worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(y[i] - std::exp(x[i]) * x[i]));
  return worst;
}

bool works(const char* name, const executor& own) {
  const float error = error_on(own);
  std::cout << name << ": largest error " << error << "\n";
  return error < 1e-5f;
}

}  // namespace

int main() {
  bool right = works("std::thread", {&run_on_threads, nullptr, threads});
#if defined(EXAMPLE_OPENMP)
  right &= works("OpenMP", {&run_on_openmp, nullptr, threads});
#endif
#if defined(EXAMPLE_TBB)
  tbb::task_arena arena(threads);
  right &= works("oneTBB", {&run_on_tbb, &arena, threads});
#endif
  return right ? 0 : 1;
}
