#include <tilewright/search/runner.hpp>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/search/builder.hpp>
#include <tilewright/search/verify.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool handlers_usable = false;  // the thread sanitizer does not follow a jump out of a handler
#else
constexpr bool handlers_usable = true;
#endif

ir::function product() { return reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}}); }

/// A function that reads `reach` elements from a tensor of four, a page apart from end to end at most.
ir::function reads_beyond(int reach) {
  const ir::buffer declared = ir::make_buffer("X", dtype::f32, {4}), y = ir::make_buffer("Y", dtype::f32, {reach});
  const ir::var i = ir::make_var("i");
  ir::function f;
  f.params = {{declared, {}}, {y, {}}};
  f.body = ir::make_loop(i, 0, reach, ir::make_store(y, {i}, ir::load(declared, {i * 64})));
  f.attrs["tilewright.lowered"] = 1;
  return f;
}

/// An endless loop as far as a test is concerned: 2^40 additions.
ir::function endless() {
  const ir::buffer y = ir::make_buffer("Y", dtype::f32, {1});
  const ir::var i = ir::make_var("i"), j = ir::make_var("j");
  ir::function f;
  f.params = {{y, {}}};
  f.body = ir::make_loop(
      i, 0, 1 << 20,
      ir::make_loop(j, 0, 1 << 20,
                    ir::make_store(y, {ir::expr(0)}, ir::load(y, {ir::expr(0)}) + ir::real(dtype::f32, 1.0))));
  f.attrs["tilewright.lowered"] = 1;
  return f;
}

std::shared_ptr<const backend::loaded> code_of(const ir::function& f) {
  return backend::load(backend::compile(f, target::host()));
}

}  // namespace

TEST_CASE("measuring gives times, and the code computes what the interpreter does") {
  const ir::function f = product();
  const built b = build(f, target::host());
  REQUIRE(b.code);
  runner r(f, {}, backend::serial_executor(), 1);
  const measurement m = r.measure(*b.code, {});
  CHECK(m.ok());
  CHECK(m.best() <= m.median());
  CHECK(m.seconds.size() >= 3);
  CHECK(verify_against_interpreter(f, r, *b.code).empty());
}

TEST_CASE("equal seeds give equal arguments, strided or not") {
  const ir::function f = product();
  runner a(f, {}, backend::serial_executor(), 7), b(f, {}, backend::serial_executor(), 7), c(f, {}, backend::serial_executor(), 8);
  CHECK(std::memcmp(a.data()[0], b.data()[0], 45 * 4) == 0);
  CHECK(std::memcmp(a.data()[0], c.data()[0], 45 * 4) != 0);
  for (int i = 0; i < 45; ++i) {
    const float v = static_cast<float*>(a.data()[0])[i];
    CHECK(v >= -1.0f);
    CHECK(v < 1.0f);
  }
}

TEST_CASE("index operands are filled within their bounds") {
  const ir::function f = reify(kernels::gather, {{"N", 11}, {"M", 500}, {"C", 3}});
  runner r(f, {}, backend::serial_executor(), 1);
  for (int i = 0; i < 500; ++i) {
    const auto v = static_cast<std::int32_t*>(r.data()[1])[i];
    CHECK(v >= 0);
    CHECK(v <= 4);
  }
}

TEST_CASE("a candidate that leaves its memory is a fault, and the next one runs" *
          doctest::skip(!handlers_usable)) {
  const ir::function bad = reads_beyond(64);
  const auto code = code_of(bad);
  runner r(bad, {}, backend::serial_executor(), 1);
  const measurement m = r.measure(*code, {});
  CHECK(m.failed == failure::fault);
  CHECK(m.detail.find("SIGSEGV") != std::string::npos);
  const ir::function good = product();
  const built b = build(good, target::host());
  runner s(good, {}, backend::serial_executor(), 1);
  CHECK(s.measure(*b.code, {}).ok());
}

TEST_CASE("a candidate that does not end is cancelled") {
  const ir::function f = endless();
  const auto code = code_of(f);
  runner r(f, {}, backend::serial_executor(), 1);
  measure_options o;
  o.deadline = 0.02;
  CHECK(r.measure(*code, o).failed == failure::timeout);
  std::thread other([&] { r.cancel(); });
  const measurement m = r.measure(*code, {});
  other.join();
  CHECK(m.failed == failure::cancelled);
}

TEST_CASE("a candidate that is much slower than the best is not repeated") {
  const ir::function f = product();
  const built b = build(f, target::host());
  runner r(f, {}, backend::serial_executor(), 1);
  measure_options o;
  o.best = 1e-12;
  CHECK(r.measure(*b.code, o).seconds.size() <= 2);
}

TEST_CASE("differences beyond rounding are found and named") {
  const ir::function f = product();
  const auto list = operands(f);
  std::vector<float> c(63, 1.0f), d = c;
  const auto bytes_of = [](const std::vector<float>& v) {
    std::vector<std::byte> out(v.size() * 4);
    std::memcpy(out.data(), v.data(), out.size());
    return std::vector<std::vector<std::byte>>{out};
  };
  d[10] += 1e-6f;
  CHECK(compare_outputs(list, needs_of(f), bytes_of(c), bytes_of(d)).empty());
  d[10] += 1e-3f;
  CHECK(compare_outputs(list, needs_of(f), bytes_of(c), bytes_of(d)).find("C[1, 3] is 1.001") == 0);
  d[10] = NAN;
  CHECK_FALSE(compare_outputs(list, needs_of(f), bytes_of(c), bytes_of(d)).empty());
  c[10] = NAN;
  CHECK(compare_outputs(list, needs_of(f), bytes_of(c), bytes_of(d)).empty());
}
