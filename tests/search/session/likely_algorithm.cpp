// Which of several algorithms runs when nothing was measured.
#include <tilewright/impl/search/session/likely_algorithm.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include "../workloads.hpp"
#include "winograd_windows.hpp"

using namespace tilewright;
using namespace tilewright::search::detail;
using winograd_windows::windows;

namespace {

target::cpu machine() {
  target::cpu out = target::named("znver4");
  out.l3_bytes = 32 << 20;
  return out;
}

}  // namespace

TEST_CASE("likely algorithm: fewer operations by three eighths, if they do not wait for memory") {
  const target::cpu cpu = machine();
  const ir::function large = windows(56, 64);
  CHECK(likely_algorithm(large, cpu) != large.name);
  // three fifths are enough, which tiles of two have of 14 x 14 results, and the larger ones do not
  const ir::function medium = windows(14, 256);
  CHECK(likely_algorithm(medium, cpu) == ir::alternatives(medium).at(1).name);
  // of 7 x 7 results the transformed filters take more than the results save
  const ir::function small = windows(7, 512);
  CHECK(likely_algorithm(small, cpu) == small.name);
  // without others there is nothing to choose
  const ir::function alone = ir::alternatives(large).front();
  CHECK(likely_algorithm(alone, cpu) == alone.name);
}

TEST_CASE("likely algorithm: the default schedule is one of it") {
  const target::cpu cpu = machine();
  const space::context where{&cpu, 1};
  const ir::function large = windows(56, 64);
  const schedule first = search::default_schedule(large, space::default_cpu(), where, 1);
  CHECK(first.trace().print().find("work_on(func_name=\"" + likely_algorithm(large, cpu) + "\"") !=
        std::string::npos);
  const ir::function small = windows(7, 512);
  const std::string own =
      search::default_schedule(small, space::default_cpu(), where, 1).trace().print();
  CHECK(own.find("work_on(func_name=\"" + small.name + "\"") != std::string::npos);
}
