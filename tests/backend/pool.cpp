#include <tilewright/backend/pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

#include "support/forks.hpp"

using namespace tilewright;
using namespace tilewright::backend;

namespace {

struct tally {
  std::vector<std::atomic<int>> runs;
  std::vector<std::atomic<int>> busy;
  std::atomic<bool> overlap{false};
  tally(std::int64_t chunks, int threads)
      : runs(static_cast<std::size_t>(chunks)), busy(static_cast<std::size_t>(threads)) {}
};

void count(void* context, std::int64_t chunk, int worker) {
  auto& t = *static_cast<tally*>(context);
  if (worker < 0 || static_cast<std::size_t>(worker) >= t.busy.size()) {
    t.overlap = true;
    return;
  }
  if (t.busy[static_cast<std::size_t>(worker)].fetch_add(1) != 0) t.overlap = true;
  t.runs[static_cast<std::size_t>(chunk)].fetch_add(1);
  t.busy[static_cast<std::size_t>(worker)].fetch_sub(1);
}

void check_once(const executor& e, std::int64_t chunks) {
  tally t(chunks, e.threads);
  e.run(e.self, chunks, &count, &t);
  bool all_once = true;
  for (const auto& n : t.runs) all_once = all_once && n == 1;
  CHECK(all_once);
  CHECK_FALSE(t.overlap);
}

}  // namespace

TEST_CASE("every chunk runs exactly once, workers have numbers of their own") {
  for (int threads : {0, 1, 2, 3, 8}) {
    pool p(threads);
    CHECK(p.threads() == std::max(1, threads));
    for (std::int64_t chunks : {0, 1, 2, 7, 64, 1000})
      for (int round = 0; round < 20; ++round) check_once(p.view(), chunks);
  }
  check_once(serial_executor(), 10);
}

TEST_CASE("each thread begins with a range of its own, the same one in every call") {
  struct firsts {
    std::atomic<int> begun{0};
    std::atomic<std::int64_t> of[2] = {-1, -1};  // [worker], chunk
  };
  pool p(2);
  check_once(p.view(), 2);  // starts the worker
  if (p.started() < 2) return;
  for (int round = 0; round < 20; ++round) {
    firsts f;
    p.view().run(
        p.view().self, 9,
        [](void* context, std::int64_t chunk, int worker) {
          auto& seen = *static_cast<firsts*>(context);
          std::int64_t none = -1;
          if (seen.of[worker].compare_exchange_strong(none, chunk)) ++seen.begun;
          while (seen.begun < 2) std::this_thread::yield();
        },
        &f);
    CHECK(f.of[0] == 0);
    CHECK(f.of[1] == 5);
  }
}

TEST_CASE("a view limits the threads") {
  pool p(4);
  CHECK(p.view(2).threads == 2);
  check_once(p.view(2), 100);
  CHECK_THROWS_AS(p.view(0), argument_error);
  CHECK_THROWS_AS(p.view(5), argument_error);
}

TEST_CASE("workers are asleep soon after a loop") {
  // processor time of this process, which other programs do not change
  const auto spent = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);  // s
  };
  pool p(4);
  for (int round = 0; round < 3; ++round) check_once(p.view(), 64);
  const double before = spent();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(spent() - before < 0.05);  // three that spin all the time take up to 0.6 s
}

namespace {

int cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

struct core_counts {
  std::atomic<int> least{1 << 20}, loops{0};
};

void count_cores(void* context, std::int64_t, int worker) {
  auto& counts = *static_cast<core_counts*>(context);
  if (worker != 0) counts.least = std::min(counts.least.load(), cores()), ++counts.loops;
  std::this_thread::sleep_for(std::chrono::microseconds(200));
}

}  // namespace

TEST_CASE("workers that are woken off the caller's core keep all others, and callers all") {
  const int before = cores();
  pool p(2);
  core_counts counts;
  for (int round = 0; round < 200 && counts.loops < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the worker sleeps
    p.view().run(p.view().self, 12, &count_cores, &counts);
  }
  CHECK(counts.loops > 0);
  CHECK(counts.least >= std::max(1, before - 1));
  CHECK(cores() == before);
}

namespace {

/// May run on `set` from now on. @returns whether the system allows it
bool stay_on(int thread, const cpu_set_t& set) {
  return sched_setaffinity(thread, sizeof set, &set) == 0;
}

struct worker_seen {
  std::atomic<int> thread{0}, cores{0}, loops{0};
};

void see_worker(void* context, std::int64_t, int worker) {
  auto& seen = *static_cast<worker_seen*>(context);
  if (worker != 0) seen.thread = ::gettid(), seen.cores = cores(), ++seen.loops;
  std::this_thread::sleep_for(std::chrono::microseconds(200));
}

/// Runs loops, each after the worker has gone to sleep, until it has joined `loops` of them.
void run_loops(const pool& p, worker_seen& seen, int loops) {
  seen.loops = 0;
  for (int round = 0; round < 400 && seen.loops < loops; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    p.view().run(p.view().self, 3, &see_worker, &seen);
  }
}

}  // namespace

TEST_CASE("workers that wake on the core of their caller leave it from then on") {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return;
  CPU_ZERO(&one);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_SET(first, &one);
  worker_seen seen;
  pool p(2);
  run_loops(p, seen, 1);
  if (seen.loops == 0 || !stay_on(0, one)) return;
  REQUIRE(stay_on(seen.thread, one));
  run_loops(p, seen, 12);  // behind the caller each time
  REQUIRE(stay_on(seen.thread, all));
  run_loops(p, seen, 12);
  CHECK(seen.loops > 0);
  CHECK(seen.cores == CPU_COUNT(&all) - 1);
  CHECK(stay_on(0, all));
}

TEST_CASE("many callers at once all finish") {
  pool p(3);
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 12; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        tally t(20, p.view().threads);
        p.view().run(p.view().self, 20, &count, &t);
        for (const auto& n : t.runs) bad += n != 1;
        bad += t.overlap ? 1 : 0;
      }
    });
  for (std::thread& c : callers) c.join();
  CHECK(bad == 0);
}

TEST_CASE("a loop inside a chunk runs inline") {
  pool p(3);
  struct nest {
    const executor* e;
    std::atomic<int> inner{0};
  } n{&p.view(), {}};
  p.view().run(
      p.view().self, 8,
      [](void* context, std::int64_t, int) {
        auto* outer = static_cast<nest*>(context);
        outer->e->run(
            outer->e->self, 5,
            [](void* c, std::int64_t, int worker) {
              if (worker == 0) static_cast<nest*>(c)->inner.fetch_add(1);
            },
            context);
      },
      &n);
  CHECK(n.inner == 40);
}

/// Chunks that end when all of them have begun: one thread alone would wait for ever.
struct meeting {
  explicit meeting(int n) : missing(n) {}
  std::atomic<int> missing;
};

void meet(void* context, std::int64_t, int) {
  auto* m = static_cast<meeting*>(context);
  --m->missing;
  while (m->missing > 0) std::this_thread::yield();
}

/// True when `p` runs every chunk once, and its threads at the same time.
bool works(const pool& p) {
  tally t(50, p.view().threads);
  p.view().run(p.view().self, 50, &count, &t);
  meeting m(p.threads());
  p.view().run(p.view().self, p.threads(), &meet, &m);
  return std::all_of(t.runs.begin(), t.runs.end(), [](const auto& n) { return n == 1; });
}

TEST_CASE("after fork the child has threads of its own" * doctest::skip(!forks::forks_usable)) {
  for (const bool used_before : {true, false}) {
    auto p = std::make_unique<pool>(3);
    if (used_before) CHECK(works(*p));
    CHECK(forks::in_child([&] {
            if (!works(*p)) return 1;
            if (forks::in_child([&] { return works(*p) ? 0 : 1; }) != 0) return 2;
            p.reset();  // joins them
            return 0;
          }) == 0);
    CHECK(forks::in_child([&] {
            p.reset();
            return 0;
          }) == 0);
    CHECK(works(*p));
  }
}

TEST_CASE("a child may be forked while loops run" * doctest::skip(!forks::forks_usable)) {
  const pool p(3);
  const forks::crowd busy(2, [&] {
    tally t(50, p.view().threads);
    p.view().run(p.view().self, 50, &count, &t);
  });
  for (int i = 0; i < 20; ++i) CHECK(forks::in_child([&] { return works(p) ? 0 : 1; }) == 0);
}

TEST_CASE("the shared pool exists and works") {
  CHECK(pool::shared().threads() >= 1);
  check_once(pool::shared().view(), 33);
  CHECK(&pool::shared() == &pool::shared());
}

TEST_CASE("the number of threads in the environment is a number") {
  CHECK(threads_asked_for("3") == 3);
  CHECK(threads_asked_for("0") == 0);
  CHECK(threads_asked_for("") == 0);
  CHECK(threads_asked_for("99999") == most_threads());
  CHECK(pool(100000).threads() == most_threads());
  for (const char* text : {"abc", "-1", "1x", " 2", "99999999999"}) {
    std::string said;
    try {
      threads_asked_for(text);
    } catch (const argument_error& e) {
      said = e.what();
    }
    CHECK(said == "TILEWRIGHT_NUM_THREADS is \"" + std::string(text) +
                      "\"; write a number of threads, or 0 for all cores");
  }
}
