#include "group_products.hpp"

#include <utility>

#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace gpu_groups {
namespace {

using namespace tilewright;

ir::function written(const shape& s) {
  std::string text = R"(
@T.prim_func
def {name}(A: T.Buffer({a}, "{type}"), B: T.Buffer({b}, "{type}"), {bias}C: T.Buffer(({m}, {n}), "float32")):
{sums}    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                {to}[vi, vj] = T.float32(0)
            {to}[vi, vj] = {to}[vi, vj] + T.cast({left}, "float32") * T.cast({right}, "float32")
)";
  if (s.biased)
    text += R"(    for i, j in T.grid({m}, {n}):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(S[vi, vj] + D[vj], T.float32(0))
)";
  const auto put = [&](const std::string& mark, const std::string& value) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  };
  put("{bias}", s.biased ? "D: T.Buffer(({n},), \"float32\"), " : "");
  put("{sums}", s.biased ? "    S = T.alloc_buffer(({m}, {n}), \"float32\")\n" : "");
  put("{to}", s.biased ? "S" : "C");
  put("{a}", s.a_rows ? "({m}, {k})" : "({k}, {m})");
  put("{b}", s.b_rows ? "({k}, {n})" : "({n}, {k})");
  put("{left}", s.a_rows ? "A[vi, vk]" : "A[vk, vi]");
  put("{right}", s.b_rows ? "B[vk, vj]" : "B[vj, vk]");
  put("{type}", s.type);
  put("{name}", s.name);
  put("{m}", std::to_string(s.m));
  put("{n}", std::to_string(s.n));
  put("{k}", std::to_string(s.k));
  return ir::parse(text);
}

}  // namespace

gpu_corpus::entry product(const shape& what) {
  const ir::function f = written(what);
  schedule s(f);
  const block_rv c = s.get_block("C");
  const auto loops = s.get_loops(c);
  const auto [i0, i1, i2] = s.split(loops[0], {infer, 2, 64});
  const auto [j0, j1] = s.split(loops[1], {infer, factor(what.columns)});
  const auto [k0, k1] = s.split(loops[2], {infer, 64});
  // blocks that begin one after the other stand above each other, and share columns
  const auto [i00, i01] = s.split(i0, {infer, what.m % 1024 == 0 ? 8 : 1});
  s.reorder(i00, j0, i01, i1, k0, i2, j1, k1);
  s.annotate(s.get_block("root"), ir::warps_note, static_cast<int>(ir::warps_of_group));
  s.bind(s.fuse(i00, j0, i01), "blockIdx.x");
  s.bind(i1, "threadIdx.y");
  s.write_at(i1, c, 0, "wgmma.accumulator");
  if (what.biased) s.reverse_compute_inline(s.get_block("E"));
  for (const int operand : {0, 1}) {
    const block_rv copy = s.read_at(k0, c, operand, "shared.dyn");
    s.annotate(copy, "vector_bytes", 16);
    if (what.boxes) s.annotate(copy, ir::tensor_copy_note, 1);
  }
  using list = ir::attr::list;
  s.annotate(k0, "software_pipeline_stage", list{0, 0, what.ahead});
  s.annotate(k0, "software_pipeline_order", list{0, 1, 2});
  s.annotate(k0, "software_pipeline_async_stages", list{0});
  gpu_corpus::entry out;
  out.name = what.name;
  out.written = f;
  out.scheduled = s.function();
  out.registers = what.columns == 256 ? 224 : 168;
  out.tolerance = 1e-4;
  out.operations = 2.0 * what.m * what.n * what.k;
  out.bytes = 2.0 * what.k * (what.m + what.n) + 4.0 * what.m * what.n;
  return out;
}

std::vector<gpu_corpus::entry> small() {
  return {
      product({.name = "group_matmul", .k = 320}),
      product({.name = "group_matmul_wide", .n = 256, .k = 256, .columns = 256}),
      product({.name = "group_matmul_bf16", .type = "bfloat16", .m = 256, .k = 192}),
      product({.name = "group_matmul_nk", .k = 192, .ahead = 1, .b_rows = false}),
      product({.name = "group_matmul_km", .k = 192, .a_rows = false, .biased = true}),
      product({.name = "group_matmul_boxes", .n = 256, .k = 320, .columns = 256, .boxes = true}),
      product({.name = "group_matmul_boxes_nk",
               .type = "bfloat16",
               .m = 256,
               .k = 448,
               .ahead = 3,
               .a_rows = false,
               .b_rows = false,
               .biased = true,
               .boxes = true})};
}

std::vector<gpu_corpus::entry> large() {
  std::vector<gpu_corpus::entry> out;
  const auto add = [&](const char* type, int columns, int ahead, bool boxes) {
    const std::string name = std::string("group_matmul_") + (type[0] == 'f' ? "f16" : "bf16") +
                             "_128x" + std::to_string(columns) + "_" + std::to_string(ahead) +
                             (boxes ? "_boxes" : "");
    out.push_back(product({.name = name,
                           .type = type,
                           .m = 4096,
                           .n = 4096,
                           .k = 4096,
                           .columns = columns,
                           .ahead = ahead,
                           .boxes = boxes}));
  };
  for (const char* type : {"float16", "bfloat16"}) {
    for (const int columns : {128, 256})
      for (const int ahead : {1, 2}) add(type, columns, ahead, false);
    add(type, 128, 4, true);
    add(type, 256, 2, true);
  }
  return out;
}

}  // namespace gpu_groups
