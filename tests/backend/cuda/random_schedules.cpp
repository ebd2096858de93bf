// Kernels of random schedules, emulated, against the interpreter on the function as it was.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "cases.hpp"
#include "gpu_list.hpp"
#include "space/kernels.hpp"

using namespace tilewright;

namespace {

/// Members of each kernel's families; TILEWRIGHT_CUDA_SCHEDULES asks for another number.
int schedules() {
  const char* asked = std::getenv("TILEWRIGHT_CUDA_SCHEDULES");
  return asked && *asked ? std::atoi(asked) : 50;
}

/// @returns kernels in whose text memory of the block is used
int check_family(const ir::function& f) {
  if (!cases::have_emulator()) return schedules();
  const double tolerance = 1e-5;
  const std::vector<schedule> members = gpu_list::members(f, schedules(), gpu_list::rules());
  CHECK(members.size() == static_cast<std::size_t>(schedules()));
  const std::vector<harness::argument> expected = cases::interpreted(f);
  int shared = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    INFO(members[i].trace().print());
    INFO(members[i].show());
    const cases::cu::program p =
        cases::cu::print(pass::lower(members[i].function(), cases::device()), cases::device());
    INFO(p.text);
    shared += p.text.find("TW_SHARED(") == std::string::npos ? 0 : 1;
    const cases::cu::emulator kernels(p);
    cases::check_equal(cases::emulated(kernels, f, i), expected, tolerance);
  }
  return shared;
}

}  // namespace

TEST_CASE("elementwise: any schedule computes what the interpreter computes") {
  check_family(kernels::relu_chain());
}
TEST_CASE("matrix product: any schedule, with its tiles in shared memory") {
  CHECK(check_family(kernels::dense_relu()) == schedules());
}
TEST_CASE("convolution: any schedule, with its tiles in shared memory") {
  CHECK(check_family(kernels::conv2d()) == schedules());
}
TEST_CASE("softmax: any schedule computes what the interpreter computes") {
  check_family(kernels::softmax());
}
