#include <tilewright/impl/backend/stacked_wakes.hpp>

#include <chrono>

#include <doctest/doctest.h>

using std::chrono::microseconds;
using tilewright::backend::detail::stacked_wakes;

namespace {

/// Wakes of a worker, each so long after the last that it sleeps again.
class slept_and_woken {
 public:
  void wake(int waker, int worker, microseconds after) {
    const stacked_wakes::stamp before = wakes.last();
    wakes.waking(waker, now_);
    wakes.awake(before, worker, now_ + after);
    now_ += std::chrono::seconds(1);
  }
  bool after(int times, int waker, int worker, microseconds took) {
    for (int i = 0; i < times; ++i) wake(waker, worker, took);
    return wakes.often();
  }

  stacked_wakes wakes;

 private:
  stacked_wakes::clock::time_point now_{std::chrono::hours(1)};
};

}  // namespace

TEST_CASE("stacked_wakes: workers that begin at once on other cores are left alone") {
  CHECK_FALSE(slept_and_woken().after(1000, 0, 1, microseconds(40)));
  CHECK_FALSE(slept_and_woken().after(1000, 3, 0, microseconds(300)));  // out of a deep state
}

TEST_CASE("stacked_wakes: three that begin on their waker's core are no chance") {
  slept_and_woken w;
  CHECK_FALSE(w.after(2, 5, 5, microseconds(90)));
  CHECK_FALSE(w.after(100, 5, 4, microseconds(30)));
  CHECK(w.after(1, 4, 4, microseconds(90)));
  CHECK(w.after(100, 4, 5, microseconds(30)));  // since they are kept off it now
}

TEST_CASE("stacked_wakes: nor are three that begin when the kernel has balanced its queues") {
  CHECK_FALSE(slept_and_woken().after(2, 0, 1, microseconds(4000)));
  CHECK(slept_and_woken().after(3, 0, 1, microseconds(4000)));
  slept_and_woken both;
  CHECK_FALSE(both.after(1, 0, 0, microseconds(80)));
  CHECK(both.after(2, 0, 1, microseconds(4000)));
}

TEST_CASE(
    "stacked_wakes: a worker that nobody woke says nothing, nor does a system without numbers of "
    "cores") {
  slept_and_woken w;
  w.wake(2, 1, microseconds(40));
  const auto later = stacked_wakes::clock::time_point(std::chrono::hours(2));
  for (int i = 0; i < 10; ++i) w.wakes.awake(w.wakes.last(), 2, later);
  CHECK_FALSE(w.wakes.often());
  CHECK_FALSE(slept_and_woken().after(10, -1, -1, microseconds(4000)));
}
