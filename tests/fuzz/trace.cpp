// Whatever the bytes: the trace parser gives a trace or an error with its place, what it gives
// survives printing and parsing, and replaying it succeeds or refuses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

const ir::function& program() {
  static const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 12), "float32"), D: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16, 12), "float32")
    for i, j in T.grid(16, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, k in T.grid(16, 12):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = T.float32(0)
            D[vi] = D[vi] + B[vi, vk]
)");
  return f;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trace steps;
  try {
    steps = trace::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const argument_error&) {
    return 0;
  }
  const std::string text = steps.print();
  const trace again = trace::parse(text);
  if (!(again == steps) || again.print() != text) std::abort();
  schedule s(program());
  try {
    steps.apply_to(s);
  } catch (const schedule_error&) {
  } catch (const argument_error&) {
  }
  return 0;
}
