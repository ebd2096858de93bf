#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>
#include <tilewright/impl/target/aarch64_detect.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/architecture.hpp>

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

TEST_CASE("an AArch64 processor is told by its features, and has vectors of NEON or of fixed SVE") {
  const cpu plain = named("aarch64"), n1 = named("neoverse-n1"), v1 = named("neoverse-v1");
  CHECK(plain.isa_key() == "aarch64:+neon:128");
  CHECK(plain.fma);
  CHECK(plain.vector_registers == 32);
  CHECK(n1.lanes(dtype::f32) == 4);
  CHECK(n1.has("dotprod"));
  CHECK_FALSE(has_fixed_sve(n1));
  CHECK(v1.lanes(dtype::f32) == 8);
  CHECK(has_fixed_sve(v1));
  CHECK(named("a64fx").lanes(dtype::f64) == 8);
  CHECK(runs_on(plain, n1));
  CHECK(runs_on(n1, v1));
  CHECK_FALSE(runs_on(v1, n1));
  cpu longer = v1;
  longer.vector_bits = 512;
  CHECK_FALSE(runs_on(v1, longer));  // the length of SVE is part of the code
}

TEST_CASE("architectures do not run each other's code, whatever the features") {
  CHECK(architecture_of(named("aarch64")) == architecture::aarch64);
  for (const char* name : {"x86-64", "znver4"}) {
    CHECK(architecture_of(named(name)) == architecture::x86_64);
    CHECK_FALSE(runs_on(named(name), named("neoverse-v1")));
    CHECK_FALSE(runs_on(named("aarch64"), named(name)));
  }
  CHECK(architecture_of(host()) == host_architecture());
  CHECK(target::name(architecture::x86_64) == "x86-64");
}

TEST_CASE("the number of a design names it") {
  CHECK(target::detail::design_of("0x00000000413fd0c1").model == "Neoverse N1");
  CHECK(target::detail::design_of("0x00000000461f0010").tune == "a64fx");
  CHECK(target::detail::design_of("").tune == "generic");
}
