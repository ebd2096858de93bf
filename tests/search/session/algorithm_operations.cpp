#include <tilewright/impl/search/session/algorithm_operations.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/target/cpu.hpp>

#include "winograd_windows.hpp"

using namespace tilewright;
using namespace tilewright::search::detail;
using winograd_windows::windows;

TEST_CASE("operations of algorithms: what waits for memory counts for more") {
  const ir::function sums = ir::alternatives(windows(56, 64)).front();
  target::cpu cpu = target::named("znver4");
  cpu.l3_bytes = 32 << 20;
  CHECK(expected_operations(sums, cpu) ==
        doctest::Approx(2.0 * 9 * 56 * 56 * 64 * 64).epsilon(0.04));
  CHECK(expected_operations(sums, cpu) == search::operations_of(sums));
  cpu.l3_bytes = 1 << 10;  // all buffers but none of 1024 bytes come from memory
  CHECK(expected_operations(sums, cpu) >
        search::operations_of(sums) + 6.0 * 4 * (2 * 56 * 56 * 64 + 9 * 64 * 64) - 1);
}

TEST_CASE("operations of algorithms: no call goes below the sums of the cheapest one") {
  const ir::function several = windows(56, 64), alone = ir::alternatives(several).front();
  CHECK(least_operations(alone) == search::operations_of(alone));
  CHECK(least_operations(several) < search::operations_of(alone) / 2);
  const std::vector<ir::function> all = ir::alternatives(several);
  for (std::size_t k = 1; k < all.size(); ++k) {
    CHECK(operations_of_sums(all[k]) <= search::operations_of(all[k]));
    CHECK(least_operations(several) <= operations_of_sums(all[k]));
  }
}
