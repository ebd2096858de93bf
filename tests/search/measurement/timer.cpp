#include <tilewright/search/measurement/timer.hpp>

#include <tilewright/backend/call.hpp>
#include <tilewright/ir/text/parse.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include "search/faulty_code.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Counts its calls in N, and reads a page's guard behind X from the second one on.
ir::function reads_beyond_later() {
  ir::function f = ir::parse(R"(
@T.prim_func
def main(N: T.Buffer((1,), "int32"), X: T.Buffer((16,), "int32"), Y: T.Buffer((1,), "int32")):
    N[0] = N[0] + 1
    Y[0] = X[T.min(N[0] - 1, 1) * 64]
)");
  f.attrs["tilewright.lowered"] = 1;
  return f;
}

argument_place elements(std::size_t count, bool written, bool read) {
  return {4 * count, {}, 0, {1}, written, read};
}

}  // namespace

TEST_CASE("timer: a call between inaccessible pages, then others that may touch what lies around") {
  if (!faulty::handlers_usable) return;
  const auto code = faulty::code_of(reads_beyond_later());
  REQUIRE(code);
  for (const std::int32_t calls_before : {0, 1}) {
    argument_memory memory(
        {elements(1, true, true), elements(16, false, true), elements(1, true, false)});
    for (std::size_t i = 0; i < 3; ++i)
      std::memset(memory.buffer(i).data(), 0, memory.buffer(i).size());
    *static_cast<std::int32_t*>(memory.data()[0]) = calls_before;
    memory.seal();
    timer t(memory, backend::serial_executor());
    const measurement m = t.measure(*code, {});
    CHECK(m.ok() == (calls_before == 0));
    if (m.ok()) CHECK(*static_cast<std::int32_t*>(memory.data()[0]) > 1);
    const fault_handlers handlers;
    const auto read = [](void* at) { (void)*static_cast<volatile std::int32_t*>(at); };
    CHECK(run_guarded(read, static_cast<std::int32_t*>(memory.data()[1]) + 64) == SIGSEGV);
  }
}
