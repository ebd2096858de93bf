#include <tilewright/target/machine.hpp>

#include <doctest/doctest.h>

#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

using namespace tilewright::target;

TEST_CASE("a machine is a CPU, a GPU, or none") {
  const cpu haswell = named("haswell");
  gpu hopper = named_gpu("sm_90a");
  hopper.model = "NVIDIA H100";
  const machine a = haswell, b = &hopper, none;
  CHECK(a.cpu == &haswell);
  CHECK(a.gpu == nullptr);
  CHECK(b.gpu == &hopper);
  CHECK(b.cpu == nullptr);
  CHECK(none.cpu == nullptr);
  CHECK(none.gpu == nullptr);
  CHECK(a.isa_key() == haswell.isa_key());
  CHECK(b.isa_key() == "nvidia:sm_90a");
  CHECK(b.model() == "NVIDIA H100");
  CHECK(machine::is_gpu(b.isa_key()));
  CHECK_FALSE(machine::is_gpu(a.isa_key()));
}
