// A process whose driver is the fake one, and what it answers.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

namespace fake {

/// The driver is opened once in a process: this one has the fake.
inline bool here() {
  const char* name = std::getenv("TILEWRIGHT_CUDA_DRIVER");
  const bool out = name && std::string(name) == TILEWRIGHT_FAKE_DRIVER;
  if (!out) MESSAGE("skipped: runs as the test cuda_fake_driver");
  return out;
}

/// What starts kernels from now on: their name, their arguments, their stream; null: what the environment says.
inline void on_launch(int (*hook)(const char*, void**, void*)) {
  void* const driver = ::dlopen(TILEWRIGHT_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(driver);
  reinterpret_cast<void (*)(decltype(hook))>(::dlsym(driver, "fake_cuda_on_launch"))(hook);
  ::dlclose(driver);
}

/// An answer of the driver, while it lives.
class setting {
 public:
  setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~setting() { unsetenv(name_); }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;

 private:
  const char* name_;
};

}  // namespace fake
