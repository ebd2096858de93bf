#include <tilewright/schedule/primitive/loops/loop_partition.hpp>

#include <tilewright/ir/text/parse.hpp>

#include "../../check_schedule.hpp"
#include "../../programs.hpp"

using namespace tilewright;

TEST_CASE("loop_partition: consecutive ranges in blocks of their own") {
  const ir::function f = programs::elementwise({"i", "j"}, {16, 8});
  schedule s(f);
  const std::vector<loop_rv> parts =
      s.loop_partition(s.get_loops(s.block("B"))[0], {factor(2), infer, factor(5)});
  REQUIRE(parts.size() == 3);
  CHECK(ir::is_int(s.get(parts[1]).min, 2));
  CHECK(ir::is_int(s.get(parts[1]).extent, 9));
  CHECK(ir::is_int(s.get(parts[2]).min, 11));
  CHECK(ir::is_int(s.get(s.block("B_i1")).block->iters[0].dom.min, 2));
  CHECK(s.get_child_blocks(s.block("B_i_common")).size() == 3);
  const ir::block_node& middle = *s.get(s.block("B_i1_partition")).block;
  REQUIRE(middle.writes.size() == 1);
  CHECK(ir::is_int(middle.writes[0].box[0].extent, 9));
  check_meaning(s, f);
}

TEST_CASE("loop_partition: what the factors leave is the last part") {
  const ir::function f = programs::elementwise({"i"}, {16});
  schedule s(f);
  CHECK(s.loop_partition(s.get_loops(s.block("B"))[0], {factor(2), factor(1)}).size() == 3);
  const loop_rv last = s.get_loops(s.block("B_i2"))[0];
  CHECK(ir::is_int(s.get(last).extent, 13));
  check_meaning(s, f);
}

TEST_CASE("loop_partition: loops of a reduction are refused") {
  schedule s(programs::matmul(4, 6, 8));
  const std::vector<loop_rv> loops = s.get_loops(s.block("C"));
  check_refusal(s, "loop_partition", 7, [&] { s.loop_partition(loops[2], {factor(3), infer}); });
  s.loop_partition(loops[1], {factor(2), infer});
  check_meaning(s, programs::matmul(4, 6, 8));
}

TEST_CASE("loop_partition: loops inside are copies and can be scheduled apart") {
  const ir::function f = programs::elementwise({"i", "j"}, {16, 8});
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("B"))[0], {factor(12), infer});
  const loop_rv a = s.get_loops(s.block("B_i0"))[1], b = s.get_loops(s.block("B_i1"))[1];
  CHECK_FALSE(s.get(a).var.same(s.get(b).var));
  s.split(a, {infer, 4});
  s.vectorize(b);
  check_meaning(s, f);
}

TEST_CASE(
    "loop_partition: blocks around the parts declare what extents of iterators are read from") {
  // extents of reduce iterators stand where the block stands, not in it
  const ir::function f = ir::parse(R"(@T.prim_func
def main(p: T.Buffer((2,), "int32"), a: T.Buffer((8,), "int32"), c: T.Buffer((4,), "int32")):
    for j, k in T.grid(p[1] - p[0], 4):
        with T.block("c"):
            vj = T.axis.reduce(p[1] - p[0], j)
            vk = T.axis.spatial(4, k)
            T.reads(a[vj])
            T.writes(c[vk])
            with T.init():
                c[vk] = 0
            c[vk] = c[vk] + a[vj]
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("c"))[1], {factor(3), infer});
  CHECK_NOTHROW(ir::verify(s.function()));
}

TEST_CASE("loop_partition: requirements by number") {
  const ir::function f = programs::elementwise({"i", "j"}, {16, 8});
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  const auto refused = [&](int requirement, const std::vector<factor>& factors) {
    check_refusal(s, "loop_partition", requirement, [&] { s.loop_partition(i, factors); });
  };
  refused(1, {infer, infer});
  refused(2, {factor(0), infer});
  refused(2, {factor(-3)});
  refused(5, {factor(15), factor(1)});
  refused(5, {factor(8), factor(8), infer});
  s.bind(i, "threadIdx.x");
  refused(3, {factor(8)});
  schedule symbolic(programs::elementwise({"i"}, {ir::make_var("n")}));
  const loop_rv n = symbolic.get_loops(symbolic.block("B"))[0];
  check_refusal(symbolic, "loop_partition", 4, [&] { symbolic.loop_partition(n, {factor(8)}); });
}

TEST_CASE("loop_partition: names that are taken get numbers") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("B_i_common"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("B"))[0], {infer, 3});
  CHECK(s.get(s.block("B_i_common_1")).block->iters.empty());
  CHECK(s.get(s.block("B_i_common")).block->iters.size() == 1);
  check_meaning(s, f);
}

TEST_CASE("loop_partition: each part has its own views, with what they define") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), E: T.Buffer((4, 3), "int32")):
    for i in range(4):
        with T.block("E"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:3])
            T.writes(E[vi, 0:3])
            s = T.int32()
            o = T.int32()
            V = T.match_buffer(E[vi, 0:3], (3,), "int32", strides=(s,), elem_offset=o)
            for j in range(3):
                V[j] = A[vi, j] * 2
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("E"))[0], {1, infer});
  CHECK(ir::equal(ir::parse(s.show()), s.function()));
  check_meaning(s, f);
}

TEST_CASE("loop_partition: a loop of statements, which no block holds") {
  // get_loops never gives such a loop, so that the function is called itself.
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32")):
    with T.block("root"):
        for i in range(8):
            A[i] = i
)");
  const ir::var i = ir::as_loop(ir::root_block(f)->body)->var;
  try {
    primitive::loop_partition(f, i, {std::nullopt, 3});
    FAIL_CHECK("nothing is refused");
  } catch (const schedule_error& e) {
    CHECK(e.requirement() == 6);
  }
}
