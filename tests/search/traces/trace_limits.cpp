#include <tilewright/search/trace_limits.hpp>

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/search/candidate.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/target/gpu.hpp>

#include "space/kernels.hpp"
#include "space/programs.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

std::string of(const std::string& text, const target::gpu* gpu = nullptr,
               const ir::function& f = programs::matmul(1024, 1024, 1024)) {
  return refused_by_decisions(trace::parse(text), f, gpu);
}

const std::string head = R"(b0 = sch.get_block(name="C", func_name="main")
l1, l2, l3 = sch.get_loops(block=b0)
)";

/// Tiles of the product on blocks and threads, both operands in shared memory.
std::string tiles(const std::string& rows, const std::string& columns, const std::string& sum) {
  return head +
         "v4, v5, v6 = sch.sample_perfect_tile(loop=l1, n=3, max_innermost_factor=64, decision=" +
         rows +
         ")\nl7, l8, l9 = sch.split(loop=l1, factors=[v4, v5, v6])\n"
         "v10, v11, v12 = sch.sample_perfect_tile(loop=l2, n=3, max_innermost_factor=64, "
         "decision=" +
         columns +
         ")\nl13, l14, l15 = sch.split(loop=l2, factors=[v10, v11, v12])\n"
         "v16, v17 = sch.sample_perfect_tile(loop=l3, n=2, max_innermost_factor=1024, decision=" +
         sum + R"()
l18, l19 = sch.split(loop=l3, factors=[v16, v17])
sch.reorder(l7, l13, l8, l14, l18, l19, l9, l15)
l20 = sch.fuse(l7, l13)
sch.bind(loop=l20, thread_axis="blockIdx.x")
l21 = sch.fuse(l8, l14)
sch.bind(loop=l21, thread_axis="threadIdx.x")
b22 = sch.cache_read(block=b0, read_buffer_index=0, storage_scope="shared", consumer_blocks=[b0])
sch.compute_at(block=b22, loop=l18, preserve_unit_loops=True)
b23 = sch.cache_read(block=b0, read_buffer_index=1, storage_scope="shared", consumer_blocks=[b0])
sch.compute_at(block=b23, loop=l18, preserve_unit_loops=True)
)";
}

}  // namespace

TEST_CASE("trace limits: conditions and splits are decided by what was drawn") {
  const std::string draw =
      head + "v4 = sch.sample_categorical(candidates=[2, 4, 8], probs=[1, 1, 1], decision=";
  const std::string rest = ")\nsch.assert_(condition=v4 * 2 <= 8)\n";
  CHECK(of(draw + "1" + rest).empty());
  CHECK(of(draw + "2" + rest) == "instruction 3: assert_: the condition does not hold");
  CHECK(of(head + "l4, l5 = sch.split(loop=l1, factors=[32, 32])\n").empty());
  CHECK(of(head + "l4, l5 = sch.split(loop=l1, factors=[16, 32])\n") ==
        "instruction 2: split: the factors make 512 of a loop of 1024");
  CHECK(of(head + "l4, l5 = sch.split(loop=l1, factors=[None, 48])\n"
                  "l6, l7 = sch.split(loop=l4, factors=[20, 1])\n") ==
        "instruction 3: split: the factors make 20 of a loop of 22");
  // nothing is known of what has no decision
  CHECK(of(head + "v4 = sch.sample_categorical(candidates=[2, 4], probs=[1, 1])\n"
                  "sch.assert_(condition=v4 > 100)\n")
            .empty());
}

TEST_CASE("trace limits: threads and shared memory follow from products of the tiles") {
  const target::gpu& gpu = target::named_gpu("sm_80");
  CHECK(of(tiles("[16, 16, 4]", "[16, 16, 4]", "[64, 16]"), &gpu).empty());
  CHECK(of(tiles("[8, 64, 2]", "[16, 32, 2]", "[64, 16]"), &gpu) ==
        "2048 threads, the limit is 1024");
  CHECK(of(tiles("[8, 64, 2]", "[16, 32, 2]", "[64, 16]")).empty());
  // 2 operands of 64 rows and 512 steps, 4 bytes each
  const std::string why = of(tiles("[16, 16, 4]", "[16, 16, 4]", "[2, 512]"), &gpu);
  CHECK(why.find("262144 bytes of shared memory, the limit is ") == 0);
}

TEST_CASE("trace limits: steps copied ahead, windows that move in steps, and results of a thread") {
  const target::gpu& gpu = target::named_gpu("sm_80");
  // 64 rows and 128 steps of both: twice as much is too much
  const std::string fits = tiles("[16, 16, 4]", "[16, 16, 4]", "[8, 128]");
  const auto ahead = [&](int steps) {
    return fits +
           "sch.annotate(block_or_loop=l18, ann_key=\"software_pipeline_stage\", ann_val=[0, 0, " +
           std::to_string(steps) +
           "])\nsch.annotate(block_or_loop=l18, ann_key=\"software_pipeline_async_stages\", "
           "ann_val=[0])\n";
  };
  CHECK(of(fits, &gpu).empty());
  CHECK(of(ahead(1), &gpu).empty());
  CHECK(of(ahead(2), &gpu).find("196608 bytes of shared memory") == 0);
  // 32 x 32 results of a thread
  const std::string results =
      "b24 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope=\"local\")\n"
      "sch.reverse_compute_at(block=b24, loop=l21, preserve_unit_loops=True)\n";
  CHECK(of(tiles("[16, 16, 4]", "[16, 16, 4]", "[64, 16]") + results, &gpu).empty());
  CHECK(of(tiles("[4, 8, 32]", "[4, 8, 32]", "[64, 16]") + results, &gpu) ==
        "1024 registers of results, the limit is 255");
  CHECK(of(tiles("[2, 32, 16]", "[4, 32, 8]", "[128, 8]") + results, &gpu) ==
        "131072 registers of a block, the limit is 65536");
}

TEST_CASE("trace limits: what is refused is refused by the replay, and much of it") {
  const target::gpu& gpu = target::named_gpu("sm_80");
  space::context where;
  where.gpu = &gpu;
  int early = 0, late = 0;
  for (const ir::function& f :
       {programs::matmul(1024, 512, 768), kernels::dense_relu(), kernels::conv2d()})
    for (const space::design_space& s : {space::default_gpu(), space::metaschedule_cuda()})
      for (const schedule& sketch : s.sketches(f, where, 5)) {
        const trace open = sketch.trace().without_decisions();
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
          const std::optional<candidate> drawn = replay(open, f, seed);
          if (!drawn) continue;
          const trace& t = drawn->scheduled.trace();
          std::string why;
          const bool kept =
              replay(t, f, seed, &why, [&](schedule& x) { s.finish(x, where); }).has_value();
          const std::string told = refused_by_decisions(t, f, &gpu);
          INFO(t.print());
          INFO(told);
          CHECK((told.empty() || !kept));
          early += told.empty() ? 0 : 1;
          late += kept ? 0 : 1;
        }
      }
  MESSAGE(early << " of " << late << " refused candidates");
  CHECK(10 * early > 9 * late);
}
