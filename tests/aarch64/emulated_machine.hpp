// Runs code for AArch64 on this machine: linked with a C program by a cross compiler, in an emulator.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>
#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/compile.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace emulated {

using namespace tilewright;

inline bool on_path(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Whether code can be run here; says what is missing where it cannot.
inline bool there() {
  static const bool out = [] {
    std::string missing;
    if (!on_path("aarch64-linux-gnu-gcc")) missing += " gcc-aarch64-linux-gnu";
    if (!on_path("qemu-aarch64")) missing += " qemu-user";
    if (!backend::compiler_available()) missing += " libllvm19";
    if (!missing.empty()) MESSAGE("code for AArch64 is not run; missing packages:" << missing);
    return missing.empty();
  }();
  return out;
}

/// A folder that goes with this object.
class folder {
 public:
  folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tilewright-aarch64-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~folder() { std::filesystem::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The emulator for code of a CPU: SVE at the length that the code was made for.
inline std::string emulator(const target::cpu& cpu) {
  const int sve_bytes = cpu.vector_bits / 8;
  return "qemu-aarch64 -cpu max,sve-default-vector-length=" + std::to_string(sve_bytes);
}

inline void write_object(const backend::artifact& a, const std::string& path) {
  std::ofstream to(path, std::ios::binary);
  to.write(reinterpret_cast<const char*>(a.object.data()),
           static_cast<std::streamsize>(a.object.size()));
  REQUIRE(to.flush());
}

/// One call on the arguments of `r`, whose memory has the results afterwards.
inline search::measurement call(const backend::artifact& code, const target::cpu& cpu,
                                search::runner& r) {
  const folder here;
  write_object(code, here / "kernel.o");
  const std::string link = "aarch64-linux-gnu-gcc -O1 -static -DENTRY=" + code.symbol + " -o " +
                           here / "program" + " " TILEWRIGHT_AARCH64_CALLER " " +
                           here / "kernel.o" + " -lm";
  REQUIRE(std::system(link.c_str()) == 0);
  r.reset_outputs();
  const search::argument_memory& memory = r.memory();
  {
    std::ofstream to(here / "in", std::ios::binary);
    const auto number = [&](std::int64_t n) { to.write(reinterpret_cast<const char*>(&n), 8); };
    number(code.workspace_bytes);
    number(static_cast<std::int64_t>(memory.strides().size()));
    for (const std::int64_t s : memory.strides()) number(s);
    number(static_cast<std::int64_t>(memory.places().size()));
    for (std::size_t i = 0; i < memory.places().size(); ++i) {
      const search::guarded_buffer& b = memory.buffer(i);
      number(static_cast<std::int64_t>(b.size()));
      to.write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
    }
    REQUIRE(to.flush());
  }
  const int status = std::system(
      (emulator(cpu) + " " + here / "program" + " " + here / "in" + " " + here / "out").c_str());
  search::measurement out;
  if (status != backend::call_done) {
    out.failed = search::failure::fault;
    out.detail = "the emulated program ended with status " + std::to_string(status);
    return out;
  }
  std::ifstream from(here / "out", std::ios::binary);
  for (std::size_t i = 0; i < memory.places().size(); ++i) {
    const search::guarded_buffer& b = memory.buffer(i);
    std::vector<char> bytes(b.size());
    from.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(from);
    if (memory.places()[i].written)
      std::memcpy(b.data(), bytes.data(), bytes.size());
    else
      CHECK(std::memcmp(b.data(), bytes.data(), bytes.size()) == 0);
  }
  out.seconds = {0};
  return out;
}

}  // namespace emulated
