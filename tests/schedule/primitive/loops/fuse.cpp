#include <tilewright/schedule/primitive/loops/fuse.hpp>

#include "../../programs.hpp"
#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("fuse: two and three loops") {
  const ir::function f = programs::elementwise({"i", "j", "k"}, {3, 5, 4});
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("B"));
  const loop_rv ij = s.fuse(i, j);
  CHECK(s.get(ij).var->name == "i_j_fused");
  CHECK(ir::is_int(s.get(ij).extent, 15));
  check_meaning(s, f);
  s.fuse(ij, k);
  CHECK(s.get_loops(s.block("B")).size() == 1);
  check_meaning(s, f);
  schedule t(f);
  const loop_rv all = t.fuse(t.get_loops(t.block("B")));
  CHECK(t.get(all).var->name == "i_j_k_fused");
  CHECK(ir::is_int(t.get(all).extent, 60));
  check_meaning(t, f);
}

TEST_CASE("fuse: one loop becomes a serial one") {
  const ir::function f = programs::elementwise({"i"}, {3});
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  s.parallel(i);
  const loop_rv fused = s.fuse(i);
  CHECK(s.get(fused).var->name == "i_fused");
  CHECK(s.get(fused).loop == ir::loop_kind::serial);
  check_refusal(s, "fuse", 0, [&] { s.fuse(i); });
  check_meaning(s, f);
}

TEST_CASE("fuse: unit loops") {
  const ir::function f = programs::elementwise({"i", "j", "k"}, {1, 8, 1});
  for (const bool preserve : {true, false}) {
    schedule s(f);
    const loop_rv fused = s.fuse(s.get_loops(s.block("B")), preserve);
    CHECK(ir::is_int(s.get(fused).extent, 8));
    check_meaning(s, f);
  }
}

TEST_CASE("fuse: splitting again restores the bindings") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 8});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i, j] = s.loops<2>(b);
  const auto [x, y] = s.split(s.fuse(i, j), {4, 8});
  CHECK(s.get(b).values[0].same(s.get(x).var));
  CHECK(s.get(b).values[1].same(s.get(y).var));
  check_meaning(s, f);
}

TEST_CASE("fuse: splitting then fusing restores the binding") {
  const ir::function f = programs::elementwise({"i"}, {32});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i] = s.loops<1>(b);
  const auto [i0, i1] = s.split(i, {infer, 4});
  const loop_rv fused = s.fuse(i0, i1);
  CHECK(s.get(b).values[0].same(s.get(fused).var));
  check_meaning(s, f);
}

TEST_CASE("fuse: symbolic extents") {
  const ir::var n = ir::make_var("N"), m = ir::make_var("M");
  const ir::function f = programs::elementwise({"i", "j"}, {n, m});
  schedule s(f);
  const auto [i, j] = s.loops<2>(s.block("B"));
  s.fuse(i, j);
  check_meaning(s, f, {{"N", 5}, {"M", 7}});
}

TEST_CASE("fuse: a mixture of index types takes the wider one") {
  const ir::function f = programs::elementwise({"i", "j"}, {std::int64_t{4}, 6});
  schedule s(f);
  const auto [i, j] = s.loops<2>(s.block("B"));
  CHECK(s.get(s.fuse(i, j)).var.type() == dtype::i64);
  check_meaning(s, f);
}

TEST_CASE("fuse: requirements by number") {
  const ir::function f = programs::matmul_relu(4, 6, 8);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [di, dj] = s.loops<2>(s.block("D"));
  const loop_rv ci = i, cj = j, ck = k, d = di, e = dj;  // clang 14 captures no structured bindings
  check_refusal(s, "fuse", 1, [&] { s.fuse(std::vector<loop_rv>{}); });
  check_refusal(s, "fuse", 1, [&] { s.fuse(ci, ci); });
  check_refusal(s, "fuse", 2, [&] { s.fuse(cj, ci); });
  check_refusal(s, "fuse", 2, [&] { s.fuse(ci, ck); });
  check_refusal(s, "fuse", 2, [&] { s.fuse(ci, d); });
  s.annotate(ck, "note", "x");
  check_refusal(s, "fuse", 4, [&] { s.fuse(cj, ck); });
  s.bind(ci, "blockIdx.x");
  check_refusal(s, "fuse", 4, [&] { s.fuse(ci, cj); });
  const loop_rv fused = s.fuse(d, e);
  check_refusal(s, "fuse", 0, [&] { s.fuse(d, e); });
  CHECK(ir::is_int(s.get(fused).extent, 24));
  check_schedule(s, f);
}

TEST_CASE("fuse: an inner extent that depends on the outer loop, and a loop from 1") {
  // for i in 4: for j in range(i + 1)
  const ir::buffer b = ir::make_buffer("B", dtype::f32, {4, 4});
  programs::nest n({"i", "j"}, {4, 4});
  ir::block_node node =
      programs::store_block("B", b, {n.v(0), n.v(1)}, ir::real(dtype::f32, 1), {});
  node.iters = n.iters;
  const ir::stmt realize =
      ir::make_realize(n.values(), ir::boolean(true), ir::make_block(std::move(node)));
  const auto program = [&](const ir::expr& from, const ir::expr& extent) {
    ir::function f;
    f.params = {{b, {}}};
    f.body = ir::make_root(
        ir::make_loop(n.loops[0], 0, 4, ir::make_loop(n.loops[1], from, extent, realize)));
    return f;
  };
  schedule triangle(program(0, n.loops[0] + 1));
  const std::vector<loop_rv> t = triangle.get_loops(triangle.block("B"));
  check_refusal(triangle, "fuse", 5, [&] { triangle.fuse(t); });
  schedule shifted(program(1, 3));
  const std::vector<loop_rv> u = shifted.get_loops(shifted.block("B"));
  check_refusal(shifted, "fuse", 3, [&] { shifted.fuse(u); });
}

TEST_CASE("fuse: the product of the extents must fit the index type") {
  const ir::function f = programs::elementwise({"i", "j"}, {1 << 20, 1 << 20});
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("B"));
  check_refusal(s, "fuse", 6, [&] { s.fuse(loops); });
}

TEST_CASE("fuse: an extent that the body overwrites") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), n: T.Buffer((1,), "int32"), B: T.Buffer((16, 16), "int32")):
    m = T.alloc_buffer((1,), "int32")
    with T.block("m"):
        m[0] = 8
    for i in range(4):
        for j in range(m[0]):
            with T.block("B"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.opaque(16, j)
                T.reads(A[vi])
                T.writes(B[vi, vj], m[0])
                B[vi, vj] = A[vi]
                m[0] = 7 - vi
)"));
  const auto loops = s.get_loops(s.block("B"));
  check_refusal(s, "fuse", 5, [&] { s.fuse(loops); });
}
