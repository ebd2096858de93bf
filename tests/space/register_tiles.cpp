#include <tilewright/space/register_tiles.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <tilewright/target/cpu.hpp>

using namespace tilewright;

TEST_CASE("register tiles respect the register file, the likeliest first") {
  for (const char* name : {"x86-64", "haswell", "znver4"}) {
    const target::cpu cpu = target::named(name);
    const std::int64_t lanes = cpu.lanes(dtype::f32);
    for (const std::int64_t columns : {1, 13, 24, 35, 40, 51, 56, 63, 64, 104, 120, 1000}) {
      const auto tiles = space::register_tiles(cpu, dtype::f32, 206, columns);
      CAPTURE(name);
      CAPTURE(columns);
      REQUIRE(!tiles.empty());
      CHECK(std::is_sorted(tiles.begin(), tiles.end(),
                           [](const auto& a, const auto& b) { return a.weight > b.weight; }));
      for (const space::register_tile& t : tiles)
        CHECK(t.rows * t.columns / lanes + t.columns / lanes + 1 <= cpu.vector_registers);
    }
  }
}
