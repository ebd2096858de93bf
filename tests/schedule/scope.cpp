#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>

#include <algorithm>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

#include "script_schedule.hpp"
#include "stages.hpp"

using namespace tilewright;
using namespace tilewright::primitive;
using stages::f32;
using stages::indices;
using stages::program;

namespace {

block_scope scope_of(const ir::function& f) { return block_scope(*ir::root_block(f)); }

bool has(const block_scope& s, std::size_t a, std::size_t b, dependence_kind kind) {
  const std::vector<dependence_edge> all = dependences(s);
  return std::count(all.begin(), all.end(), dependence_edge{a, b, kind}) == 1;
}

/// A point block `name` over `values`: to[at] = value.
ir::stmt point(const std::string& name, const ir::buffer& to, const std::vector<ir::expr>& values,
               const std::vector<int>& extents, const std::function<indices(const indices&)>& at,
               const std::function<ir::expr(const indices&)>& value,
               ir::expr predicate = ir::boolean(true)) {
  ir::block_node b;
  b.name = name;
  indices v;
  for (std::size_t i = 0; i < values.size(); ++i) {
    v.push_back(ir::make_var("v" + std::to_string(i)));
    b.iters.push_back({v.back(), {0, extents[i]}, ir::iter_kind::spatial});
  }
  b.writes = {{to, ir::point_box(at(v))}};
  b.body = ir::make_store(to, at(v), value(v));
  std::vector<ir::buffer_region> unused;
  arith::access_regions(b.body, b.reads, unused);
  return ir::make_realize(values, std::move(predicate), ir::make_block(std::move(b)));
}

ir::function around(ir::stmt body, std::vector<ir::buffer> params, std::vector<ir::buffer> temps) {
  ir::function f;
  for (ir::buffer& p : params) f.params.push_back({std::move(p), {}});
  f.body = ir::make_root(std::move(body), std::move(temps));
  return f;
}

indices same(const indices& v) { return v; }

}  // namespace

TEST_CASE("dependences: kinds, program order, no edge for reads only or to itself") {
  program p;
  const ir::buffer a = p.input("A", {8}), t = p.temp("T", {8}), x = p.output("X", {8}),
                   y = p.output("Y", {8});
  p.map(t, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); });  // 0
  p.map(x, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v); });  // 1
  p.map(
      t, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v) + f32(1); }, {}, "T_1");  // 2
  p.map(y, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v) + ir::load(a, v); });   // 3
  const ir::function f = p.finish();
  const block_scope s = scope_of(f);
  REQUIRE(s.size() == 4);
  CHECK(has(s, 0, 1, dependence_kind::read_after_write));
  CHECK(has(s, 0, 2, dependence_kind::read_after_write));
  CHECK(has(s, 0, 2, dependence_kind::write_after_write));
  CHECK(has(s, 1, 2, dependence_kind::write_after_read));
  CHECK(has(s, 2, 3, dependence_kind::read_after_write));
  CHECK(dependences(s).size() == 6);  // and 0 to 3
  CHECK(producers(s, 3) == std::vector<std::size_t>{0, 2});
  CHECK(consumers(s, 0) == std::vector<std::size_t>{1, 2, 3});
  CHECK_FALSE(is_output(s, 0));
  CHECK(is_output(s, 1));
  // 42: a write after a read is no pipeline, though every block is covered
  for (std::size_t i = 0; i < s.size(); ++i) CHECK(region_covered(s, i));
  CHECK_FALSE(is_stage_pipeline(s));
}

TEST_CASE("dependences: disjoint boxes are independent") {
  const auto concat = [](int gap) {
    program p;
    const ir::buffer a = p.input("A", {16}), t = p.temp("T", {32}), y = p.output("Y", {32});
    p.map(
        t, {{"i", 16}}, [&](const indices& v) { return ir::load(a, v); }, {}, "first");
    p.map(
        t, {{"i", 16 - gap}}, [&](const indices& v) { return ir::load(a, v); },
        [=](const indices& v) { return indices{v[0] + 16 + gap}; }, "second");
    p.map(y, {{"i", 32}}, [&](const indices& v) { return ir::load(t, v); });
    return p.finish();
  };
  // 44: two halves cover the buffer; with a gap they do not
  const ir::function whole = concat(0), gap = concat(1);
  const block_scope s = scope_of(whole), g = scope_of(gap);
  CHECK(dependences(s).size() == 2);
  CHECK(is_dominant(s, 0));
  CHECK(is_complete(s, 1));
  CHECK(region_covered(s, 2));
  CHECK(is_stage_pipeline(s));
  CHECK_FALSE(region_covered(g, 2));
  CHECK_FALSE(is_stage_pipeline(g));
}

TEST_CASE("region cover: a neighbour of another iteration of the common loop") {
  // 43: for i: B[i] = A[i]; C[i] = B[i] + B[i - 1]
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {8}),
                   b = ir::make_buffer("B", dtype::f32, {8});
  const ir::buffer c = ir::make_buffer("C", dtype::f32, {8});
  for (const int back : {0, 1}) {
    const ir::var i = ir::make_var("i");
    const ir::stmt first =
        point("B", b, {i}, {8}, same, [&](const indices& v) { return ir::load(a, v); });
    const ir::stmt second = point("C", c, {i}, {8}, same, [&](const indices& v) {
      return ir::if_then_else(ir::ge(v[0], back), ir::load(b, {v[0] - back}), f32(0));
    });
    const ir::function f =
        around(ir::make_loop(i, 0, 8, ir::make_seq({first, second})), {a, c}, {b});
    const block_scope s = scope_of(f);
    CHECK(s.common_loops(0, 1) == 1);
    CHECK(region_covered(s, 1) == (back == 0));
    CHECK(is_stage_pipeline(s) == (back == 0));
  }
}

TEST_CASE("region cover: the predicate of a tile that does not divide") {
  // 46: for o: for i: B[o * 6 + i] where < 20; for i: C[o * 6 + i] where < 20
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {20}),
                   b = ir::make_buffer("B", dtype::f32, {20});
  const ir::buffer c = ir::make_buffer("C", dtype::f32, {20});
  const ir::var o = ir::make_var("o"), i = ir::make_var("i"), k = ir::make_var("k");
  const ir::stmt first = point(
      "B", b, {o * 6 + i}, {20}, same, [&](const indices& v) { return ir::load(a, v); },
      ir::lt(o * 6 + i, 20));
  const ir::stmt second = point(
      "C", c, {o * 6 + k}, {20}, same, [&](const indices& v) { return ir::load(b, v); },
      ir::lt(o * 6 + k, 20));
  const ir::function f = around(
      ir::make_loop(o, 0, 4,
                    ir::make_seq({ir::make_loop(i, 0, 6, first), ir::make_loop(k, 0, 6, second)})),
      {a, c}, {b});
  const block_scope s = scope_of(f);
  CHECK(region_covered(s, 1));
  CHECK(is_affine_binding(s[0]));
  CHECK(is_stage_pipeline(s));
  // a predicate that stops early leaves a gap
  const ir::stmt shorter = point(
      "B", b, {o * 6 + i}, {20}, same, [&](const indices& v) { return ir::load(a, v); },
      ir::lt(o * 6 + i, 19));
  const ir::function g = around(
      ir::make_loop(
          o, 0, 4, ir::make_seq({ir::make_loop(i, 0, 6, shorter), ir::make_loop(k, 0, 6, second)})),
      {a, c}, {b});
  CHECK_FALSE(region_covered(scope_of(g), 1));
}

TEST_CASE("region cover: which threads share a buffer") {
  // 45: a thread writes its element, then reads another one of the tile
  const auto covered = [](const char* scope, const char* tag) {
    const ir::buffer a = ir::make_buffer("A", dtype::f32, {32}),
                     b = ir::make_buffer("B", dtype::f32, {32}, scope);
    const ir::buffer c = ir::make_buffer("C", dtype::f32, {32});
    const ir::var t = ir::make_var("t");
    const ir::stmt first =
        point("B", b, {t}, {32}, same, [&](const indices& v) { return ir::load(a, v); });
    const ir::stmt second =
        point("C", c, {t}, {32}, same, [&](const indices& v) { return ir::load(b, {31 - v[0]}); });
    const ir::function f = around(ir::make_loop(t, 0, 32, ir::make_seq({first, second}),
                                                ir::loop_kind::thread_binding, {}, tag),
                                  {a, c}, {b});
    return region_covered(scope_of(f), 1);
  };
  CHECK(covered("shared", "threadIdx.x"));
  CHECK_FALSE(covered("shared", "blockIdx.x"));
  CHECK_FALSE(covered("local", "threadIdx.x"));
  CHECK(covered("warp", "threadIdx.x"));
  CHECK_FALSE(covered("warp", "threadIdx.y"));
  CHECK_FALSE(covered("global", "blockIdx.x"));  // thread blocks cannot wait for each other
}

TEST_CASE("properties of blocks") {
  const ir::function f = stages::matmul_bias_relu(4, 4, 4);
  const block_scope s = scope_of(f);
  CHECK(complete_violation(s, 0) == 1);
  CHECK(reduction_violation(s, 0) == 0);
  CHECK(complete_violation(s, 1) == 0);
  CHECK(reduction_violation(s, 1) == 1);
  CHECK(is_trivial_binding(s[0]));
  CHECK(is_affine_binding(s[0]));
  CHECK(iter_kind_of(s, s[0].loops[2]->var) == loop_iter_kind::reduce);
  CHECK(iter_kind_of(s, s[0].loops[0]->var) == loop_iter_kind::spatial);
  ir::private_buffers all(f.body);
  CHECK(compact_dataflow_violation(s, s[0].loops[0]->var, all) == -1);

  program p;
  const ir::buffer a = p.input("A", {8}), t = p.temp("T", {8}), y = p.output("Y", {8});
  p.map(t, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); });
  p.map(
      t, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v); }, {}, "T_1");
  p.map(y, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v); });
  const ir::function g = p.finish();
  const block_scope u = scope_of(g);
  CHECK(complete_violation(u, 0) == 2);
  CHECK(complete_violation(u, 1) == 2);
  CHECK(complete_violation(u, 2) == 0);
  ir::private_buffers own(g.body);
  const ir::var loop = u[1].loops[0]->var;
  CHECK(compact_dataflow_violation(u, loop, own) == -1);  // updates elements of its own
}

TEST_CASE("bindings: scaled and overlapping values are not affine") {
  const ir::buffer a = ir::make_buffer("A", dtype::f32, {20}),
                   b = ir::make_buffer("B", dtype::f32, {20});
  const auto affine = [&](int outer, int inner,
                          const std::function<ir::expr(ir::expr, ir::expr)>& value, int extent) {
    const ir::var o = ir::make_var("o"), i = ir::make_var("i");
    const ir::stmt s = point("B", b, {value(o, i)}, {extent}, same,
                             [&](const indices& v) { return ir::load(a, v); });
    const ir::function f =
        around(ir::make_loop(o, 0, outer, ir::make_loop(i, 0, inner, s)), {a, b}, {});
    return is_affine_binding(scope_of(f)[0]);
  };
  CHECK(affine(
      5, 4, [](ir::expr o, ir::expr i) { return o * 4 + i; }, 20));
  CHECK(affine(
      5, 4, [](ir::expr o, ir::expr i) { return i * 5 + o; }, 20));
  CHECK_FALSE(affine(
      5, 4, [](ir::expr o, ir::expr i) { return o * 3 + i; }, 16));
  CHECK_FALSE(affine(
      10, 1, [](ir::expr o, ir::expr) { return o * 2; }, 20));
  CHECK_FALSE(affine(
      5, 2, [](ir::expr o, ir::expr i) { return o * 4 + i; }, 20));
}

TEST_CASE("analysis: region cover of a layout that splits its dimensions") {
  const auto covered = [](const std::string& rows, int read_rows) {
    const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((64, 8), "int32"), D: T.Buffer((64, 8), "int32")):
    B = T.alloc_buffer((4, 8, 16), "int32")
    for i0 in range(4):
        for i1, j in T.grid()" + rows +
                                     R"(, 8):
            with T.block("B"):
                vi = T.axis.spatial(64, i0 * 16 + i1)
                vj = T.axis.spatial(8, j)
                B[vi // 16, vj, vi % 16] = A[vi, vj]
        for i1, j in T.grid()" + std::to_string(read_rows) +
                                     R"(, 8):
            with T.block("D"):
                vi = T.axis.spatial(64, i0 * 16 + i1)
                vj = T.axis.spatial(8, j)
                D[vi, vj] = B[vi // 16, vj, vi % 16]
)");
    return region_covered(scope_of(f), 1);
  };
  CHECK(covered("16", 16));
  CHECK(covered("16", 4));
  CHECK(covered("8", 8));
  CHECK_FALSE(covered("8", 16));
}

TEST_CASE("region cover: the guard of threads that share the steps of a row") {
  const auto covered = [](const std::string& guard) {
    const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), M: T.Buffer((1,), "int32"), Y: T.Buffer((16, 8), "float32")):
    B = T.alloc_buffer((16, 8), scope="shared")
    for y in T.thread_binding(4, thread="blockIdx.y"):
        for i, a, b, c in T.grid(8, 2, 2, 2):
            with T.block("B"):
                v0 = T.axis.spatial(16, y // 2 * 8 + i)
                v1 = T.axis.spatial(8, y % 2 * 4 + (a * 4 + b * 2 + c))
                T.where()" + guard + R"()
                B[v0, v1] = A[v0, v1]
        for i, j in T.grid(8, 4):
            with T.block("Y"):
                v0 = T.axis.spatial(16, y // 2 * 8 + i)
                v1 = T.axis.spatial(8, y % 2 * 4 + j)
                Y[v0, v1] = B[v0, v1]
)");
    return region_covered(scope_of(f), 1);
  };
  CHECK(covered("(a * 2 + b) * 2 + c < 4"));
  CHECK(covered("(a * 2 + b) * 2 + c < 4 and i < 8"));
  CHECK_FALSE(covered("(a * 2 + b) * 2 + c < 3"));
  CHECK_FALSE(covered("(a * 2 + b) * 2 + c < 4 and i < 7"));
  CHECK_FALSE(covered("(a * 2 + b) * 2 + c < 4 and y < 3"));
  CHECK_FALSE(covered("(a * 2 + b) * 2 + c < 4 and M[0] > 0"));
}

TEST_CASE("region cover: quotient and remainder by a symbolic extent") {
  const auto covered = [](const std::string& count, const std::string& low) {
    const ir::function f = ir::parse(R"(
@T.prim_func
def main(a: T.handle, y: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m, n), "float32")
    Y = T.match_buffer(y, (m, n), "float32")
    B = T.alloc_buffer((m, n), scope="shared")
    for i in range()" + count + R"():
        with T.block("B"):
            vi = T.axis.spatial(m, i // n)
            vj = T.axis.spatial(n, )" +
                                     low + R"()
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = B[vi, vj]
)");
    return region_covered(scope_of(f), 1);
  };
  CHECK(covered("m * n", "i % n"));
  CHECK_FALSE(covered("m * n - 1", "i % n"));
  CHECK_FALSE(covered("m * n", "i // n % n"));
  CHECK_FALSE(covered("m * n", "(i + 1) % n"));
}

TEST_CASE("region cover: a tile that more threads copy than it has elements") {
  const auto covered = [](const char* guard) {
    const ir::function f = ir::parse(std::string(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float32")):
    X = T.alloc_buffer((64, 64), scope="shared")
    for b in T.thread_binding(16, thread="blockIdx.x"):
        for y in T.thread_binding(9, thread="threadIdx.y"):
            for x in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("X"):
                    v0 = T.axis.spatial(64, b // 8 * 32 + (y * 16 + x) // 8)
                    v1 = T.axis.spatial(64, b % 8 * 8 + (y * 16 + x) % 8)
                    T.where()") + guard +
                                     R"()
                    X[v0, v1] = A[v0, v1]
        for i, j in T.grid(16, 8):
            with T.block("Y"):
                v0 = T.axis.spatial(64, b // 8 * 32 + i)
                v1 = T.axis.spatial(64, b % 8 * 8 + j)
                Y[v0, v1] = X[v0, v1]
)");
    return region_covered(scope_of(f), 1);
  };
  CHECK(covered("y * 16 + x < 128"));
  CHECK_FALSE(covered("y * 16 + x < 127"));
  CHECK_FALSE(covered("y * 16 + x < 120"));
}

TEST_CASE("analysis: the update of a reduction reads other results") {
  tilewright::schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((9,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi + 1] = 0
            C[vi + 1] = C[vi + 1] + A[vi, vk] * C[vi]
)"));
  const loop_rv i = s.get_loops(s.block("C"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

TEST_CASE("analysis: the init of a reduction reads other results") {
  tilewright::schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((9,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi + 1] = C[vi]
            C[vi + 1] = C[vi + 1] + A[vi, vk]
)"));
  const loop_rv i = s.get_loops(s.block("C"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

TEST_CASE("analysis: iterations overwrite parts of what a block outside has filled") {
  tilewright::schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8, 16), "int32")):
    X = T.alloc_buffer((16,), "int32")
    for j in range(16):
        with T.block("Z"):
            vj = T.axis.spatial(16, j)
            X[vj] = 5
    for i in range(8):
        for j in range(8):
            with T.block("W"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vj] = A[vi]
        for j in range(16):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)"));
  const loop_rv i = s.get_loops(s.block("W"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

TEST_CASE("analysis: a sum of symbolic length in tiles of which a guard cuts the last") {
  tilewright::schedule s(ir::parse(R"(@T.prim_func
def main(a: T.handle, C: T.Buffer((6,), "int32")):
    n = T.int32()
    A = T.match_buffer(a, (6, n), "int32")
    for i, k in T.grid(6, n):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)"));
  const block_rv c = s.block("C");
  const auto tiles = s.split(s.get_loops(c)[1], {infer, 8});
  check_refusal(s, "rfactor", 7, [&] { s.rfactor(tiles[1], 0); });  // n may be less than 8
  s.rfactor(tiles[0], 0);
  CHECK(s.get_loops(c).size() == 2);
}

TEST_CASE("analysis: the guard of a tile that is split further cuts what is read of it") {
  const auto covered = [](const char* guard) {
    const ir::function f = ir::parse(std::string(R"(@T.prim_func
def main(A: T.Buffer((24,), "int32"), C: T.Buffer((24,), "int32")):
    B = T.alloc_buffer((24,), "int32")
    for o in range(4):
        for i in range(6):
            with T.block("B"):
                v = T.axis.spatial(24, o * 6 + i)
                B[v] = A[v]
        for a, b in T.grid(2, 4):
            with T.block("C"):
                v = T.axis.spatial(24, o * 6 + (a * 4 + b))
                T.where(a * 4 + b < )") +
                                     guard + R"()
                C[v] = B[v]
)");
    return region_covered(scope_of(f), 1);
  };
  CHECK(covered("6"));
  CHECK_FALSE(covered("7"));
}
