#include <tilewright/impl/schedule/legality/watched_parts.hpp>

#include <vector>

#include <doctest/doctest.h>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

namespace {

/// What a walk over all of the program finds says the same, however many programs before left their parts with statements.
void check_parts(const schedule& s) {
  const primitive::detail::watched_parts found(s.function());
  std::vector<const ir::block_node*> copies;
  std::vector<const ir::block_realize_node*> renaming;
  bool run_at_once = false;
  ir::any_stmt(s.function().body, [&](const ir::stmt& x) {
    if (const ir::loop_node* loop = ir::as_loop(x))
      run_at_once = run_at_once || dependence::runs_at_once(*loop);
    if (const ir::block_realize_node* r = ir::as_realize(x)) {
      if (r->block->annotations.count(ir::auto_copy)) copies.push_back(r->block.get());
      if (!r->block->match_buffers.empty()) renaming.push_back(r);
    }
    return false;
  });
  CHECK(found.copies == copies);
  CHECK(found.renaming == renaming);
  CHECK(found.run_at_once == run_at_once);
}

}  // namespace

TEST_CASE("watched_parts: as a walk over the whole program finds them, after each primitive") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 8});
  schedule s(f);
  check_parts(s);
  const block_rv b = s.block("B");
  const auto [i, j] = s.loops<2>(b);
  s.bind(i, "threadIdx.x");
  check_parts(s);
  const block_rv copy = s.read_at(i, b, 0, "local");
  check_parts(s);
  schedule other = s;  // shares statements with the first one
  s.annotate(copy, "meta_schedule.vector_bytes", 16);
  check_parts(s);
  s.unannotate(copy, "auto_copy");
  check_parts(s);
  check_parts(other);
  other.unroll(i);  // nothing runs at once any more
  check_parts(other);
  check_parts(s);
}

TEST_CASE("watched_parts: views of buffers, deep in a program and in the init of a block") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 8});
  schedule s(f);
  const primitive::detail::watched_parts none(s.function());
  CHECK(none.copies.empty());
  CHECK(none.renaming.empty());
  const ir::buffer a = f.params[0].buffer;
  ir::block_node view;
  view.name = "view";
  view.match_buffers.push_back({ir::make_buffer("V", a->type, a->shape), ir::full_region(a)});
  view.body = ir::make_evaluate(0);
  const ir::stmt inner = ir::make_realize({}, ir::boolean(true), ir::make_block(view));
  ir::block_node outer;
  outer.name = "outer";
  outer.init = inner;
  outer.body =
      ir::make_loop(ir::make_var("k"), 0, 4, ir::make_evaluate(0), ir::loop_kind::parallel);
  ir::function g = f;
  g.body = ir::make_root(ir::make_realize({}, ir::boolean(true), ir::make_block(outer)));
  const primitive::detail::watched_parts found(g);
  REQUIRE(found.renaming.size() == 1);
  CHECK(found.renaming[0] == ir::as_realize(inner));
  CHECK(found.run_at_once);
}
