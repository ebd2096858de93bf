// What nobody computes with on purpose. Where the tests are built for the sanitizer of undefined behaviour
// (the preset `sanitize`), it ends the program at the first overflow.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <tilewright/backend/pool.hpp>
#include <tilewright/cost/features.hpp>
#include <tilewright/dispatch/layout.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/specialize.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

using namespace tilewright;
using namespace tilewright::search;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();
const std::vector<std::int64_t> numbers{0,        1,        2,    3,         1 << 16,
                                        most / 2, most / 3, most, 1LL << 62, 1LL << 32};

ir::function rows() {
  return ir::parse(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
)");
}

/// Every operator on integers of one type.
ir::function arithmetic(const std::string& type) {
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((64,), \"" + type +
                   "\"), B: T.Buffer((64,), \"" + type + "\"), Y: T.Buffer((64,), \"" + type +
                   R"(")):
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = T.max(A[vi] + B[vi], A[vi] - B[vi]) * T.min(A[vi] * B[vi], A[vi]) - B[vi] // T.cast(3, ")" +
                   type + "\") + A[vi] % T.cast(-3, \"" + type + "\") * A[vi]\n");
}

}  // namespace

TEST_CASE("sizes of arguments") {
  for (const std::int64_t a : numbers)
    for (const std::int64_t b : numbers)
      for (const std::int64_t s : {least, std::int64_t{-1}, std::int64_t{1}, most}) {
        const std::vector<std::int64_t> extents{a, b}, strides{s, 1};
        (void)row_major(extents);
        (void)span_of(extents, strides);
        const dispatch::layout_class l = dispatch::classify(2, extents.data(), strides.data());
        (void)l.strides(extents);
        operand o;
        o.extents = extents;
        CHECK(o.elements() >= 0);
      }
}

TEST_CASE("extents of programs: refused, or scheduled and described") {
  const target::cpu cpu = target::host();
  int refused = 0, scheduled = 0;
  for (const std::int64_t n : numbers)
    for (const std::int64_t m : numbers) {
      try {
        const ir::function f = ir::specialize(rows(), {{"n", n}, {"m", m}});
        (void)operands(f);
        (void)needs_of(f);
        (void)work_of(f);
        if (n == 0 || m == 0) continue;
        const schedule s = default_schedule(f, space::default_cpu(), {&cpu, 2}, 1);
        (void)cost::store_features(s.function());
        ++scheduled;
      } catch (const argument_error&) {
        ++refused;
      }
    }
  CHECK(refused > 20);
  CHECK(scheduled > 10);
}

TEST_CASE("a session on more than a machine can do ends at once") {
  workload w;
  w.function = ir::specialize(rows(), {{"n", std::int64_t{1} << 20}, {"m", std::int64_t{1} << 32}});
  w.machine = &target::host();
  w.exec = &backend::serial_executor();
  database db(":memory:");
  CHECK_THROWS_AS(tune(w, {}, db), argument_error);
}

TEST_CASE("integers wrap in the interpreter, whatever their width") {
  for (const char* type :
       {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) {
    const ir::function f = arithmetic(type);
    for (const value_set set : {value_set::usual, value_set::extreme}) {
      runner r(f, {}, backend::serial_executor(), 5, {}, argument_memory::sharing::none, set);
      std::vector<ir::tensor_view> views;
      for (void* at : r.data()) views.push_back({at, {}});
      CHECK_NOTHROW(ir::interpret(f, std::move(views)));
    }
  }
}
