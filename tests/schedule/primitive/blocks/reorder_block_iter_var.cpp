#include <tilewright/schedule/primitive/blocks/reorder_block_iter_var.hpp>

#include "../../check_schedule.hpp"
#include "../../programs.hpp"

using namespace tilewright;

TEST_CASE("reorder_block_iter_var: variables move with their bindings, loops stay") {
  const ir::function f = programs::matmul(4, 6, 8);
  schedule s(f);
  const block_rv c = s.block("C");
  s.reorder_block_iter_var(c, {2, 0, 1});
  const ir::block_realize_node& now = s.get(c);
  CHECK(now.block->iters[0].kind == ir::iter_kind::reduce);
  CHECK(ir::is_int(now.block->iters[1].dom.extent, 4));
  const std::vector<loop_rv> loops = s.get_loops(c);
  CHECK(now.values[0].same(s.get(loops[2]).var));
  CHECK(now.values[2].same(s.get(loops[1]).var));
  check_meaning(s, f);
}

TEST_CASE("reorder_block_iter_var: what is no permutation is refused") {
  schedule s(programs::matmul(4, 6, 8));
  const block_rv c = s.block("C");
  for (const std::vector<std::int64_t>& order :
       {std::vector<std::int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}, {0, 1, 2, 3}})
    check_refusal(s, "reorder_block_iter_var", 1, [&] { s.reorder_block_iter_var(c, order); });
}
