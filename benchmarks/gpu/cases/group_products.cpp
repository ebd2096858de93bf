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
  loop_rv blocks = s.fuse(i00, j0, i01);
  if (what.rounds > 1) {
    const auto [round, one] = s.split(blocks, {what.rounds, infer});
    s.reorder(one, round);
    blocks = one;
  }
  s.bind(blocks, "blockIdx.x");
  s.bind(i1, "threadIdx.y");
  const block_rv sums = s.write_at(i1, c, 0, "wgmma.accumulator");
  if (what.biased) s.reverse_compute_inline(s.get_block("E"));
  if (what.stores) s.annotate(s.write_at(i1, sums, 0, "shared.dyn"), ir::tensor_copy_note, 1);
  for (const int operand : {0, 1}) {
    const block_rv copy = s.read_at(k0, c, operand, "shared.dyn");
    s.annotate(copy, "vector_bytes", 16);
    if (what.boxes) s.annotate(copy, ir::tensor_copy_note, 1);
  }
  using list = ir::attr::list;
  s.annotate(k0, "software_pipeline_stage", list{0, 0, what.ahead});
  s.annotate(k0, "software_pipeline_order", list{0, 1, 2});
  s.annotate(k0, "software_pipeline_async_stages", list{0});
  if (what.producer) s.annotate(k0, ir::producer_note, 1);
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
               .boxes = true}),
      product({.name = "group_matmul_producer",
               .n = 256,
               .k = 320,
               .columns = 256,
               .boxes = true,
               .producer = true}),
      product({.name = "group_matmul_producer_nk",
               .type = "bfloat16",
               .m = 256,
               .k = 448,
               .ahead = 3,
               .a_rows = false,
               .b_rows = false,
               .biased = true,
               .boxes = true,
               .producer = true}),
      product({.name = "group_matmul_rounds",
               .m = 256,
               .n = 256,
               .k = 320,
               .biased = true,
               .boxes = true,
               .producer = true,
               .rounds = 2}),
      product(
          {.name = "group_matmul_stores", .k = 192, .biased = true, .boxes = true, .stores = true}),
      product({.name = "group_matmul_all",
               .m = 256,
               .n = 128,
               .k = 320,
               .boxes = true,
               .producer = true,
               .stores = true,
               .rounds = 2})};
}

std::vector<gpu_corpus::entry> large() {
  std::vector<gpu_corpus::entry> out;
  const auto add = [&](shape what, const std::string& suffix) {
    what.name = std::string("group_matmul_") + (what.type[0] == 'f' ? "f16" : "bf16") + "_128x" +
                std::to_string(what.columns) + "_" + std::to_string(what.ahead) + suffix;
    what.m = what.n = what.k = 4096;
    out.push_back(product(what));
  };
  for (const char* type : {"float16", "bfloat16"}) {
    for (const int columns : {128, 256})
      for (const int ahead : {1, 2})
        add({.name = "", .type = type, .columns = columns, .ahead = ahead}, "");
    shape narrow{.name = "", .type = type, .ahead = 4, .boxes = true},
        wide{.name = "", .type = type, .columns = 256, .boxes = true};
    add(narrow, "_boxes");
    add(wide, "_boxes");
    narrow.producer = wide.producer = true;
    add(narrow, "_roles");
    add(wide, "_roles");
    wide.rounds = 4;
    add(wide, "_rounds");
    narrow.ahead = 2;  // results have memory of their own
    narrow.stores = true;
    add(narrow, "_stores");
    narrow.rounds = 8;
    add(narrow, "_rounds_stores");
  }
  return out;
}

}  // namespace gpu_groups
