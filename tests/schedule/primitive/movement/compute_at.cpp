#include <tilewright/schedule/primitive/movement/compute_at.hpp>

#include <string>

#include "../../loop_extents.hpp"
#include "../../script_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;
using nests::extents;
using nests::guarded;
using nests::sizes;
using stages::indices;
using stages::program;
using stages::stencil;

namespace {

/// B = A * 2, C = B + 1 over n x m.
ir::function two_maps(ir::expr n, ir::expr m) {
  program p;
  const ir::buffer a = p.input("A", {n, m}), b = p.temp("B", {n, m}), c = p.output("C", {n, m});
  p.map(b, {{"i", n}, {"j", m}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
  p.map(c, {{"i", n}, {"j", m}}, [&](const indices& v) { return ir::load(b, v) + stages::f32(1); });
  return p.finish();
}

/// The producer at tiles of the consumer's outermost loop.
block_rv at_tiles(schedule& s, const char* producer, const char* consumer, int tile,
                  bool preserve_unit_loops = false) {
  const block_rv b = s.block(producer);
  const auto [tiles, rest] = s.split(s.get_loops(s.block(consumer))[0], {infer, tile});
  s.compute_at(b, tiles, preserve_unit_loops);
  return b;
}

/// X = A * 2, and what reads it.
ir::function doubled(const std::string& readers) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi] * 2
    <readers>
)",
                    {{"<readers>", readers}});
}

}  // namespace

TEST_CASE("compute_at: a tile of a dividing split needs no guard") {
  const ir::function f = two_maps(128, 64);
  schedule s(f);
  const block_rv b = at_tiles(s, "B", "C", 16);
  CHECK(extents(s, b) == sizes{8, 16, 64});
  CHECK_FALSE(guarded(s, b));
  CHECK(s.get(s.get_loops(b)[1]).var->name == "ax0");
  CHECK(s.get(s.get_loops(b)[2]).var->name == "ax1");
  check_meaning(s, f);
}

TEST_CASE("compute_at: a tile that does not divide keeps its constant extent and is guarded") {
  const ir::function f = two_maps(127, 13);
  schedule s(f);
  const block_rv b = at_tiles(s, "B", "C", 6);
  CHECK(extents(s, b) == sizes{22, 6, 13});
  CHECK(guarded(s, b));
  check_meaning(s, f);
}

TEST_CASE("compute_at: halo of a stencil, recomputed per tile") {
  for (const int n : {34, 35, 13, 3}) {
    CAPTURE(n);
    const ir::function f = stencil(n);
    schedule s(f);
    const block_rv b = at_tiles(s, "B", "C", 8);
    if (n == 34) {
      CHECK(extents(s, b) == sizes{4, 10});
      CHECK_FALSE(guarded(s, b));
    }
    check_meaning(s, f);
  }
}

TEST_CASE("compute_at: unit loops are dropped or kept") {
  const ir::function f = two_maps(16, 16);
  for (const bool preserve : {false, true}) {
    CAPTURE(preserve);
    schedule s(f);
    const block_rv b = s.block("B");
    const auto [i, j] = s.loops<2>(s.block("C"));
    s.compute_at(b, j, preserve);
    CHECK(extents(s, b) == (preserve ? sizes{16, 16, 1, 1} : sizes{16, 16}));
    check_meaning(s, f);
  }
}

TEST_CASE("compute_at: 64-bit loops stay 64-bit") {
  const ir::function f = two_maps(ir::expr(std::int64_t{24}), ir::expr(std::int64_t{5}));
  schedule s(f);
  const block_rv b = at_tiles(s, "B", "C", 7);
  for (const loop_rv l : s.get_loops(b)) CHECK(s.get(l).var.type() == dtype::i64);
  check_meaning(s, f);
}

TEST_CASE("compute_at: padding of a strided convolution, tile and halo") {
  const ir::function f = stages::conv2d(9, 9, 3, 4, 3, 2, 1);
  schedule s(f);
  const block_rv pad = s.block("X_pad"), y = s.block("Y");
  const std::vector<loop_rv> l = s.get_loops(y);
  const auto [p0, p1] = s.split(l[1], {infer, 2});
  s.compute_at(pad, p0);
  CHECK(extents(s, pad) == sizes{1, 3, 5, 11, 3});  // 2 rows of stride 2, 3 high: 5 rows
  CHECK(guarded(s, pad));                           // the third tile has one row only
  check_meaning(s, f);
  schedule t(f);
  t.compute_at(t.block("X_pad"), t.get_loops(t.block("Y"))[1]);
  CHECK_FALSE(guarded(t, t.block("X_pad")));
  check_meaning(t, f);
}

TEST_CASE("compute_at: a reduction moves with its init") {
  const ir::function f = stages::matmul_bias_relu(12, 10, 7);
  schedule s(f);
  s.compute_inline(s.block("E"));
  const block_rv c = at_tiles(s, "C", "D", 5);
  CHECK(extents(s, c) == sizes{3, 5, 10, 7});
  check_meaning(s, f);
}

TEST_CASE("compute_at: several consumers, the union of what they need") {
  program p;
  const ir::buffer a = p.input("A", {32}), b = p.temp("B", {32}), c = p.output("C", {32}),
                   d = p.output("D", {32});
  p.map(b, {{"i", 32}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(3); });
  p.map(c, {{"i", 32}}, [&](const indices& v) { return ir::load(b, v); });
  p.map(d, {{"i", 32}}, [&](const indices& v) {
    return ir::if_then_else(ir::ge(v[0], 1), ir::load(b, {v[0] - 1}), stages::f32(0));
  });
  const ir::function f = p.finish();
  schedule s(f);
  const block_rv bb = s.block("B"), dd = s.block("D");
  const loop_rv i0 = s.split(s.get_loops(dd)[0], {infer, 8})[0];
  check_refusal(s, "compute_at", 5, [&] { s.compute_at(bb, i0); });  // C is outside
  s.compute_inline(bb);
  check_meaning(s, f);

  // without producers it runs as a whole in every iteration
  schedule t(f);
  const auto tiles = t.split(t.get_loops(t.block("C"))[0], {infer, 8});
  t.reverse_compute_at(t.block("B"), tiles[0]);
  check_meaning(t, f);
  // but before its first consumer
  schedule u(f);
  const loop_rv last = u.get_loops(u.block("D"))[0];
  const block_rv first = u.block("B");
  check_refusal(u, "reverse_compute_at", 6, [&] { u.reverse_compute_at(first, last); });
}

TEST_CASE("compute_at: four different refusals") {
  const ir::function f = two_maps(16, 16);
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  const loop_rv bi = s.get_loops(b)[0], bj = s.get_loops(b)[1], ci = s.get_loops(c)[0];
  check_refusal(s, "compute_at", 4, [&] { s.compute_at(c, bi); });
  check_refusal(s, "compute_at", 3, [&] { s.compute_at(b, bj); });
  check_refusal(s, "compute_at", 6, [&] { s.compute_at(b, ci, false, 7); });
  s.compute_inline(b);
  check_refusal(s, "compute_at", 0, [&] { s.compute_at(b, ci); });
}

TEST_CASE("compute_at: places below the loop") {
  // two independent producers below one loop; the second can stand before or after the first
  program p;
  const ir::buffer a = p.input("A", {8}), x = p.temp("X", {8}), y = p.temp("Y", {8}),
                   z = p.output("Z", {8});
  p.map(x, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v) + stages::f32(1); });
  p.map(y, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v) + stages::f32(2); });
  p.map(z, {{"i", 8}}, [&](const indices& v) { return ir::load(x, v) + ir::load(y, v); });
  const ir::function f = p.finish();
  const auto order = [&](int index) {
    schedule s(f);
    const auto [i] = s.loops<1>(s.block("Z"));
    s.compute_at(s.block("X"), i);
    s.compute_at(s.block("Y"), i, false, index);
    check_meaning(s, f);
    std::string names;
    for (const block_rv b : s.get_child_blocks(i)) names += s.get(b).block->name;
    return names;
  };
  CHECK(order(-1) == "XYZ");
  CHECK(order(-2) == "YXZ");
  CHECK(order(0) == "YXZ");
  CHECK(order(1) == "XYZ");
}

TEST_CASE("compute_at: packed panels of a matmul with tiles that do not divide") {
  const ir::function f = stages::matmul(127, 129, 131);
  schedule s(f);
  const block_rv c = s.block("C"), out = s.cache_write(c, 0, "local");
  const auto [i, j, k] = s.loops<3>(c);
  const auto [i0, i1] = s.split(i, {infer, 6});
  const auto [j0, j1] = s.split(j, {infer, 16});
  const auto [k0, k1] = s.split(k, {infer, 32});
  s.reorder(i0, j0, k0, k1, i1, j1);
  s.reverse_compute_at(out, j0);
  const block_rv a = s.cache_read(c, 0, "global"), b = s.cache_read(c, 1, "global");
  s.compute_at(a, k0);
  s.compute_at(b, k0);
  CHECK(extents(s, a) == sizes{22, 9, 5, 6, 32});
  CHECK(extents(s, b) == sizes{22, 9, 5, 32, 16});
  CHECK(extents(s, out) == sizes{22, 9, 6, 16});
  s.decompose_reduction(c, k0);
  check_meaning(s, f);
}

TEST_CASE("compute_at: panels of a batched matmul and of a convolution") {
  {
    const ir::function f = stages::batch_matmul(3, 13, 11, 17);
    schedule s(f);
    const block_rv c = s.block("C");
    const std::vector<loop_rv> l = s.get_loops(c);
    const auto [k0, k1] = s.split(l[3], {infer, 4});
    s.reorder(l[0], k0, l[1], l[2], k1);
    const block_rv b = s.cache_read(c, 1, "global");
    s.compute_at(b, k0);
    CHECK(extents(s, b) == sizes{3, 5, 4, 11});
    check_meaning(s, f);
  }
  {
    const ir::function f = stages::conv2d(8, 7, 5, 6, 3, 1, 1);
    schedule s(f);
    const block_rv y = s.block("Y");
    const std::vector<loop_rv> l = s.get_loops(y);
    const auto [p0, p1] = s.split(l[1], {infer, 3});
    const auto [c0, c1] = s.split(l[6], {infer, 2});
    s.reorder(l[0], p0, c0, p1, l[2], l[3], l[4], l[5], c1);
    const block_rv x = s.cache_read(y, 0, "global"), w = s.cache_read(y, 1, "global");
    s.compute_at(x, c0);
    s.compute_at(w, c0);
    CHECK(extents(s, x) == sizes{1, 3, 3, 5, 9, 2});
    s.compute_at(s.block("X_pad"), p0);
    check_meaning(s, f);
  }
}

TEST_CASE("compute_at: one of two blocks that write a buffer") {
  program p;
  const ir::buffer a = p.input("A", {10}), t = p.temp("T", {17}), y = p.output("Y", {17});
  p.map(
      t, {{"i", 10}}, [&](const indices& v) { return ir::load(a, v); }, {}, "first");
  p.map(
      t, {{"i", 7}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); },
      [](const indices& v) { return indices{v[0] + 10}; }, "second");
  p.map(y, {{"i", 17}}, [&](const indices& v) { return ir::load(t, v) + stages::f32(1); });
  const ir::function f = p.finish();
  schedule s(f);
  const auto [i0, i1] = s.split(s.get_loops(s.block("Y"))[0], {infer, 4});
  s.compute_at(s.block("first"), i0);
  s.compute_at(s.block("second"), i0);
  CHECK(guarded(s, s.block("first")));
  CHECK(guarded(s, s.block("second")));
  check_meaning(s, f);
}

TEST_CASE("compute_at: indices that are digits of one number are inverted together") {
  program p;
  const ir::buffer a = p.input("A", {8, 16}), b = p.temp("B", {128}), c = p.output("C", {128});
  p.map(
      b, {{"i", 8}, {"j", 16}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); },
      [](const indices& v) { return indices{v[0] * 16 + v[1]}; });
  p.map(c, {{"x", 128}}, [&](const indices& v) { return ir::load(b, v) + stages::f32(1); });
  const ir::function f = p.finish();
  {
    schedule s(f);
    s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0], true);
    CHECK(extents(s, s.block("B")) == sizes{128, 1, 1});
    CHECK_FALSE(guarded(s, s.block("B")));
    check_meaning(s, f);
  }
  {
    schedule s(f);
    const block_rv tile = at_tiles(s, "B", "C", 32, true);
    CHECK(extents(s, tile) == sizes{4, 2, 16});
    check_meaning(s, f);
  }
  {  // what one iteration of both loops has written is known as well
    schedule s(f);
    const loop_rv j = s.get_loops(s.block("B"))[1];
    s.reverse_compute_at(s.block("C"), j);
    CHECK(extents(s, s.block("C")) == sizes{8, 16});
    check_meaning(s, f);
  }
}

TEST_CASE("compute_at: quotient and remainder by a symbolic extent need no guard") {
  schedule s(ir::parse(R"(@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m, n), "int32")
    C = T.match_buffer(c, (m * n,), "int32")
    B = T.alloc_buffer((m, n), "int32")
    for i, j in T.grid(m, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i in range(m * n):
        with T.block("C"):
            vi = T.axis.spatial(m * n, i)
            C[vi] = B[vi // n, vi % n] + 1
)"));
  const block_rv b = s.block("B");
  s.compute_at(b, s.get_loops(s.block("C"))[0]);
  CHECK_FALSE(guarded(s, b));
  CHECK(s.get_loops(b).size() == 1);
}

TEST_CASE("compute_at: what later blocks overwrite cannot move behind them") {
  program p;
  const ir::buffer a = p.input("A", {8}), t = p.temp("T", {8}), u = p.temp("U", {8}),
                   y = p.output("Y", {8});
  p.map(t, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v) + stages::f32(1); });
  p.map(u, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v) * stages::f32(2); });
  p.map(
      t, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v) - stages::f32(3); }, {}, "T_1");
  p.map(y, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v) + ir::load(u, v); });
  const ir::function f = p.finish();
  schedule s(f);
  const block_rv u_rv = s.block("U"), t_rv = s.block("T"), t1 = s.block("T_1");
  const loop_rv i = s.get_loops(s.block("Y"))[0];
  check_refusal(s, "compute_at", 1, [&] { s.compute_at(u_rv, i); });
  check_refusal(s, "compute_at", 2, [&] { s.compute_at(t_rv, i); });
  check_refusal(s, "compute_at", 1, [&] { s.compute_at(t1, i); });
  check_refusal(s, "compute_inline", 1, [&] { s.compute_inline(u_rv); });
  check_schedule(s, f);
}

TEST_CASE("compute_at, reverse_compute_at: a block that uses a loop itself stays below it") {
  program p;
  const ir::buffer a = p.input("A", {4, 6}), t = p.temp("T", {4, 6}), y = p.output("Y", {4, 6});
  p.map(t, {{"i", 4}, {"j", 6}}, [&](const indices& v) { return ir::load(a, v); });
  p.map(y, {{"i", 4}, {"j", 6}}, [&](const indices& v) { return ir::load(t, v); });
  const ir::function f = p.finish();
  for (const bool reverse : {false, true}) {
    schedule s(f);
    const loop_rv target = s.get_loops(s.block(reverse ? "T" : "Y"))[0];
    s.loop_partition(s.get_loops(s.block(reverse ? "Y" : "T"))[1], {2, infer});
    const block_rv common = s.block(reverse ? "Y_j_common" : "T_j_common");
    check_refusal(s, reverse ? "reverse_compute_at" : "compute_at", 2, [&] {
      reverse ? s.reverse_compute_at(common, target) : s.compute_at(common, target);
    });
    check_meaning(s, f);
  }
}

TEST_CASE("compute_at, reverse_compute_at: instances that the loops leave out stay out") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(vi < 6, A[vi], 0)
    for i0, i1 in T.grid(2, 3):
        with T.block("C"):
            vi = T.axis.spatial(8, i0 * 3 + i1)
            C[vi] = B[vi] + 1
)");
  schedule s(f);
  s.reverse_compute_at(s.block("C"), s.get_loops(s.block("B"))[0]);
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(vi < 6, A[vi], 0)
        with T.block("C"):
            T.where(i < 6)
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + 1
)");
  check_meaning(s, f);

  const ir::function g = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i0, i1 in T.grid(2, 3):
        with T.block("B"):
            vi = T.axis.spatial(8, i0 * 3 + i1)
            B[vi] = A[vi] * 2
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.if_then_else(vi < 6, B[T.min(vi, 5)], 0)
)");
  schedule t(g);
  const block_rv b = t.block("B");
  t.compute_at(b, t.split(t.get_loops(t.block("C"))[0], {2, infer})[0]);
  check_meaning(t, g);
}

TEST_CASE("compute_at: what a guard or a loop's bound loads is a reader too") {
  const std::string copy = R"(
for i in range(8):
    with T.block("C"):
        vi = T.axis.spatial(8, i)
        C[vi] = X[vi])";
  const char* guard = R"(
for i in range(8):
    with T.block("B"):
        vi = T.axis.spatial(8, i)
        T.where(X[i] > 0)
        B[vi] = A[vi])";
  const char* binding = R"(
for i in range(8):
    with T.block("B"):
        vi = T.axis.spatial(8, X[i] % 8)
        B[vi] = A[vi])";
  const char* bound = R"(
for i in range(X[2] % 8):
    with T.block("B"):
        vi = T.axis.spatial(8, i)
        B[vi] = A[vi])";
  const char* condition = R"(
if X[3] > 1:
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi])";
  for (const char* reader : {guard, binding, bound, condition}) {
    CAPTURE(std::string(reader));
    const ir::function f = doubled(reader + copy);
    schedule s(f);
    const block_rv x = s.block("X"), b = s.block("B"), c = s.block("C");
    CHECK(s.get_consumers(x).size() == 2);
    CHECK(s.get_producers(b).size() == 1);
    const loop_rv before_c = s.get_loops(c)[0];
    // what stands below an if has no place in a nest at all
    const int requirement = reader == condition ? 1 : 5;
    check_refusal(s, "compute_at", requirement, [&] { s.compute_at(x, before_c); });
    check_schedule(s, f);
  }
}

TEST_CASE("compute_at: a guard may look anywhere") {
  const ir::function f = doubled(R"(
for i in range(8):
    with T.block("B"):
        vi = T.axis.spatial(8, i)
        T.where(X[(i * 3 + 1) % 8] > 0)
        B[vi] = X[vi])");
  schedule s(f);
  const block_rv x = s.block("X");
  s.compute_at(x, s.get_loops(s.block("B"))[0]);
  CHECK(s.get_loops(x).size() == 2);  // all of it in every iteration
  check_schedule(s, f);
}

TEST_CASE("compute_at: of a symbolic window no more than that is computed") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(c: T.handle):
    n = T.int32()
    k = T.int32()
    C = T.match_buffer(c, (n, k), "int32")
    B = T.alloc_buffer((n + k,), "int32")
    for i in range(n + k):
        with T.block("B"):
            vi = T.axis.spatial(n + k, i)
            B[vi] = vi * 2
    for i, j in T.grid(n, k):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi + vj] + 1
)");
  schedule s(f);
  const block_rv b = s.block("B");
  s.compute_at(b, s.get_loops(s.block("C"))[0]);
  const ir::loop_node& inner = s.get(s.get_loops(b)[1]);
  CHECK(ir::print(inner.extent) == "k");
  check_meaning(s, f, {{"n", 5}, {"k", 3}});
}
