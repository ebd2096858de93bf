#include <tilewright/schedule/primitive/iterations/sparse_fuse.hpp>

#include <tilewright/ir/text/parse.hpp>

#include "sparse_program.hpp"

using namespace tilewright;
using sparse_program::apply, sparse_program::product, sparse_program::sampled;

TEST_CASE("sparse_fuse: rows and their elements become one loop over all elements") {
  schedule s(sparse_program::function(sampled));
  const block_rv b = apply(s, "sparse_fuse", s.get_block("s"), {0, 1});
  CHECK(sparse_program::iterations_of(s).find("T.sp_iter([T.fuse(I, J), K], \"SSR\", \"s\")") !=
        std::string::npos);
  const auto [elements, depth] = s.loops<2>(b);
  CHECK(ir::is_int(s.get(elements).extent, 5));
  CHECK(s.get(b).block->iters[0].kind == ir::iter_kind::spatial);
  sparse_program::check(s, sampled);
  s.parallel(elements);  // each has a place of its own
  s.split(depth, {2, 1});
  sparse_program::check(s, sampled);
}

TEST_CASE(
    "sparse_fuse: a sum over rows is initialized apart, and its elements are added in order") {
  schedule s(sparse_program::function(product));
  const block_rv b = apply(s, "sparse_fuse", s.get_block("c"), {0, 1});
  CHECK(s.get(b).block->iters[0].kind == ir::iter_kind::reduce);
  CHECK_FALSE(s.get(b).block->init);
  sparse_program::check(s, product);
  const loop_rv elements = s.get_loops(b)[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(elements); });
}

TEST_CASE("sparse_fuse: both iterations of a program share the list of rows") {
  schedule s(sparse_program::function(sampled + product));
  apply(s, "sparse_fuse", s.get_block("s"), {0, 1});
  apply(s, "sparse_fuse", s.get_block("c"), {0, 1});
  const std::string shown = s.show();
  CHECK(shown.find("J_parent") != std::string::npos);
  CHECK(shown.find("J_parent_1") == std::string::npos);
  sparse_program::check(s, sampled + product);
}

TEST_CASE("sparse_fuse: what is refused, and by which requirement") {
  {
    schedule s(sparse_program::function(sampled));
    const block_rv b = s.get_block("s");
    for (const std::vector<std::int64_t>& axes :
         {std::vector<std::int64_t>{0}, {0, 2}, {1, 0}, {2, 3}, {-1, 0}, {}})
      check_refusal(s, "sparse_fuse", 3, [&] { apply(s, "sparse_fuse", b, axes); });
    check_refusal(s, "sparse_fuse", 4, [&] { apply(s, "sparse_fuse", b, {1, 2}); });
    check_refusal(s, "sparse_fuse", 4, [&] { apply(s, "sparse_fuse", b, {0, 1, 2}); });
    const block_rv rows = s.get_block("s_o");
    check_refusal(s, "sparse_fuse", 2, [&] { apply(s, "sparse_fuse", rows, {0, 1}); });
  }
  {
    schedule s(sparse_program::function(sampled));
    const block_rv b = s.get_block("s");
    s.parallel(s.get_loops(s.get_block("s_o"))[0]);
    check_refusal(s, "sparse_fuse", 1, [&] { apply(s, "sparse_fuse", b, {0, 1}); });
  }
  schedule s(
      ir::parse("@T.prim_func\n"
                "def g(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                "    for i in range(8):\n"
                "        with T.block(\"B\"):\n"
                "            vi = T.axis.spatial(8, i)\n"
                "            B[vi] = A[vi]\n"));
  const block_rv b = s.get_block("B");
  check_refusal(s, "sparse_fuse", 1, [&] { apply(s, "sparse_fuse", b, {0, 1}); });
}

TEST_CASE("sparse_fuse: patterns that meet are no single loop") {
  const std::string met =
      "    with T.sp_iter([I, J], \"SS\", \"s\") as [i, j]:\n"
      "        s_1[i, j] = a_1[i, j] * a_1[i, 0]\n";
  schedule s(sparse_program::function(met));
  const block_rv b = s.get_block("s");
  check_refusal(s, "sparse_fuse", 5, [&] { apply(s, "sparse_fuse", b, {0, 1}); });
}

TEST_CASE("sparse_fuse: annotations of an iteration's block are those of the iteration") {
  schedule s(sparse_program::function(sampled + product));
  s.annotate(s.get_block("s"), "note", 1);
  s.annotate(s.get_block("s"), "other", 2);
  s.unannotate(s.get_block("s"), "note");
  s.annotate(s.get_block("c"), "third", 3);
  const block_rv b = apply(s, "sparse_fuse", s.get_block("s"), {0, 1});
  CHECK(s.get(b).block->annotations == ir::annotations{{"other", ir::attr(2)}});
  CHECK(s.get(s.get_block("c")).block->annotations == ir::annotations{{"third", 3}});
  CHECK(sparse_program::iterations_of(s).find("T.block_attr({\"other\": 2})") != std::string::npos);
  sparse_program::check(s, sampled + product);
  s.unannotate(b, "other");  // also of what the iteration has become
  apply(s, "sparse_reorder", s.get_block("c"), {2, 0, 1});
  CHECK(s.get(s.get_block("s")).block->annotations.empty());
  sparse_program::check(s, sampled + product);
}

TEST_CASE("sparse_fuse: an annotation of rows is none of the iteration") {
  schedule s(sparse_program::function(sampled));
  s.annotate(s.get_block("s_o"), "note", 1);
  const block_rv b = s.get_block("s");
  check_refusal(s, "sparse_fuse", 1, [&] { apply(s, "sparse_fuse", b, {0, 1}); });
}
