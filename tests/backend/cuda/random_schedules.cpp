// Kernels of random schedules, emulated, against the interpreter on the function as it was.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "cases.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

/// Members of each kernel's families; TILEWRIGHT_CUDA_SCHEDULES asks for another number.
int schedules() {
  const char* asked = std::getenv("TILEWRIGHT_CUDA_SCHEDULES");
  return asked && *asked ? std::atoi(asked) : 50;
}

void check_family(const ir::function& f, int count,
                  gpu_list::inlining what = gpu_list::inlining::all) {
  if (!cases::have_emulator()) return;
  const double tolerance = 1e-5;
  const std::vector<schedule> members = gpu_list::members(f, count, what);
  CHECK(members.size() == static_cast<std::size_t>(count));
  const std::vector<harness::argument> expected = cases::interpreted(f);
  for (std::size_t i = 0; i < members.size(); ++i) {
    INFO(members[i].trace().print());
    INFO(members[i].show());
    const cases::cu::program p =
        cases::cu::print(pass::lower(members[i].function(), cases::device()), cases::device());
    INFO(p.text);
    const cases::cu::emulator kernels(p);
    cases::check_equal(cases::emulated(kernels, f, i), expected, tolerance);
  }
}

}  // namespace

TEST_CASE("elementwise: any schedule computes what the interpreter computes") {
  check_family(kernels::relu_chain(), schedules());
}
TEST_CASE("matrix product: any schedule computes what the interpreter computes") {
  check_family(kernels::dense_relu(), schedules());
}
TEST_CASE("convolution: any schedule computes what the interpreter computes") {
  check_family(kernels::conv2d(), schedules());
}
TEST_CASE("products and convolutions on tiles in shared memory") {
  check_family(kernels::dense_relu(), schedules(), gpu_list::inlining::none);
  check_family(kernels::conv2d(), schedules(), gpu_list::inlining::none);
}
TEST_CASE("softmax: any schedule computes what the interpreter computes") {
  check_family(kernels::softmax(), schedules());
}
