#include <tilewright/schedule/primitive/loops/reorder.hpp>

#include <functional>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>

#include "../../check_schedule.hpp"
#include "../../programs.hpp"

using namespace tilewright;

namespace {

std::vector<std::string> names(const schedule& s, block_rv b) {
  std::vector<std::string> out;
  schedule t = s;  // the query stays out of the trace
  for (const loop_rv l : t.get_loops(b)) out.push_back(t.get(l).var->name);
  return out;
}
using text = std::vector<std::string>;

}  // namespace

TEST_CASE("reorder: named loops trade places, the others stay") {
  const ir::function f = programs::matmul(4, 6, 8);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j, k] = s.loops<3>(c);
  s.reorder(k, i);
  CHECK(names(s, c) == text{"k", "j", "i"});
  check_meaning(s, f);
  s.reorder(j, i, k);
  CHECK(names(s, c) == text{"j", "i", "k"});
  check_meaning(s, f);
}

TEST_CASE("reorder: none or one loop is nothing to do") {
  const ir::function f = programs::matmul(2, 2, 2);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const ir::stmt before = s.function().body;
  s.reorder(std::vector<loop_rv>{});
  s.reorder(j);
  CHECK(s.function().body == before);
  check_schedule(s, f);
}

TEST_CASE("reorder: tiles of a matrix product") {
  const ir::function f = programs::matmul(12, 10, 9);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto [i0, i1] = s.split(i, {infer, 4});
  const auto [j0, j1] = s.split(j, {infer, 5});
  const auto [k0, k1] = s.split(k, {infer, 3});
  s.reorder(i0, j0, k0, i1, j1, k1);
  CHECK(names(s, c) == text{"i_0", "j_0", "k_0", "i_1", "j_1", "k_1"});
  check_meaning(s, f);
}

TEST_CASE("reorder: a guarded tile") {
  const ir::function f = programs::matmul(5, 7, 3);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [i0, i1] = s.split(i, {infer, 2});
  const auto [j0, j1] = s.split(j, {infer, 4});
  s.reorder(i0, j0, k, i1, j1);
  check_meaning(s, f);
}

TEST_CASE("reorder: kinds and annotations travel with their loops") {
  const ir::function f = programs::elementwise({"i", "j"}, {4, 8});
  schedule s(f);
  const auto [i, j] = s.loops<2>(s.block("B"));
  s.unroll(i);
  s.annotate(j, "note", "x");
  s.reorder(j, i);
  CHECK(s.get(i).loop == ir::loop_kind::unrolled);
  CHECK(s.get(j).annotations.count("note") == 1);
  check_meaning(s, f);
}

TEST_CASE("reorder: requirements by number") {
  const ir::function f = programs::matmul_relu(4, 6, 8);
  schedule s(f);
  const auto i_j_k = s.loops<3>(s.block("C"));
  const loop_rv i = i_j_k[0], k = i_j_k[2];
  const auto di_dj = s.loops<2>(s.block("D"));
  const loop_rv di = di_dj[0];
  const loop_rv ci = i, ck = k, d = di;
  check_refusal(s, "reorder", 1, [&] { s.reorder(ck, ci, ck); });
  check_refusal(s, "reorder", 2, [&] { s.reorder(ck, d); });
}

TEST_CASE("reorder: a statement between the loops") {
  // for i: { A block; for j: B block }
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {4}),
                   b = ir::make_buffer("B", dtype::f32, {4, 4});
  programs::nest outer({"i"}, {4}), inner({"i", "j"}, {4, 4});
  ir::block_node first =
      programs::store_block("first", a, {outer.v(0)}, ir::real(dtype::f32, 1), {});
  first.iters = outer.iters;
  ir::block_node second =
      programs::store_block("second", b, {inner.v(0), inner.v(1)}, ir::real(dtype::f32, 1), {});
  second.iters = inner.iters;
  const ir::var i = outer.loops[0], j = inner.loops[1];
  ir::function f;
  f.params = {{a, {}}, {b, {}}};
  f.body = ir::make_root(ir::make_loop(
      i, 0, 4,
      ir::make_seq({ir::make_realize({i}, ir::boolean(true), ir::make_block(std::move(first))),
                    ir::make_loop(j, 0, 4,
                                  ir::make_realize({i, j}, ir::boolean(true),
                                                   ir::make_block(std::move(second))))})));
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("second"));
  check_refusal(s, "reorder", 2, [&] { s.reorder(loops[1], loops[0]); });
}

TEST_CASE(
    "reorder: a range that uses an outer loop, an ordered iterator, bindings that are no map") {
  const ir::buffer b = ir::make_buffer("B", dtype::f32, {4, 4});
  programs::nest n({"i", "j"}, {4, 4});
  const auto program = [&](const ir::expr& extent, ir::iter_kind kind,
                           std::vector<ir::expr> values) {
    ir::block_node node =
        programs::store_block("B", b, {n.v(0), n.v(1)}, ir::real(dtype::f32, 1), {});
    node.iters = n.iters;
    node.iters[1].kind = kind;
    ir::function f;
    f.params = {{b, {}}};
    f.body = ir::make_root(
        ir::make_loop(n.loops[0], 0, 4,
                      ir::make_loop(n.loops[1], 0, extent,
                                    ir::make_realize(std::move(values), ir::boolean(true),
                                                     ir::make_block(std::move(node))))));
    return f;
  };
  const auto refused = [&](const ir::function& f, int requirement) {
    schedule s(f);
    const std::vector<loop_rv> l = s.get_loops(s.block("B"));
    check_refusal(s, "reorder", requirement, [&] { s.reorder(l[1], l[0]); });
  };
  refused(program(n.loops[0] + 1, ir::iter_kind::spatial, n.values()), 3);
  refused(program(4, ir::iter_kind::ordered, n.values()), 4);
  refused(program(4, ir::iter_kind::opaque, n.values()), 4);
  refused(
      program(4, ir::iter_kind::spatial, {n.loops[0], ir::floordiv(n.loops[0] + n.loops[1], 2)}),
      5);
}

TEST_CASE("reorder: a guard that breaks the map") {
  const ir::function whole = programs::elementwise({"i", "j"}, {6, 6});
  const auto guarded_by = [&](const std::function<ir::expr(ir::expr, ir::expr)>& condition) {
    const std::uint64_t id = primitive::get_block(whole, "B");
    const primitive::path at = primitive::find_block(whole, id);
    const ir::block_realize_node& old = *ir::as_realize(at.target());
    return primitive::replace(
        whole, at,
        ir::make_realize(old.values, condition(old.values[0], old.values[1]), old.block));
  };
  schedule s(guarded_by([](ir::expr i, ir::expr j) { return ir::lt(i + j, 7); }));
  const auto i_j = s.loops<2>(s.block("B"));
  const loop_rv i = i_j[0], j = i_j[1];
  check_refusal(s, "reorder", 5, [&] { s.reorder(j, i); });

  // a guard that only ends the domain does not: 36 instances in 5 x 8
  schedule t(whole);
  const auto ti_tj = t.loops<2>(t.block("B"));
  const loop_rv ti = ti_tj[0], tj = ti_tj[1];
  const auto outer_inner = t.split(t.fuse(ti, tj), {infer, 8});
  const loop_rv outer = outer_inner[0], inner = outer_inner[1];
  t.reorder(inner, outer);
  check_meaning(t, whole);
}

TEST_CASE("reorder: loops fused from spatial and reduce ones keep their order") {
  const ir::function f = programs::matmul(3, 4, 5);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto i_j_k = s.loops<3>(c);
  const loop_rv i = i_j_k[0], j = i_j_k[1], k = i_j_k[2];
  const loop_rv fused = s.fuse(j, k);
  const auto outer_inner = s.split(fused, {infer, 2});
  const loop_rv outer = outer_inner[0], inner = outer_inner[1];
  s.reorder(outer, i, inner);
  // with `inner` outside, accumulation would start at instances that do not initialise
  check_refusal(s, "reorder", 6, [&] { s.reorder(inner, outer); });
  check_meaning(s, f);
}

TEST_CASE("reorder: a reduction that is recomputed stays inside of the loops that repeat it") {
  const ir::function f = programs::matmul_relu(3, 4, 5);
  schedule s(f);
  const block_rv c = s.block("C"), d = s.block("D");
  const auto [i, j] = s.loops<2>(d);
  s.split(j, {infer, 1, 2});
  s.compute_at(c, s.get_loops(d)[1], true);  // under i and the outer part of j
  const std::vector<loop_rv> loops = s.get_loops(c);
  REQUIRE(loops.size() == 5);
  s.reorder(loops[4], loops[3]);
  check_meaning(s, f);
}

TEST_CASE("reorder: instances that run again") {
  // S[vi] = sum over vj of A[vi, vj], under a loop that it does not depend on
  ir::function f = programs::matmul(3, 1, 5);
  const ir::stmt nest = ir::root_block(f)->body;
  const ir::loop_node& i = *ir::as_loop(nest);
  const ir::loop_node& j = *ir::as_loop(i.body);
  const ir::var again = ir::make_var("again");
  f.body = ir::make_root(ir::with_body(i, ir::make_loop(again, 0, 4, ir::with_body(j, j.body))));
  schedule s(f);
  const std::vector<loop_rv> l = s.get_loops(s.block("C"));
  s.reorder(l[1], l[0]);
  check_meaning(s, f);
  check_refusal(s, "reorder", 7, [&] { s.reorder(l[3], l[1]); });
  const block_rv c = s.block("C");
  check_refusal(s, "decompose_reduction", 5, [&] { s.decompose_reduction(c, l[1]); });
}

TEST_CASE("reorder: steps that overlap") {
  // rows 2 * i + j run up to twice
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 3), "int32"), B: T.Buffer((7, 3), "int32")):
    for i, j, k in T.grid(3, 3, 3):
        with T.block("B"):
            v = T.axis.S(7, i * 2 + j)
            w = T.axis.S(3, k)
            B[v, w] = A[v, w] + 1
)");
  schedule s(f);
  const std::vector<loop_rv> l = s.get_loops(s.block("B"));
  s.reorder(l[2], l[0]);
  CHECK(names(s, s.block("B")) == text{"k", "j", "i"});
  check_meaning(s, f);
}

TEST_CASE("reorder: guards that bound nothing the bindings are made of") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(B: T.Buffer((6, 6), "int32")):
    for i, j in T.grid(6, 6):
        with T.block("B"):
            v, w = T.axis.remap("SS", [i, j])
            T.where(i * 6 + j < 4)
            B[v, w] = v + w
)");
  schedule s(f);
  const std::vector<loop_rv> l = s.get_loops(s.block("B"));
  s.reorder(l[1], l[0]);
  check_meaning(s, f);

  // the guards of splits are bounds
  const ir::function whole = programs::elementwise({"i", "j"}, {6, 6});
  schedule t(whole);
  const auto ij = t.loops<2>(t.block("B"));
  const auto tiles = t.split(ij[1], {infer, 4});
  t.reorder(tiles[0], ij[0], tiles[1]);
  check_meaning(t, whole);
}

TEST_CASE("reorder: blocks that write the same elements") {
  schedule s(ir::parse(R"(@T.prim_func
def main(Y: T.Buffer((9, 9), "int32")):
    for i in range(8):
        for j in range(8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj + 1] = 1
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi + 1, vj] = 2
)"));
  const auto loops = s.get_loops(s.block("A"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: a block without variables that reads what it wrote") {
  schedule s(ir::parse(R"(@T.prim_func
def main(Y: T.Buffer((9, 9), "int32")):
    for i in range(8):
        for j in range(8):
            with T.block("A"):
                T.reads(Y[i, j + 1])
                T.writes(Y[i + 1, j])
                Y[i + 1, j] = Y[i, j + 1] + 3
)"));
  const auto loops = s.get_loops(s.block("A"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: bounds that the body overwrites") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), n: T.Buffer((1,), "int32"), B: T.Buffer((16, 16), "int32")):
    m = T.alloc_buffer((1,), "int32")
    with T.block("m"):
        m[0] = 8
    for i in range(4):
        for j in range(m[0]):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(16, j)
                T.reads(A[vi])
                T.writes(B[vi, vj], m[0])
                B[vi, vj] = A[vi]
                m[0] = 7 - vi
)"));
  const auto loops = s.get_loops(s.block("B"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: writes that keep their order") {
  for (const char* second : {"vi, vj", "vi, vj + 8", "vi + 8, vj"}) {
    CAPTURE(second);
    const ir::function f = ir::parse(R"(@T.prim_func
def main(Y: T.Buffer((16, 16), "int32"), Z: T.Buffer((8, 8, 8), "int32")):
    for i, j in T.grid(8, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = 1
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[)" + std::string(second) +
                                     R"(] = 2
        for k in range(8):
            with T.block("Z"):
                Z[i, j, k] = Z[i, j, k] + i * 8 + j
)");
    schedule s(f);
    const auto loops = s.get_loops(s.block("A"));
    s.reorder({loops[1], loops[0]});
    check_meaning(s, f);
  }
}

TEST_CASE("reorder: a block that reads what other instances wrote") {
  schedule s(ir::parse(R"(@T.prim_func
def main(Y: T.Buffer((10, 10), "int32")):
    for i in range(9):
        for j in range(9):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi + 1, vj] = Y[vi, vj + 1] + 1
)"));
  const auto loops = s.get_loops(s.block("A"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: instances that write the same elements") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((9, 9), "int32"), Y: T.Buffer((17,), "int32")):
    for i in range(9):
        for j in range(9):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi + vj] = A[vi, vj]
)"));
  const auto loops = s.get_loops(s.block("A"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: a block that sees how far updates have come") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4, 4), "int32"), S: T.Buffer((4,), "int32"), Y: T.Buffer((4, 4, 4), "int32")):
    for i in range(4):
        for j in range(4):
            for k in range(4):
                with T.block("S"):
                    vi, vj, vk = T.axis.remap("SRR", [i, j, k])
                    S[vi] = S[vi] + A[vi, vj, vk]
                with T.block("Y"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    Y[vi, vj, vk] = S[vi]
)"));
  const auto loops = s.get_loops(s.block("S"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[2], loops[1]}); });
}

TEST_CASE("reorder: a scan that has an init") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((9,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi + 1] = 0
            C[vi + 1] = C[vi + 1] + A[vi, vk] * C[vi]
)"));
  const auto loops = s.get_loops(s.block("C"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: places that come back after two steps") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((13,), "int32")):
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi * 8 - vi // 2 * 16 + (vj * 4 - vj // 2 * 8)] = A[vi, vj]
)"));
  const auto loops = s.get_loops(s.block("C"));
  check_refusal(s, "reorder", 8, [&] { s.reorder({loops[1], loops[0]}); });
}

TEST_CASE("reorder: a sum per number whose digits have a symbolic extent") {
  schedule s(ir::parse(R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (6, n, 12), "int32")
    C = T.match_buffer(c, (6, n), "int32")
    for f, u, k0, k1 in T.grid(n * 6, 1, 4, 3):
        with T.block("C"):
            vi = T.axis.spatial(6, (f + u) // n)
            vj = T.axis.spatial(n, (f + u) % n)
            vk = T.axis.reduce(12, k0 * 3 + k1)
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
)"));
  const auto loops = s.get_loops(s.block("C"));
  s.reorder({loops[2], loops[0]});
  CHECK(s.get(s.get_loops(s.block("C"))[0]).var->name == "k0");
}
