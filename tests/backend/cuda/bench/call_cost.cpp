// What calls cost beside launches, on a device that is a fake one: whether results are right is seen, and what is lost.
#include "gpu/stages/call_cost.hpp"
#include "../cases.hpp"

#include <cstddef>
#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include "../fake/fake.hpp"
#include "gpu/result_file.hpp"

namespace {

namespace cu = tilewright::backend::cuda;

bool ready() { return fake::here() && cases::have_nvrtc(); }

/// Y = 2 X, 1024 elements.
int doubles(const char*, void** arguments, void*) {
  const float* x = nullptr;
  float* y = nullptr;
  std::memcpy(&x, arguments[0], sizeof x);
  std::memcpy(&y, arguments[1], sizeof y);
  for (std::size_t i = 0; i < 1024; ++i) y[i] = 2 * x[i];
  return 0;
}

int computes_nothing(const char*, void**, void*) { return 0; }

/// The same, and keeps a byte of the device for good.
int leaks(const char* name, void** arguments, void* stream) {
  cu::device_pointer at = 0;
  cu::driver().MemAlloc(&at, 1);
  return doubles(name, arguments, stream);
}

class launches {
 public:
  explicit launches(int (*hook)(const char*, void**, void*)) { fake::on_launch(hook); }
  ~launches() { fake::on_launch(nullptr); }
  launches(const launches&) = delete;
  launches& operator=(const launches&) = delete;
};

double number_of(const std::string& fields, const char* key) {
  const std::string text = gpu_results::field("{" + fields + "}", key);
  CAPTURE(fields);
  REQUIRE_MESSAGE(!text.empty(), key, " is missing");
  return std::atof(text.c_str());
}

}  // namespace

TEST_CASE("calls and bare launches take turns, and compute the same") {
  if (!ready()) return;
  const cu::device device;
  const gpu_time::device_clock clock(device);
  {
    const launches all(&doubles);
    const gpu_calls::result r = gpu_calls::against_launches(device, clock);
    CHECK(r.fine);
    for (const char* key : {"launch_seconds", "call_seconds", "device_kernel_seconds"})
      CHECK(number_of(r.fields, key) > 0);
    number_of(r.fields, "call_beyond_launch_seconds");
    number_of(r.fields, "device_kernel_beyond_launch_seconds");
  }
  const launches none(&computes_nothing);
  CHECK_FALSE(gpu_calls::against_launches(device, clock).fine);
}

TEST_CASE("a graph that starts nothing is wrong") {
  if (!ready()) return;
  const cu::device device;
  const gpu_time::device_clock clock(device);
  const launches all(&doubles);  // the fake starts what is recorded at once, and never again
  const gpu_calls::result r = gpu_calls::in_graph(device, clock);
  CHECK_FALSE(r.fine);
  CHECK(number_of(r.fields, "calls") == 10);
}

TEST_CASE("memory that calls lose is seen") {
  if (!ready()) return;
  const cu::device device;
  const gpu_time::device_clock clock(device);
  {
    const launches all(&doubles);
    const gpu_calls::result r = gpu_calls::memory_after(device, clock, 2000);
    CHECK(r.fine);
    CHECK(number_of(r.fields, "lost_bytes") == 0);
  }
  const launches all(&leaks);
  const gpu_calls::result r = gpu_calls::memory_after(device, clock, 2000);
  CHECK_FALSE(r.fine);
  CHECK(number_of(r.fields, "lost_bytes") >= 2000);
}
