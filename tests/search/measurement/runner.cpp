#include <tilewright/search/measurement/runner.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "search/faulty_code.hpp"
#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

using faulty::code_of, faulty::endless, faulty::handlers_usable, faulty::reads_beyond;

ir::function product() { return reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}}); }

built product_in_parallel() {
  schedule s(product());
  s.parallel(s.get_loops(s.block("C")).front());
  return build(s.function(), target::host());
}

/// Runs chunks in turn, and waits for 2 ms in each of the first calls.
struct delayed_executor {
  int calls;  // that wait
  int seen = 0;

  static void run(void* self, std::int64_t chunks, backend::chunk_body body, void* context) {
    auto& me = *static_cast<delayed_executor*>(self);
    if (me.seen++ < me.calls) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (std::int64_t i = 0; i < chunks; ++i) body(context, i, 0);
  }
};

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
  runner a(f, {}, backend::serial_executor(), 7), b(f, {}, backend::serial_executor(), 7),
      c(f, {}, backend::serial_executor(), 8);
  CHECK(std::memcmp(a.data()[0], b.data()[0], 45 * 4) == 0);
  CHECK(std::memcmp(a.data()[0], c.data()[0], 45 * 4) != 0);
  for (int i = 0; i < 45; ++i) {
    const float v = static_cast<float*>(a.data()[0])[i];
    CHECK(v >= -1.0f);
    CHECK(v < 1.0f);
  }
}

TEST_CASE("equal seeds give equal arguments where threads share them, strided or not") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((5, 400001), "float32"), B: T.Buffer((5,), "float32")):
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = A[vi, 0]
)");
  for (const value_set set : {value_set::usual, value_set::extreme}) {
    const auto made = [&](std::vector<argument_layout> layouts) {
      return std::make_unique<runner>(f, std::move(layouts), backend::serial_executor(), 7,
                                      given_values{}, argument_memory::sharing::none, set);
    };
    const auto dense = made({}), again = made({}), strided = made({{{400004, 1}, {}}, {{1}, {}}});
    const auto* a = static_cast<const float*>(dense->data()[0]);
    const auto* b = static_cast<const float*>(strided->data()[0]);
    CHECK(std::memcmp(a, again->data()[0], 5 * 400001 * sizeof(float)) == 0);
    std::set<float> beginnings;
    for (int row = 0; row < 5; ++row) {
      CHECK(std::memcmp(a + row * 400001, b + row * 400004, 400001 * sizeof(float)) == 0);
      beginnings.insert(a[row * 400001]);
    }
    CHECK(beginnings.size() >= 2);
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

TEST_CASE("a candidate that writes to what it should only read is a fault" *
          doctest::skip(!handlers_usable)) {
  const ir::function f = product();
  runner r(f, {}, backend::serial_executor(), 1);
  const measurement m = r.measure(*code_of(faulty::writes_first_parameter(f)), {});
  CHECK(m.failed == failure::fault);
}

TEST_CASE("in every state of the caches the code runs, and leaves what it should") {
  const ir::function f = reify(kernels::count_up, {{"N", 40}});
  const built b = build(f, target::host());
  REQUIRE(b.code);
  runner r(f, {}, backend::serial_executor(), 1);
  const auto first = [&] { return *static_cast<const float*>(r.data()[0]); };
  const float before = first();
  for (const caches where : {caches::warm, caches::cold, caches::rotating}) {
    r.reset_outputs();
    measure_options o;
    o.where = where;
    o.most_repeats = 7;
    o.stable = 0;
    const measurement m = r.measure(*b.code, o);
    REQUIRE(m.ok());
    CHECK(m.seconds.size() >= 3);
    CHECK(m.seconds.size() <= 7);
    // warm: many calls on one set; cold: one; rotating: on copies
    const float calls = first() - before;
    if (where == caches::warm) CHECK(calls > 1.5f);
    if (where == caches::cold) CHECK(calls == doctest::Approx(1));
    if (where == caches::rotating) CHECK(calls == 0.0f);
  }
  CHECK(r.run(*b.code).ok());
  CHECK(first() - before == doctest::Approx(1));
}

TEST_CASE("of a kernel with bound weights only these rotate: calls go to the same arguments") {
  ir::function f = reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}});
  f.attrs[ir::bound_attribute] = ir::attr::list{std::int64_t{1}};
  // adds to its output, so that the number of calls shows
  const ir::function count = reify(kernels::count_up, {{"N", 40}});
  const built b = build(count, target::host());
  REQUIRE(b.code);
  ir::function counted = count;
  counted.attrs[ir::bound_attribute] = ir::attr::list{std::int64_t{0}};
  runner r(counted, {}, backend::serial_executor(), 1);
  const float before = *static_cast<const float*>(r.data()[0]);
  measure_options o;
  o.where = caches::rotating;
  o.most_repeats = 7;
  o.stable = 0;
  REQUIRE(r.measure(*b.code, o).ok());
  // one call a sample, each on the arguments of the runner: a ring would leave them as they were
  CHECK(*static_cast<const float*>(r.data()[0]) - before == doctest::Approx(1));
  const built product_code = build(f, target::host());
  runner s(f, {}, backend::serial_executor(), 1);
  CHECK(s.measure(*product_code.code, o).ok());
  CHECK(verify_against_interpreter(f, s, *product_code.code).empty());
}

TEST_CASE("a ring of copies serves kernels with many arguments and bound weights alike") {
  const ir::function f = product();
  const built b = build(f, target::host());
  runner r(f, {}, backend::serial_executor(), 1);
  measure_options o;
  o.where = caches::rotating;
  CHECK(r.measure(*b.code, o).ok());
  CHECK(verify_against_interpreter(f, r, *b.code).empty());
}

TEST_CASE("given values are computed with; the rest is made up") {
  const ir::function f = product();
  given_values given(3);
  std::vector<float> a(45);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  given[0].resize(45 * 4);
  std::memcpy(given[0].data(), a.data(), given[0].size());
  std::vector<argument_layout> layouts(1);
  layouts[0].strides = {1, 9};  // column-major
  runner r(f, layouts, backend::serial_executor(), 7, given),
      other(f, {}, backend::serial_executor(), 7);
  for (std::size_t m = 0; m < 9; ++m)
    for (std::size_t k = 0; k < 5; ++k)
      CHECK(static_cast<const float*>(r.data()[0])[m + 9 * k] == a[m * 5 + k]);
  CHECK(std::memcmp(r.data()[1], other.data()[1], 35 * 4) == 0);
  given[0].pop_back();
  CHECK_THROWS_AS(runner(f, {}, backend::serial_executor(), 7, given), argument_error);
}

TEST_CASE("arguments lie in their cache lines as asked for, also against the order of memory") {
  const ir::function f = product();
  std::vector<argument_layout> layouts(3);
  layouts[0] = {{-5, -1}, {64, 20}};
  layouts[2].at = {64, 16};
  const runner r(f, layouts, backend::serial_executor(), 7);
  const auto beyond = [&](std::size_t i) {
    return reinterpret_cast<std::uintptr_t>(r.data()[i]) % 64;
  };
  CHECK(beyond(0) == 20);
  CHECK(beyond(1) == 0);
  CHECK(beyond(2) == 16);
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

TEST_CASE("code that wants more memory than there is fails") {
  const ir::function f = reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}});
  runner r(f, {}, backend::serial_executor(), 1);
  built b = build(f, target::host());
  CHECK(r.run(*b.code).ok());
  b.artifact.workspace_bytes = std::int64_t{1} << 50;
  const auto greedy = backend::load(b.artifact);
  for (const measurement& m : {r.run(*greedy), r.measure(*greedy, {})}) {
    CHECK(m.failed == failure::build);
    CHECK(m.detail.find("no memory for 1125899906842624 bytes") != std::string::npos);
  }
  CHECK(r.run(*b.code).ok());
}

TEST_CASE("a flag that is watched ends a call, and the calls after it") {
  const ir::function f = endless();
  runner r(f, {}, backend::serial_executor(), 1);
  const auto code = code_of(f);
  std::atomic<bool> cancelled{false};
  r.watch(&cancelled);
  measure_options brief;
  brief.deadline = 0.02;
  CHECK(r.measure(*code, brief).failed == failure::timeout);  // the flag is not set
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancelled = true;
  });
  CHECK(r.measure(*code, {}).failed == failure::cancelled);
  other.join();
  CHECK(r.run(*code).failed == failure::cancelled);
  cancelled = false;
  CHECK(r.measure(*code, brief).failed == failure::timeout);
}

TEST_CASE("a candidate that is much slower than the best is not repeated") {
  const built b = product_in_parallel();
  REQUIRE(b.code);
  delayed_executor exec{.calls = 1000};
  const backend::executor view{&delayed_executor::run, &exec, 2};
  runner r(product(), {}, view, 1);
  measure_options o;
  o.best = 1e-12;
  CHECK(r.measure(*b.code, o).seconds.size() <= 2);
}

TEST_CASE("a long call that is slower than the best by more than noise is repeated twice at most") {
  const built b = product_in_parallel();
  REQUIRE(b.code);
  delayed_executor slow{1000};
  const backend::executor exec{&delayed_executor::run, &slow, 2};
  runner r(product(), {}, exec, 1);
  measure_options options;
  options.hopeless = 1e9;
  options.budget = 1;
  options.repeats = options.most_repeats = 6;
  CHECK(r.measure(*b.code, options).seconds.size() == 6);
  options.best = 1e-4;
  CHECK(r.measure(*b.code, options).seconds.size() <= 2);
  options.evidence = 1e-4;  // each call is a long one
  CHECK(r.measure(*b.code, options).seconds.size() == 1);
  options.evidence = 1e-3;
  delayed_executor fast{0};
  const backend::executor at_once{&delayed_executor::run, &fast, 2};
  runner other(product(), {}, at_once, 1);
  options.best = 1e-9;
  CHECK(other.measure(*b.code, options).seconds.size() == 6);
}

TEST_CASE("a candidate is not given up for what its first calls waited for") {
  const built b = product_in_parallel();
  REQUIRE(b.code);
  for (const int slow : {1, 2, 5}) {
    delayed_executor exec{.calls = slow};
    const backend::executor view{&delayed_executor::run, &exec, 2};
    runner r(product(), {}, view, 1);
    measure_options o;
    o.best = 0.9e-3;  // far above the kernel's time, below half the delay
    o.evidence = 1;
    o.repeats = 3;
    const measurement m = r.measure(*b.code, o);
    CHECK(m.ok());
    CHECK(m.seconds.size() >= 3);
    CHECK(exec.seen > slow + 3);
    CHECK(m.best() < o.best);
  }
}

TEST_CASE("without repeats the first call counts, and one long call shows that there is no use") {
  const built b = product_in_parallel();
  REQUIRE(b.code);
  delayed_executor exec{.calls = 1000};
  const backend::executor view{&delayed_executor::run, &exec, 2};
  runner r(product(), {}, view, 1);
  measure_options o;
  o.most_repeats = 0;
  CHECK(r.measure(*b.code, o).seconds.size() == 1);
  const int before = exec.seen;
  o.most_repeats = 25;
  o.best = 1e-6;
  o.evidence = 1e-6;  // the delay is far more than fifty times that
  CHECK(r.measure(*b.code, o).seconds.size() == 1);
  CHECK(exec.seen == before + 1);
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
