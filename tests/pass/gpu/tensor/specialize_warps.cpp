#include <tilewright/pass/gpu/tensor/specialize_warps.hpp>

#include <string>

#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "../kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// A product by warp groups, whose loop over steps has the annotation; `boxes` of the operands are the copy engine's.
ir::function product(int groups, int boxes = 2) {
  const std::string m = std::to_string(64 * groups);
  const ir::function f = ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + m +
                                   ", 256), \"float16\"), B: T.Buffer((256, 64), \"float16\"), "
                                   "C: T.Buffer((" +
                                   m + R"(, 64), "float32")):
    for i, j, k in T.grid()" + m + R"(, 64, 256):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vk, vj], "float32")
)");
  schedule s(f);
  const block_rv c = s.get_block("C");
  const auto loops = s.get_loops(c);
  const auto [i0, i1, i2] = s.split(loops[0], {1, groups, infer});
  const auto [k0, k1] = s.split(loops[2], {infer, 64});
  s.reorder(i0, i1, k0, i2, loops[1], k1);
  s.annotate(s.get_block("root"), ir::warps_note, static_cast<int>(ir::warps_of_group));
  s.bind(i0, "blockIdx.x");
  s.bind(i1, "threadIdx.y");
  s.write_at(i1, c, 0, "wgmma.accumulator");
  for (const int operand : {0, 1}) {
    const block_rv copy = s.read_at(k0, c, operand, "shared.dyn");
    s.annotate(copy, "vector_bytes", 16);
    if (operand < boxes) s.annotate(copy, ir::tensor_copy_note, 1);
  }
  using list = ir::attr::list;
  s.annotate(k0, "software_pipeline_stage", list{0, 0, 1});
  s.annotate(k0, "software_pipeline_order", list{0, 1, 2});
  s.annotate(k0, "software_pipeline_async_stages", list{0});
  s.annotate(k0, ir::producer_note, 1);
  return s.function();
}

std::string lowered(const ir::function& f) {
  return ir::print(pass::lower(f, target::named_gpu("sm_90a")));
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE(
    "specialize_warps: one group more asks for boxes, and gives its registers to two or three "
    "others") {
  const std::string one = lowered(product(1)), two = lowered(product(2)),
                    three = lowered(product(3));
  INFO(two);
  CHECK(has(one, "T.thread_binding(2, thread=\"threadIdx.y\")"));
  CHECK(!has(one, "registers"));
  CHECK(has(two, "T.thread_binding(3, thread=\"threadIdx.y\")"));
  CHECK(has(two, "tw_fewer_registers\", 40"));
  CHECK(has(two, "tw_more_registers\", 232"));
  CHECK(has(two, "tw_arrive\""));
  CHECK(has(three, "tw_fewer_registers\", 32"));
  CHECK(has(three, "tw_more_registers\", 160"));
}

TEST_CASE("specialize_warps: what others than the copy engine bring is refused") {
  std::string said;
  try {
    lowered(product(2, 1));
  } catch (const build_error& refusal) {
    said = refusal.what();
  }
  CHECK_MESSAGE(has(said, "leave the annotation out, then all threads meet in each step"), said);
  // without boxes there is nothing to ask for
  CHECK(!has(lowered(product(2, 0)), "tw_arrive\""));
}
