#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;
using space::post_order, space::module;

namespace {

const space::context& two_threads() {
  static const space::context where{members::machine().cpu, 2};
  return where;
}

const ir::annotations& notes_of_root(schedule& s) {
  return s.get(s.get_block("root")).block->annotations;
}

int loops_of_kind(const schedule& s, ir::loop_kind kind) {
  int out = 0;
  ir::for_each_stmt(s.function().body, [&](const ir::stmt& x) {
    const ir::loop_node* loop = ir::as_loop(x);
    out += loop && loop->loop == kind ? 1 : 0;
  });
  return out;
}

}  // namespace

TEST_CASE("the root says how much, post-processing where") {
  const space::design_space rules = post_order(module(space::cpu_tiling())) >>
                                    space::on<"root">(module(space::parallel_vectorize_unroll{}));
  for (const ir::function& f : {kernels::dense_relu(), kernels::conv2d(), kernels::softmax()}) {
    const std::vector<schedule> all = rules.sketches(f, two_threads(), 7);
    std::set<std::int64_t> steps;
    int vectors = 0, threads = 0;
    members::check(f, all,
                   [&](schedule& s) {
                     // 2 threads, 16 jobs each; the mutator doubles or halves
                     const ir::attr& jobs = notes_of_root(s).at("meta_schedule.parallel");
                     CHECK((jobs == ir::attr(16) || jobs == ir::attr(32) || jobs == ir::attr(64)));
                     CHECK(notes_of_root(s).at("meta_schedule.vectorize") == ir::attr(64));
                     steps.insert(std::get<std::int64_t>(
                         notes_of_root(s).at("meta_schedule.unroll_explicit").value));
                   },
                   {.finish = [&](schedule& s) {
                     space::rewrite_parallel_vectorize_unroll{}(s, two_threads());
                     CHECK(notes_of_root(s).empty());
                     vectors += loops_of_kind(s, ir::loop_kind::vectorized);
                     threads += loops_of_kind(s, ir::loop_kind::parallel);
                   }});
    CHECK(steps == std::set<std::int64_t>{0, 16, 64, 512});
    CHECK(vectors > 10);
    CHECK(threads > 50);
  }
}

TEST_CASE("nothing is asked for that was not wanted, and of the root only") {
  space::parallel_vectorize_unroll rule;
  rule.max_vectorize_extent = -1;
  rule.unroll.max_steps.clear();
  space::chooser choices;
  schedule one(kernels::dense_relu()), two(kernels::dense_relu()), chain(kernels::relu_chain());
  rule(one, "root", members::machine(), choices);
  CHECK(notes_of_root(one).empty());
  rule(two, "root", two_threads(), choices);
  CHECK(notes_of_root(two).size() == 1);
  space::parallel_vectorize_unroll{}(two, "P", two_threads(), choices);
  CHECK(notes_of_root(two).size() == 1);
  space::parallel_vectorize_unroll{}(chain, "root", members::machine(), choices);
  CHECK(notes_of_root(chain).count("meta_schedule.unroll_explicit") == 0);
}
