// Rules together with post-processing, in the lists that MetaSchedule has for CPUs and GPUs.
#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/modules/apply_custom_rule.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/cross_thread_reduction.hpp>
#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/modules/random_compute_location.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_layout.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>

#include "kernels.hpp"
#include "members.hpp"

using namespace tilewright;
using space::post_order, space::module;

namespace {

space::design_space cpu_list(const char* intrinsic = nullptr) {
  const auto front = post_order(module(space::apply_custom_rule{})) >>
                     post_order(module(space::inline_constant_scalars{})) >>
                     post_order(module(space::auto_inline{}));
  const auto back = post_order(module(space::cpu_tiling())) >>
                    space::on<"root">(module(space::parallel_vectorize_unroll{})) >>
                    post_order(module(space::random_compute_location{}));
  const std::vector<space::postproc> finish = {
      space::disallow_dynamic_loop{}, space::rewrite_parallel_vectorize_unroll{},
      space::rewrite_reduction_block{}, space::rewrite_tensorize{true}, space::rewrite_layout{}};
  if (!intrinsic) return space::design_space(front >> back).with(finish);
  space::multi_level_tiling_with_intrinsic around;
  around.intrinsic = intrinsic;
  return space::design_space(front >> post_order(module(around)) >> back).with(finish);
}

space::design_space gpu_list() {
  space::multi_level_tiling tiling = space::gpu_tiling();
  tiling.warp_size = 1;  // the kernels are small: any number of threads will do
  space::auto_inline inlining;
  inlining.into_producer = inlining.conditionals = true;
  inlining.injective_reads = inlining.ordered_reads = false;
  inlining.costly.clear();
  space::parallel_vectorize_unroll unroll;
  unroll.max_jobs_per_thread = unroll.max_vectorize_extent = -1;
  unroll.unroll.max_steps = {0, 16, 32, 64, 128, 256, 512, 1024};
  return space::design_space(
             post_order(module(tiling)) >> post_order(module(space::inline_constant_scalars{})) >>
             post_order(module(inlining)) >> post_order(module(space::cross_thread_reduction{})) >>
             space::on<"root">(module(unroll)) >> post_order(module(space::auto_bind{})))
      .with({space::disallow_dynamic_loop{}, space::rewrite_cooperative_fetch{},
             space::rewrite_unbound_block{}, space::rewrite_parallel_vectorize_unroll{},
             space::rewrite_reduction_block{}, space::verify_gpu_code{}});
}

/// Members of the list, as they are and finished.
void check_list(const space::design_space& list, const ir::function& f, std::size_t sketches,
                bool device) {
  const std::vector<schedule> all = list.sketches(f, members::machine(), 7);
  CHECK(all.size() == sketches);
  const auto finish = [&](schedule& s) { list.finish(s, members::machine()); };
  members::check(f, all, [](schedule&) {}, {.device = device, .finish = finish});
}

/// The Euclidean norm of a matrix, by rows and as a whole.
ir::function norm() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((6, 40), "float32"), D: T.Buffer((6,), "float32")):
    C = T.alloc_buffer((6,), "float32")
    for i, j in T.grid(6, 40):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vj] * A[vi, vj]
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = T.sqrt(C[vi])
)");
}

}  // namespace

TEST_CASE("the list for CPUs: three sketches a product, compiled and run") {
  check_list(cpu_list(), kernels::dense_relu(), 3, false);
  check_list(cpu_list(), kernels::conv2d(), 3, false);
  check_list(cpu_list(), kernels::softmax(), 1, false);
  check_list(cpu_list(), kernels::relu_chain(), 1, false);
}

TEST_CASE("the list for CPUs with dot products of bytes") {
  const space::design_space list = cpu_list("dot_16x4_vnni");
  check_list(list, kernels::dense_i8(), 3, false);
  check_list(list, kernels::conv2d(), 3, false);
  schedule s = list.sketches(kernels::dense_i8(), members::machine(), 7)[0];
  list.finish(s, members::machine());
  CHECK(members::mentions(s, "sch.tensorize("));
}

TEST_CASE("the list for GPUs: one sketch a product, each reduction across threads or not") {
  check_list(gpu_list(), kernels::dense_relu(), 1, true);
  check_list(gpu_list(), kernels::conv2d(), 1, true);
  check_list(gpu_list(), norm(), 2, true);
  check_list(gpu_list(), kernels::softmax(), 4, true);
  check_list(gpu_list(), kernels::relu_chain(), 1, true);
}
