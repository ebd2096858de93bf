#include <tilewright/impl/support/stage_clock.hpp>

#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright::support;

namespace {

double seconds_of(stage_clock& c, std::string_view name) {
  for (const stage_time& t : c.times())
    if (t.name == name) return t.seconds;
  return -1;
}
std::size_t times_of(stage_clock& c, std::string_view name) {
  for (const stage_time& t : c.times())
    if (t.name == name) return t.times;
  return 0;
}
/// Until the clock has moved.
void wait() {
  const auto start = stage_clock::clock::now();
  while (stage_clock::clock::now() == start) {
  }
}

}  // namespace

TEST_CASE("stage clock: all time goes to one stage, the innermost one, or to the rest") {
  stage_clock clock;
  double passed = 0;  // s
  {
    const stage_clock::running here(clock);
    const auto start = stage_clock::clock::now();
    wait();
    const stage outer("outer");
    wait();
    {
      const stage inner("inner");
      wait();
    }
    const stage again("inner");
    wait();
    passed = std::chrono::duration<double>(stage_clock::clock::now() - start).count();
  }
  double all = 0;
  for (const stage_time& t : clock.times()) all += t.seconds;
  CHECK(seconds_of(clock, "outer") > 0);
  CHECK(seconds_of(clock, "inner") > 0);
  CHECK(seconds_of(clock, "other") > 0);
  CHECK(times_of(clock, "inner") == 2);
  CHECK(times_of(clock, "outer") == 1);
  CHECK(all >= passed);
  CHECK(clock.times().back().name == "other");
}

TEST_CASE("stage clock: stages where no clock runs, and on other threads, are nobody's") {
  { const stage nowhere("nowhere"); }
  stage_clock clock;
  const stage_clock::running here(clock);
  std::thread([] { const stage elsewhere("elsewhere"); }).join();
  CHECK(seconds_of(clock, "elsewhere") == -1);
  CHECK(stage_clock::current() == &clock);
  {
    stage_clock second;
    const stage_clock::running inside(second);
    const stage at("at");
    CHECK(stage_clock::current() == &second);
  }
  CHECK(seconds_of(clock, "at") == -1);
  CHECK(stage_clock::current() == &clock);
}
