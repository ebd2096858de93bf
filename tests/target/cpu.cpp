#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::target;

TEST_CASE("levels and microarchitectures") {
  CHECK(named("x86-64").vector_bits == 128);
  CHECK(named("x86-64").features.empty());
  CHECK_FALSE(named("x86-64-v2").fma);
  CHECK(named("sandybridge").vector_bits == 256);
  CHECK_FALSE(named("sandybridge").fma);
  CHECK(named("haswell").fma);
  CHECK(named("haswell").vector_registers == 16);
  CHECK(named("haswell").lanes(dtype::f32) == 8);
  CHECK(named("haswell").lanes(dtype::i8) == 32);
  CHECK(named("skylake-avx512").lanes(dtype::f32) == 16);
  CHECK(named("znver4").vector_registers == 32);
  CHECK(named("znver4").has("avx512bf16"));
  CHECK_FALSE(named("haswell").has("avx512f"));
  CHECK_FALSE(named("haswell").has("avx5"));
}

TEST_CASE("every name of the table gives a complete description") {
  for (std::string_view name : known_names()) {
    const cpu c = named(name);
    CHECK(c.name == name);
    CHECK_FALSE(c.tune.empty());
    CHECK(c.l1_bytes > 0);
    CHECK(c.l2_bytes >= c.l1_bytes);
    CHECK(c.lanes(dtype::f64) * 2 == c.lanes(dtype::f32));
  }
}

TEST_CASE("an unknown name lists the known ones") {
  CHECK_THROWS_WITH_AS(named("pentium"), doctest::Contains("skylake-avx512"), argument_error);
}

TEST_CASE("the key tells instruction sets apart and nothing else") {
  CHECK(named("haswell").isa_key() == named("broadwell").isa_key());
  CHECK(named("haswell").isa_key() != named("sandybridge").isa_key());
  CHECK(named("x86-64").isa_key() == "x86-64::128");
}

TEST_CASE("the host is a machine that runs the baseline") {
  const cpu& h = host();
  CHECK(h.name == "host");
  CHECK(&host() == &h);
  CHECK(h.cores >= 1);
  CHECK(h.l1_bytes >= 8 << 10);
  CHECK(runs_on(named("x86-64"), h));
  CHECK(runs_on(h, h));
  CHECK(runs_on(named("haswell"), named("znver4")));
  CHECK_FALSE(runs_on(named("znver4"), named("haswell")));
  CHECK(named("host").isa_key() == h.isa_key());
}
