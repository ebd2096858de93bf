#include <functional>

#include <tilewright/space/modules/auto_bind.hpp>

#include <doctest/doctest.h>

#include <tilewright/search/mutators/thread_binding.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;

namespace {

std::vector<std::string> tags(schedule& s, const std::string& block) {
  std::vector<std::string> out;
  for (const loop_rv l : s.get_loops(s.get_block(block)))
    if (!s.get(l).thread_tag.empty()) out.push_back(s.get(l).thread_tag);
  return out;
}

const std::vector<std::string> on_device{"blockIdx.x", "threadIdx.x"};

/// What the rule makes of the block, after `before`.
schedule bind(const ir::function& f, const std::string& block, const space::auto_bind& rule,
              const std::function<void(schedule&, block_rv)>& before = {}) {
  schedule s(f);
  if (before) before(s, s.get_block(block));
  space::chooser choices;
  rule(s, block, members::machine(), choices);
  return s;
}

}  // namespace

TEST_CASE("every nest runs on blocks and threads") {
  for (const ir::function& f :
       {kernels::dense_relu(), kernels::conv2d(), kernels::softmax(), kernels::relu_chain()}) {
    const std::vector<schedule> all = members::sketches(f, {space::auto_bind{}});
    REQUIRE(all.size() == 1);
    const std::size_t different =
        members::check(f, all,
                       [](schedule& s) {
                         for (const std::string& block : space::root_block_names(s))
                           CHECK(tags(s, block) == on_device);
                       },
                       {.device = true});
    // a matrix of 12 rows and 20 columns has a few sizes of blocks only, a vector of 12 none
    CHECK(different > 2);
  }
}

TEST_CASE("the number of threads is found by its mutator") {
  const ir::function f = kernels::conv2d();
  const std::vector<schedule> all = members::sketches(f, {space::auto_bind{}});
  support::random random(3);
  CHECK(search::mutate_thread_binding(all[0].trace(), f, random));
}

TEST_CASE("more work than blocks: the rest is serial") {
  space::auto_bind rule;
  rule.max_threadblocks = 2;
  rule.max_threads_per_block = 16;
  const ir::function f = kernels::conv2d();
  schedule s = bind(f, "Y", rule);
  CHECK(tags(s, "Y") == on_device);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block("Y"));
  CHECK(ir::is_int(s.get(loops[0]).extent, 2));
  CHECK(ir::is_int(s.get(loops[1]).extent, 16));
  CHECK(ir::is_int(s.get(loops[2]).extent, 9));
  members::check(f, {s}, [](schedule&) {}, {.count = 2, .device = true});
}

TEST_CASE("loops that are bound already get what they lack") {
  const ir::function f = kernels::dense_relu();
  const auto bind_loop = [](std::size_t loop, const char* tag) {
    return [=](schedule& s, block_rv b) { s.bind(s.get_loops(b)[loop], tag); };
  };
  const space::auto_bind rule;
  for (const schedule& s : {bind(f, "P", rule, bind_loop(1, "threadIdx.x")),
                            bind(f, "P", rule, bind_loop(2, "threadIdx.x")),
                            bind(f, "P", rule, bind_loop(0, "threadIdx.x")),
                            bind(f, "P", rule, bind_loop(0, "blockIdx.x")),
                            bind(f, "P", rule, bind_loop(1, "blockIdx.x"))}) {
    schedule copy = s;
    const std::vector<std::string> got = tags(copy, "P");
    CHECK(got == on_device);
    members::check(f, {s}, [](schedule&) {}, {.count = 1, .device = true});
  }
  schedule tiled(f);
  space::chooser choices;
  space::gpu_tiling()(tiled, "P", members::machine(), choices);
  const std::string before = tiled.show();
  rule(tiled, "P", members::machine(), choices);
  CHECK(tiled.show() == before);
}

TEST_CASE("a pure reduction and a scalar run on one thread") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((40,), "float32"), C: T.Buffer((), "float32"), D: T.Buffer((), "float32")):
    for k in range(40):
        with T.block("C"):
            vk = T.axis.reduce(40, k)
            with T.init():
                C[()] = T.float32(0)
            C[()] = C[()] + A[vk]
    with T.block("D"):
        D[()] = C[()] * T.float32(2)
)");
  const std::vector<schedule> all = members::sketches(f, {space::auto_bind{}});
  members::check(f, all,
                 [](schedule& s) {
                   CHECK(tags(s, "C") == on_device);
                   CHECK(tags(s, "D") == on_device);
                 },
                 {.count = 2, .device = true});
}
