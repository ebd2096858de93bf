#include <tilewright/schedule/primitive/iterations/sparse_reorder.hpp>

#include "sparse_program.hpp"

using namespace tilewright;
using sparse_program::apply, sparse_program::product, sparse_program::sampled;

TEST_CASE("sparse_reorder: loops come in the order of the axes") {
  for (const std::vector<std::int64_t>& order :
       {std::vector<std::int64_t>{0, 1, 2}, {0, 2, 1}, {2, 0, 1}}) {
    schedule s(sparse_program::function(product));
    const block_rv b = apply(s, "sparse_reorder", s.get_block("c"), order);
    CAPTURE(s.show());
    const block_rv rows = s.get_block("c_o");
    // columns of the result are walked around rows, or inside of them
    CHECK(s.get_loops(rows).size() == (order[0] == 2 ? 2 : 1));
    CHECK(s.get_loops(b).size() == (order[0] == 2 ? 1 : 2));
    sparse_program::check(s, product);
  }
}

TEST_CASE("sparse_reorder: an order that comes back gives the same program") {
  const ir::function f = sparse_program::function(product);
  schedule s(f);
  block_rv b = apply(s, "sparse_reorder", s.get_block("c"), {2, 0, 1});
  CHECK_FALSE(ir::equal(s.function(), f));
  b = apply(s, "sparse_reorder", b, {1, 2, 0});
  CHECK(ir::equal(s.function(), f));
}

TEST_CASE("sparse_reorder: fused axes stay side by side") {
  schedule s(sparse_program::function(sampled));
  block_rv b = apply(s, "sparse_fuse", s.get_block("s"), {0, 1});
  check_refusal(s, "sparse_reorder", 4, [&] { apply(s, "sparse_reorder", b, {0, 2, 1}); });
  b = apply(s, "sparse_reorder", b, {2, 0, 1});
  sparse_program::check(s, sampled);
}

TEST_CASE("sparse_reorder: what is refused, and by which requirement") {
  {
    schedule s(sparse_program::function(product));
    const block_rv b = s.get_block("c");
    for (const std::vector<std::int64_t>& order :
         {std::vector<std::int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}, {0, 1, 2, 3}})
      check_refusal(s, "sparse_reorder", 3, [&] { apply(s, "sparse_reorder", b, order); });
    check_refusal(s, "sparse_reorder", 4, [&] { apply(s, "sparse_reorder", b, {1, 0, 2}); });
    const block_rv rows = s.get_block("c_o");
    check_refusal(s, "sparse_reorder", 2, [&] { apply(s, "sparse_reorder", rows, {0, 2, 1}); });
    s.parallel(s.get_loops(rows)[0]);
    check_refusal(s, "sparse_reorder", 1, [&] { apply(s, "sparse_reorder", b, {0, 2, 1}); });
  }
  {
    schedule s(sparse_program::function(sampled));
    const block_rv b = s.get_block("s");
    check_refusal(s, "sparse_reorder", 6, [&] { apply(s, "sparse_reorder", b, {2, 0, 1}); });
  }
  const std::string in_order =
      "    with T.sp_iter([I, J, K], \"RRR\", \"c\") as [i, j, k]:\n"
      "        c[0, 0] = c[0, 0] * T.float32(0.5) + a_1[i, j]\n";
  schedule s(sparse_program::function(in_order));
  const block_rv b = s.get_block("c");
  check_refusal(s, "sparse_reorder", 5, [&] { apply(s, "sparse_reorder", b, {2, 0, 1}); });
}
