// Children of a process that is tuning: they find kernels that they can call, tune and destroy.
#include <tilewright/tuned.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "support/forks.hpp"
#include "top/product.hpp"

using namespace tilewright;
using namespace products;
using forks::nap;

namespace {

#if TILEWRIGHT_ADDRESS_SANITIZER
constexpr bool exits_usable = false;  // a child leaks what threads that it does not have held
#else
constexpr bool exits_usable = forks_usable;
#endif

/// Rounds of each case; TILEWRIGHT_FORK_ROUNDS asks for more.
int rounds() {
  const char* text = std::getenv("TILEWRIGHT_FORK_ROUNDS");
  return text ? std::atoi(text) : 4;
}

/// Runs `work` in a child that exits as programs do, and is ended when it takes minutes; the status
/// that it ended with.
template <class Work>
int status_of(const Work& work) {
  std::fflush(nullptr);
  return forks::status_of([&] {
    work();
    std::exit(0);
  });
}

/// A kernel, and what its tuning in this process has come to.
struct watched {
  std::atomic<int> steps{0};
  std::optional<tuned<decltype(product)>> op;

  watched(mode m, int trials, const std::string& database = ":memory:") {
    tuned_options o = quick(database, m);
    o.seconds = 1e6;
    o.trials = trials;
    o.events = [this](const search::event& e) {
      if (e.what == search::event::kind::progress) ++steps;
    };
    op.emplace(product, o);
  }
  /// Waits until this process's tuning is further than `step`.
  void wait_past(int step) const {
    while (steps <= step) nap(1);
  }
};

constexpr int endless = 1 << 20;

/// What a child does: calls what its parent tunes, tunes that and a problem of its own, goes on.
void use(const watched& w, int extent) {
  const int inherited = w.steps;
  problem p, q(extent, 48, 56);
  if (!p.right(*w.op)) _exit(1);
  if (!q.right(*w.op)) _exit(2);
  w.wait_past(inherited);
  if (!p.right(*w.op) || !q.right(*w.op)) _exit(3);
}

}  // namespace

TEST_CASE("children are forked while a kernel is tuned, tune it themselves and exit" *
          doctest::skip(!exits_usable)) {
  problem p;
  const watched w(mode::background, endless);
  CHECK(p.right(*w.op));
  for (int round = 0; round < rounds(); ++round) {
    if (round > 0) w.wait_past(w.steps);
    CHECK(status_of([&] { use(w, 40 + round % 8); }) == 0);
  }
  CHECK(p.right(*w.op));
}

TEST_CASE("several threads fork while a kernel is tuned" * doctest::skip(!exits_usable)) {
  problem p;
  const watched w(mode::background, endless);
  CHECK(p.right(*w.op));
  std::atomic<int> failed{0};
  std::vector<std::thread> forking;
  for (int t = 0; t < 2; ++t)
    forking.emplace_back([&, t] {
      for (int round = 0; round < rounds() / 2; ++round)
        if (status_of([&] { use(w, 40 + t); }) != 0) ++failed;
    });
  for (std::thread& t : forking) t.join();
  CHECK(failed == 0);
}

TEST_CASE("children are forked while another thread waits for its kernel to be tuned" *
          doctest::skip(!exits_usable)) {
  for (int round = 0; round < rounds(); ++round) {
    const watched w(mode::now, 6);
    std::thread caller([&] {
      problem p;
      CHECK(p.right(*w.op));
    });
    if (round % 2) w.wait_past(0);
    CHECK(status_of([&] { use(w, 40); }) == 0);
    caller.join();
  }
}

TEST_CASE("a child destroys the kernel, and one forks again" * doctest::skip(!exits_usable)) {
  for (int round = 0; round < rounds(); ++round) {
    problem p;
    auto w = std::make_unique<watched>(mode::background, endless);
    CHECK(p.right(*w->op));
    if (round % 2) w->wait_past(0);
    CHECK(status_of([&] { w.reset(); }) == 0);
    CHECK(status_of([&] {
            if (!p.right(*w->op)) _exit(1);
            if (status_of([&] { use(*w, 40); }) != 0) _exit(2);
            if (status_of([&] { w.reset(); }) != 0) _exit(3);
            if (!p.right(*w->op)) _exit(4);
          }) == 0);
  }
}

TEST_CASE("children and their parent share a file" * doctest::skip(!exits_usable)) {
  for (int round = 0; round < rounds(); ++round) {
    const folder f;
    problem p;
    const watched w(mode::background, endless, f.file());
    CHECK(p.right(*w.op));
    if (round % 2) w.wait_past(0);
    CHECK(status_of([&] { use(w, 40); }) == 0);
    CHECK(p.right(*w.op));
  }
}
