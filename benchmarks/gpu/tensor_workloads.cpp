#include "tensor_workloads.hpp"

#include <utility>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>

namespace gpu_workloads {
namespace {

using namespace tilewright;

std::string with_extents(std::string text,
                         const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words)
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  return text;
}

/// C = A B of batches, operands of `in`, sums of `sum`; B lies as [k, n].
workload tensor_product(const std::string& name, const std::string& in, const std::string& sum,
                        int batch, int m, int n, int k) {
  const std::string text = R"(@T.prim_func
def main(A: T.Buffer(({b}, {m}, {k}), "{in}"), B: T.Buffer(({b}, {k}, {n}), "{in}"), C: T.Buffer(({b}, {m}, {n}), "{sum}")):
    for b, i, j, k in T.grid({b}, {m}, {n}, {k}):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = {zero}
            C[vb, vi, vj] = C[vb, vi, vj] + T.cast(A[vb, vi, vk], "{sum}") * T.cast(B[vb, vk, vj], "{sum}")
)";
  std::string one = text;
  if (batch == 1)  // without the dimension of batches, which would be one more loop
    one = with_extents(
        text,
        {{"({b}, ", "("}, {"for b, i", "for i"}, {"vb, ", ""}, {"\"SSSR\", [b, ", "\"SSR\", ["}});
  workload out;
  out.name = name;
  out.function = ir::parse(with_extents(one, {{"{b}", std::to_string(batch)},
                                              {"{m}", std::to_string(m)},
                                              {"{n}", std::to_string(n)},
                                              {"{k}", std::to_string(k)},
                                              {"{in}", in},
                                              {"{sum}", sum},
                                              {"{zero}", sum == "int32" ? "0" : "T.float32(0)"}}));
  const double inputs = in == "int8" ? 1 : in == "float32" ? 4 : 2;
  if (in == "float32") {
    out.rounding = 0x1p-11;
    out.function.attrs[search::factors_attribute] = std::string("tf32");
  }
  out.operations = 2.0 * batch * m * n * k;
  out.bytes = batch * (inputs * (1.0 * m * k + 1.0 * k * n) + 4.0 * m * n);
  out.terms = k;
  using gpu_cublas::element;
  out.peer = {in == "int8"      ? element::i8
              : in == "float16" ? element::f16
              : in == "float32" ? element::tf32
                                : element::bf16,
              batch, m, n, k};
  return out;
}

/// The paper's dense layer with bias and GeLU, 1024 x 4096 x 1024 in f16.
workload fused_dense(const std::string& name) {
  workload out;
  out.name = name;
  out.function = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((1024, 1024), "float16"), W: T.Buffer((4096, 1024), "float16"), bias: T.Buffer((4096,), "float16"), out: T.Buffer((1024, 4096), "float16")):
    d = T.alloc_buffer((1024, 4096), "float16")
    a = T.alloc_buffer((1024, 4096), "float16")
    e = T.alloc_buffer((1024, 4096), "float32")
    for i, j, k in T.grid(1024, 4096, 1024):
        with T.block("dense"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                d[vi, vj] = T.float16(0)
            d[vi, vj] = d[vi, vj] + X[vi, vk] * W[vj, vk]
    for i, j in T.grid(1024, 4096):
        with T.block("biased"):
            vi, vj = T.axis.remap("SS", [i, j])
            a[vi, vj] = d[vi, vj] + bias[vj]
    for i, j in T.grid(1024, 4096):
        with T.block("erf"):
            vi, vj = T.axis.remap("SS", [i, j])
            e[vi, vj] = T.erf(T.cast(a[vi, vj], "float32") * T.float32(0.70710678))
    for i, j in T.grid(1024, 4096):
        with T.block("gelu"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = a[vi, vj] * (T.cast(e[vi, vj], "float16") * T.float16(0.5) + T.float16(0.5))
)");
  out.operations = 2.0 * 1024 * 4096 * 1024;
  out.bytes = 2.0 * (1024.0 * 1024 + 4096.0 * 1024 + 4096 + 1024.0 * 4096);
  out.terms = 1024;
  return out;
}

enum class step { naive, tiling, inlining, unrolling };

template <class Rule>
auto each_block(Rule rule) {
  return space::post_order(space::module(std::move(rule)));
}

/// The rules of the paper up to a step; what is left over gets threads.
space::design_space up_to(step last) {
  using namespace space;
  auto_inline inlining;
  inlining.into_producer = inlining.conditionals = true;
  inlining.injective_reads = inlining.ordered_reads = false;
  inlining.costly.clear();
  parallel_vectorize_unroll unrolling;
  unrolling.max_jobs_per_thread = unrolling.max_vectorize_extent = -1;
  unrolling.unroll.max_steps = {0, 16, 32, 64, 128, 256, 512, 1024};
  const auto threads = each_block(auto_bind{});
  const auto tiles = each_block(gpu_tiling());
  const std::vector<postproc> steps{rewrite_cooperative_fetch{}, rewrite_unbound_block{},
                                    rewrite_parallel_vectorize_unroll{}, rewrite_reduction_block{},
                                    verify_gpu_code{}};
  switch (last) {
    case step::naive: return design_space(threads).with(steps);
    case step::tiling: return design_space(tiles >> threads).with(steps);
    case step::inlining: return design_space(tiles >> each_block(inlining) >> threads).with(steps);
    default:
      return design_space(tiles >> each_block(inlining) >> on<"root">(module(unrolling)) >> threads)
          .with(steps);
  }
}

}  // namespace

space::design_space tensor_space(const space::use_tensor_core& rule) {
  using namespace space;
  auto_inline inlining;
  inlining.into_producer = inlining.conditionals = true;
  inlining.injective_reads = inlining.ordered_reads = false;
  inlining.costly.clear();
  return design_space(each_block(rule) >> each_block(inlining) >> each_block(auto_bind{}))
      .with({rewrite_cooperative_fetch{}, rewrite_unbound_block{},
             rewrite_parallel_vectorize_unroll{}, rewrite_reduction_block{}, rewrite_tensorize{},
             verify_gpu_code{}});
}

space::design_space tf32_space(int warp_size) {
  space::use_tensor_core cores;
  cores.intrinsics = {"wmma_sync_16x16x16_tf32tf32f32", "wmma_sync_16x16x16_tf32tf32f32_trans"};
  cores.warp_size = warp_size;
  cores.background = 2;
  cores.columns = {1, 2, 4, 1};  // two blocks to a multiprocessor, as nothing is carried over
  return tensor_space(cores);
}

std::vector<tensor_workload> tensor_workloads() {
  const space::design_space cores = space::metaschedule_cuda_tensor_core();
  // families that copy in the background first, then the paper's
  const space::design_space products = space::default_gpu() | cores;
  std::vector<tensor_workload> out;
  for (const int n : {1024, 4096, 8192})
    out.push_back(
        {tensor_product("F16_" + std::to_string(n), "float16", "float32", 1, n, n, n), products});
  out.push_back({tensor_product("F16_M16", "float16", "float32", 1, 16, 4096, 4096), products});
  out.push_back({tensor_product("F16_BATCH", "float16", "float32", 64, 512, 512, 64), products});
  out.push_back({tensor_product("F16_SPLITK", "float16", "float32", 1, 64, 64, 16384), products});
  out.push_back(
      {tensor_product("BF16_4096", "bfloat16", "float32", 1, 4096, 4096, 4096), products});
  out.push_back(
      {tensor_product("TF32_4096", "float32", "float32", 1, 4096, 4096, 4096), tf32_space()});
  out.push_back({tensor_product("S8_4096", "int8", "int32", 1, 4096, 4096, 4096), products});
  out.push_back({fused_dense("DENSE_naive"), up_to(step::naive)});
  out.push_back({fused_dense("DENSE_tiling"), up_to(step::tiling)});
  out.push_back({fused_dense("DENSE_inline"), up_to(step::inlining)});
  out.push_back({fused_dense("DENSE_unroll"), up_to(step::unrolling)});
  out.push_back({fused_dense("DENSE_tensor_cores"), products});
  return out;
}

std::vector<workload> small_tensor_products() {
  return {tensor_product("F16", "float16", "float32", 1, 64, 96, 64),
          tensor_product("F16_BATCH", "float16", "float32", 2, 32, 48, 32),
          tensor_product("F16_TAILS", "float16", "float32", 1, 40, 50, 36),
          tensor_product("F16_SPLITK", "float16", "float32", 1, 32, 32, 512),
          tensor_product("BF16", "bfloat16", "float32", 1, 64, 64, 96),
          tensor_product("S8", "int8", "int32", 1, 64, 64, 64)};
}

}  // namespace gpu_workloads
