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

TEST_CASE("two vectors, the last one under a mask, leave registers for it") {
  // 29 columns are 16 and 13 lanes, or three times 8 and 5
  const auto likeliest = [](const char* name, std::int64_t columns) {
    const target::cpu cpu = target::named(name);
    return space::register_tiles(cpu, dtype::f32, 238, columns).front();
  };
  target::cpu wide = target::named("znver4");
  wide.vector_bits = 512;
  const space::register_tile masked = space::register_tiles(wide, dtype::f32, 238, 29).front();
  CHECK(masked.rows <= 13);
  const space::register_tile whole = space::register_tiles(wide, dtype::f32, 238, 32).front();
  CHECK(whole.rows == 14);
  CHECK(whole.columns == 32);
  CHECK(likeliest("haswell", 29).rows * likeliest("haswell", 29).columns <= 4 * 16);
}
