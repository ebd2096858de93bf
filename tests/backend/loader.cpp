#include <tilewright/backend/loader.hpp>

#include <fstream>

#include "harness.hpp"

using namespace harness;

namespace {

/// A function with constants, a parallel region, and calls to the C library.
backend::artifact sample_artifact() {
  const buffer x = make_buffer("X", dtype::f32, {16}), y = make_buffer("Y", dtype::f32, {16});
  const var i = make_var("i"), v = make_var("v");
  const expr at = i * 8 + v;
  const expr value =
      call(dtype::f32, "exp", {load(x, {at})}) + call(dtype::f32, "sin", {load(x, {at})});
  return backend::compile(
      make("sample", {x, y},
           make_loop(i, 0, 2, make_loop(v, 0, 8, make_store(y, {at}, value), loop_kind::vectorized),
                     loop_kind::parallel)),
      target::named("x86-64"));
}

}  // namespace

TEST_CASE("a loaded kernel calls the C library and reads its constants") {
  if (!have_compiler()) return;
  const auto code = backend::load(sample_artifact());
  std::vector<float> x(16), y(16);
  for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i) * 0.5f - 4;
  void* data[] = {x.data(), y.data()};
  REQUIRE((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(y[i] == doctest::Approx(std::exp(x[i]) + std::sin(x[i])).epsilon(1e-5));
  CHECK(code->code_bytes() > 0);
}

TEST_CASE("no byte of an object is trusted") {
  if (!have_compiler()) return;
  const backend::artifact good = sample_artifact();
  std::uint64_t state = 7;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  int refused = 0;
  const auto attempt = [&](const backend::artifact& a) {
    try {
      backend::load(a);
    } catch (const build_error&) {
      ++refused;
    }
  };
  // Headers and tables lie in the first and the last bytes; the rest is code and constants.
  for (std::size_t i = 0; i < good.object.size(); ++i) {
    backend::artifact bad = good;
    bad.object[i] ^= static_cast<std::byte>(1 + random(255));
    attempt(bad);
    bad.object[i] = std::byte{0xff};
    attempt(bad);
  }
  for (int round = 0; round < 4000; ++round) {
    backend::artifact bad = good;
    for (std::uint64_t flips = 1 + random(8); flips > 0; --flips)
      bad.object[random(bad.object.size())] = static_cast<std::byte>(random(256));
    attempt(bad);
  }
  for (std::size_t size = 0; size < good.object.size(); size += 1 + size / 64) {
    backend::artifact bad = good;
    bad.object.resize(size);
    attempt(bad);
  }
  CHECK(refused > 100);
}

TEST_CASE("an object without the entry, or of nothing, is refused") {
  if (!have_compiler()) return;
  backend::artifact a = sample_artifact();
  a.symbol = "another";
  CHECK_THROWS_WITH_AS(backend::load(a), doctest::Contains("another"), build_error);
  CHECK_THROWS_AS(backend::load(backend::artifact{}), build_error);
}

TEST_CASE("externals are a short list") {
  CHECK(backend::external_symbol("memcpy") != nullptr);
  CHECK(backend::external_symbol("sinf") != nullptr);
  CHECK(backend::external_symbol("system") == nullptr);
  CHECK(backend::external_symbol("") == nullptr);
}

TEST_CASE("memory stays flat over compiles and loads") {
  if (!have_compiler()) return;
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long pages = 0, set = 0;
    file >> pages >> set;
    return set * 4;  // KiB
  };
  const auto rounds = [](int n) {
    for (int i = 0; i < n; ++i) backend::load(sample_artifact());
  };
  rounds(40);
  const long before = resident();
  rounds(160);
  CHECK(resident() - before < 4096);
}
