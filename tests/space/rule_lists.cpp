// Rules together with post-processing, in the lists that MetaSchedule has for CPUs and GPUs.
#include <doctest/doctest.h>

#include <tilewright/space/metaschedule.hpp>

#include "kernels.hpp"
#include "members.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

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
  const space::design_space list = space::metaschedule_cpu();
  check_list(list, kernels::dense_relu(), 3, false);
  check_list(list, kernels::conv2d(), 3, false);
  check_list(list, kernels::softmax(), 1, false);
  check_list(list, kernels::relu_chain(), 1, false);
}

TEST_CASE("the list for CPUs with dot products: bytes where the target has them") {
  static const target::cpu vnni = target::named("cascadelake"), plain = target::named("haswell");
  const space::design_space list = space::metaschedule_cpu_intrinsics();
  for (const target::cpu* cpu : {&vnni, &plain}) {
    const space::context where{cpu, 4};
    std::vector<schedule> all = list.sketches(kernels::dense_i8(), where, 7);
    CHECK(all.size() == 3);
    for (schedule& s : all) {
      list.finish(s, where);
      CHECK(traces::mentions(s, "sch.tensorize(") == (cpu == &vnni));
    }
  }
  check_list(list, kernels::conv2d(), 3, false);
}

TEST_CASE("the list for GPUs: one sketch a product, each reduction across threads or not") {
  const space::design_space list = space::metaschedule_cuda(1);  // the kernels are small
  check_list(list, kernels::dense_relu(), 1, true);
  check_list(list, kernels::conv2d(), 1, true);
  check_list(list, norm(), 2, true);
  check_list(list, kernels::softmax(), 4, true);
  check_list(list, kernels::relu_chain(), 1, true);
}

TEST_CASE("the list for GPUs: what tiling puts into shared memory is not inlined again") {
  for (const ir::function& f : {kernels::dense_relu(), kernels::conv2d()}) {
    const schedule s = space::metaschedule_cuda(1).sketches(f, members::machine(), 7)[0];
    int shared = 0;
    for (const std::string& name : space::root_block_names(s))
      shared += space::named_block(s, name).block->writes[0].buffer->scope == "shared" ? 1 : 0;
    CHECK(shared == 2);
    CHECK_FALSE(space::has_block(s, "Q"));  // the bias went into the copy of the results
  }
}

TEST_CASE("spaces have names") {
  for (const space::named_space& s : space::named_spaces())
    CHECK(static_cast<bool>(space::find_space(s.name)));
  CHECK_THROWS_WITH_AS(space::find_space("metaschedule"),
                       doctest::Contains("there are default_cpu, default_gpu,"), argument_error);
}

TEST_CASE("a space of one's own has a name, too, and the last one of a name is found") {
  const auto count = space::named_spaces().size();
  for (const std::string_view summary : {"nothing", "nothing, once more"}) {
    space::add_named_space({"mine", summary, [] { return space::design_space([](schedule&) {}); }});
    CHECK(space::named_spaces().size() == count + 1);
    CHECK(space::named_spaces().back().summary == summary);
  }
  CHECK(space::find_space("mine").sketches(kernels::conv2d(), {}, 1).size() == 1);
  CHECK_THROWS_WITH_AS(space::find_space("yours"), doctest::Contains(", mine"), argument_error);
}
