#include <tilewright/backend/cuda/available.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>
#include <tilewright/impl/backend/cuda/examination.hpp>
#include <tilewright/impl/backend/cuda/library_names.hpp>

using namespace tilewright;
using cuda::state;

namespace {

/// What is found when the libraries are looked for under these names only.
cuda::availability examined(const char* compiler, const char* driver) {
  auto compiler_names = backend::cuda::detail::nvrtc_names();
  auto driver_names = backend::cuda::detail::driver_names();
  compiler_names.environment = driver_names.environment = "";
  if (compiler) compiler_names.names = {compiler};
  driver_names.names = {driver};
  return backend::cuda::detail::examine(compiler_names, driver_names);
}

/// A variable of the environment while this lives.
class setting {
 public:
  setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~setting() { unsetenv(name_); }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;

 private:
  const char* name_;
};

void check(const cuda::availability& found, state expected, const char* part) {
  CAPTURE(found.reason);
  CHECK(found.state == expected);
  CHECK(static_cast<bool>(found) == (expected == state::ready));
  CHECK(found.reason.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("this machine's state has a reason") {
  const cuda::availability& here = cuda::available();
  CHECK(static_cast<bool>(here) == here.reason.empty());
  if (!here) MESSAGE("no GPU: " << here.reason);
}

TEST_CASE("each state of the driver has its reason and its remedy") {
  check(examined(nullptr, "libno-such-cuda.so.1"), state::no_driver, "TILEWRIGHT_CUDA_DRIVER");
  const char* const fake = TILEWRIGHT_FAKE_DRIVER;
  {
    const setting s("FAKE_CUDA_INIT", "34");
    check(examined(nullptr, fake), state::stub, "LD_LIBRARY_PATH");
  }
  {
    const setting s("FAKE_CUDA_INIT", "100");
    check(examined(nullptr, fake), state::no_device, "CUDA_VISIBLE_DEVICES");
  }
  {
    const setting s("FAKE_CUDA_DEVICES", "0");
    check(examined(nullptr, fake), state::no_device, "no device");
  }
  {
    const setting s("FAKE_CUDA_INIT", "999");
    check(examined(nullptr, fake), state::failed, "error 999 (CUDA_ERROR_FAKE)");
  }
  check(examined("libno-such-nvrtc.so", fake), state::no_toolkit, "TILEWRIGHT_NVRTC");
}

TEST_CASE("a driver must be of the compiler's major version, or later") {
  const char* const fake = TILEWRIGHT_FAKE_DRIVER;
  if (examined(nullptr, fake).state == state::no_toolkit) {
    MESSAGE("no NVRTC: skipped");
    return;
  }
  check(examined(nullptr, fake), state::ready, "");
  const setting s("FAKE_CUDA_VERSION", "10020");
  check(examined(nullptr, fake), state::old_driver, "the CUDA driver is of version 10.2");
}

TEST_CASE("the toolkit's stub of the driver is told from a driver") {
  for (const char* path :
       {"/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so"}) {
    const cuda::availability found = examined(nullptr, path);
    if (found.state == state::no_driver) continue;
    check(found, state::stub, "stub");
    return;
  }
  MESSAGE("no stub library: skipped");
}

TEST_CASE("NVRTC is looked for in Python packages, behind toolkits") {
  namespace fs = std::filesystem;
  const fs::path root =
      fs::temp_directory_path() / ("tilewright_packages_" + std::to_string(::getpid()));
  const fs::path folder = root / "lib" / "python3.12" / "site-packages" / "nvidia";
  for (const char* package : {"cu13", "cuda_nvrtc"})
    fs::create_directories(folder / package / "lib");
  const fs::path newer = folder / "cu13" / "lib" / "libnvrtc.so.13",
                 older = folder / "cuda_nvrtc" / "lib" / "libnvrtc.so.12";
  std::ofstream(newer) << "library";
  std::ofstream(older) << "library";
  {
    const setting s("VIRTUAL_ENV", root.c_str());
    const std::vector<std::string> names = backend::cuda::detail::nvrtc_names().names;
    const auto place = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    CHECK(place("/usr/local/cuda/lib64/libnvrtc.so") < place(newer.string()));
    CHECK(place(newer.string()) < place(older.string()));
    CHECK(static_cast<std::size_t>(place(older.string())) < names.size());
  }
  fs::remove_all(root);
}

TEST_CASE("GPUs are found by architecture, and this machine's by \"cuda\"") {
  const cuda::availability& here = cuda::available();
  const auto named = cuda::find_device("sm_80"), own = cuda::find_device("cuda");
  REQUIRE(named);
  REQUIRE(own);
  CHECK(named->gpu.name == "sm_80");
  CHECK(!cuda::find_device("x86-64"));
  CHECK(!cuda::find_device(""));
  if (here) {
    CHECK(own->missing == "");
    CHECK(own->gpu.model != "");
  } else {
    CHECK(own->gpu.name == "sm_90a");
    CHECK(own->missing == here.reason);
    CHECK(named->missing == here.reason);
  }
}
