// A device that is a fake one, with what tests of networks on it need.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/support/error.hpp>

#include "backend/cuda/fake/fake.hpp"
#include "model/array_file.hpp"

namespace network_tests {

using namespace tilewright;

inline bool ready() {
  if (!fake::here()) return false;
  try {
    backend::cuda::nvrtc();
    return static_cast<bool>(cuda::available());  // the driver is opened
  } catch (const build_error& e) {
    MESSAGE("skipped: " << e.what());
    return false;
  }
}

inline bool emulates() {
  if (!ready()) return false;
  const std::string missing = backend::cuda::why_no_emulator();
  if (!missing.empty()) MESSAGE("skipped, kernels cannot be emulated: " << missing);
  return missing.empty();
}

/// Bytes that the fake device has left.
inline std::size_t free_bytes() {
  void* const driver = ::dlopen(TILEWRIGHT_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(driver);
  std::size_t out = 0, all = 0;
  reinterpret_cast<int (*)(std::size_t*, std::size_t*)>(::dlsym(driver, "cuMemGetInfo_v2"))(&out,
                                                                                            &all);
  ::dlclose(driver);
  return out;
}

inline std::shared_ptr<search::database> nothing_stored() {
  return std::make_shared<search::database>(":memory:");
}

inline model_options on_gpu() {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.target = "cuda";
  return o;
}

/// Elements that start at a multiple of 256 bytes, as those of a device do.
class elements {
 public:
  explicit elements(std::size_t count)
      : count_(count),
        data_(static_cast<float*>(std::aligned_alloc(256, (count * 4 / 256 + 1) * 256))) {
    std::memset(data_.get(), 0, count * 4);
  }
  explicit elements(const network::constant& c)
      : elements(static_cast<std::size_t>(c.type().elements())) {
    std::memcpy(data_.get(), c.data(), count_ * 4);
  }
  float* data() const { return data_.get(); }
  std::vector<float> values() const { return {data(), data() + count_}; }

 private:
  struct release {
    void operator()(float* at) const { std::free(at); }
  };
  std::size_t count_;
  std::unique_ptr<float, release> data_;
};

inline bool is_near(const network::constant& expected, const std::vector<float>& y) {
  auto [c, data] = network::constant::make(expected.type());
  std::memcpy(data, y.data(), y.size() * 4);
  return difference(expected, c) <= 1e-5;
}

}  // namespace network_tests
