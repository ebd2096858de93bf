#include <tilewright/schedule/primitive/blocks/transform_block_layout.hpp>

#include "../../check_schedule.hpp"
#include "../../programs.hpp"
#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("transform_block_layout: two loops become one") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 6});
  schedule s(f);
  const block_rv b = s.block("B");
  s.transform_block_layout(b, "lambda i, j: (i * 6 + j,)");
  const std::vector<loop_rv> loops = s.get_loops(b);
  REQUIRE(loops.size() == 1);
  CHECK(ir::is_int(s.get(loops[0]).extent, 24));
  CHECK(s.get(loops[0]).var->name == "ax0");
  check_meaning(s, f);
}

TEST_CASE("transform_block_layout: reductions are split and moved") {
  const ir::function f = programs::matmul(4, 6, 8);
  schedule s(f);
  const block_rv c = s.block("C");
  s.transform_block_layout(c, "lambda i, j, k: (k // 4, i * 6 + j, k % 4, 0)");
  const ir::block_node& now = *s.get(c).block;
  REQUIRE(now.iters.size() == 4);
  CHECK(now.iters[0].kind == ir::iter_kind::reduce);
  CHECK(now.iters[1].kind == ir::iter_kind::spatial);
  CHECK(now.iters[2].kind == ir::iter_kind::reduce);
  CHECK(now.iters[3].kind == ir::iter_kind::spatial);
  check_meaning(s, f);
}

TEST_CASE("transform_block_layout: integers of the schedule in the map") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 6});
  schedule s(f);
  const block_rv b = s.block("B");
  const expr_rv t = s.sample_perfect_tile(s.get_loops(b)[1], 2, 16, decision{2, 3})[1];
  s.transform_block_layout(b, {"lambda i, j: (j // t, i, j % t)", {{"t", t}}});
  CHECK(ir::is_int(s.get(s.get_loops(b)[0]).extent, 2));
  CHECK(s.trace().simplified().size() == s.trace().size() - 1);  // without the last get_loops
  check_meaning(s, f);
}

TEST_CASE("transform_block_layout: requirements by number") {
  const ir::function f = programs::matmul(4, 6, 8);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto refused = [&](int requirement, const char* map) {
    CAPTURE(std::string(map));
    check_refusal(s, "transform_block_layout", requirement,
                  [&] { s.transform_block_layout(c, map); });
  };
  refused(1, "lambda i, j: (i, j)");
  refused(4, "lambda i, j, k: (i, j * 8 + k)");
  refused(5, "lambda i, j, k: (i + j, k)");
  refused(5, "lambda i, j, k: (i, j // 4, j % 4, k)");
  refused(5, "lambda i, j, k: (i, j * 2, k)");
  refused(5, "lambda i, j, k: (i + 1, j, k)");
  refused(5, "lambda i, j, k: (i, j, k // 2)");
  const std::vector<loop_rv> loops = s.get_loops(c);
  s.reorder(loops[1], loops[0]);
  refused(2, "lambda i, j, k: (i, j, k)");
  schedule apart(f);
  const block_rv d = apart.block("C");
  apart.decompose_reduction(d, apart.get_loops(d)[2]);
  const block_rv update = apart.block("C_update");
  check_refusal(apart, "transform_block_layout", 3,
                [&] { apart.transform_block_layout(update, "lambda i, j, k: (i, j, k)"); });
  schedule plain(f);
  CHECK_THROWS_AS(plain.transform_block_layout(plain.block("C"), "lambda i, j, k: (i, j, k * n)"),
                  argument_error);
}

TEST_CASE("transform_block_layout: a constant of a wider type keeps it") {
  const ir::function f = programs::elementwise({"i", "j"}, {1, 6});
  schedule s(f);
  const block_rv b = s.block("B");
  s.transform_block_layout(b, "lambda i, j: (T.int64(0), j // 3, j % 3, 0)");
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((1, 6), "float32"), B: T.Buffer((1, 6), "float32")):
    for x in range(T.int64(1)):
        for o, i, y in T.grid(2, 3, 1):
            with T.block("B"):
                vx = T.axis.spatial(T.int64(1), x)
                vo, vi, vy = T.axis.remap("SSS", [o, i, y])
                T.reads(A[0, vo * 3 + vi])
                T.writes(B[0, vo * 3 + vi])
                B[0, vo * 3 + vi] = A[0, vo * 3 + vi] * T.float32(2) + T.float32(1)
)");
  check_meaning(s, f);
}

TEST_CASE("transform_block_layout: a loop over a part of the domain stays one") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * T.float32(2)
)");
  schedule s(f);
  const block_rv b = s.block("B");
  check_refusal(s, "transform_block_layout", 3,
                [&] { s.transform_block_layout(b, "lambda i: (i,)"); });
}

TEST_CASE("transform_block_layout: a triangle is no box") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6, 6), "int32")):
    for i in range(6):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  const block_rv b = s.block("B");
  check_refusal(s, "transform_block_layout", 3,
                [&] { s.transform_block_layout(b, "lambda i, j: (j, i)"); });
}

TEST_CASE("transform_block_layout: what depends on the order or on a loop itself") {
  schedule scan(ir::parse(R"(@T.prim_func
def main(Y: T.Buffer((17,), "int32")):
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi + 1] = Y[vi] + 1
)"));
  const char* digits = "lambda i: (i % 4, i // 4)";
  const block_rv y = scan.block("Y");
  check_refusal(scan, "transform_block_layout", 6, [&] { scan.transform_block_layout(y, digits); });
  schedule loop(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), X: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("X"):
            vi = T.axis.spatial(16, i)
            X[vi] = A[i]
)"));
  const block_rv x = loop.block("X");
  check_refusal(loop, "transform_block_layout", 2, [&] { loop.transform_block_layout(x, digits); });
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), X: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("X"):
            vi = T.axis.spatial(16, i)
            X[vi] = X[vi] + A[vi]
)");
  schedule in_place(f);
  in_place.transform_block_layout(in_place.block("X"), digits);
  check_meaning(in_place, f);
}

TEST_CASE(
    "transform_block_layout: a block that sees loops outside of its scope gets no variables") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7,), "int32"), D: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((7,), "int32")
    for i in range(4):
        for j in range(4):
            with T.block("B"):
                v = T.axis.spatial(7, i + j)
                B[v] = A[v] * 2
        with T.block("D"):
            v = T.axis.spatial(4, i)
            D[v] = B[v] + B[v + 3]
)"));
  s.loop_partition(s.get_loops(s.block("B"))[1], {1, infer});
  const block_rv part = s.block("B_j0_partition");
  check_refusal(s, "transform_block_layout", 2,
                [&] { s.transform_block_layout(part, "lambda : (0,)"); });
}
