#include <tilewright/schedule/primitive/loops/loop_kind.hpp>

#include <array>

#include "../../programs.hpp"
#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("parallel, vectorize and unroll set the kind") {
  const ir::function f = programs::matmul(4, 8, 6);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  s.parallel(i);
  s.reorder(k, j);
  s.vectorize(j);
  s.unroll(k);
  CHECK(s.get(i).loop == ir::loop_kind::parallel);
  CHECK(s.get(j).loop == ir::loop_kind::vectorized);
  CHECK(s.get(k).loop == ir::loop_kind::unrolled);
  check_meaning(s, f);
  s.unroll(j);
  CHECK(s.get(j).loop == ir::loop_kind::unrolled);
  check_meaning(s, f);
}

TEST_CASE("parallel over a guarded and a unit loop") {
  const ir::function f = programs::elementwise({"i", "j"}, {7, 1});
  schedule s(f);
  const auto [i, j] = s.loops<2>(s.block("B"));
  const auto [i0, i1] = s.split(i, {infer, 4});
  s.parallel(i0);
  s.vectorize(i1);
  s.parallel(j);
  check_meaning(s, f);
}

TEST_CASE("parallel and vectorize refuse a reduction loop") {
  const ir::function f = programs::matmul(4, 8, 6);
  schedule s(f);
  const loop_rv k = s.get_loops(s.block("C"))[2];
  check_refusal(s, "parallel", 2, [&] { s.parallel(k); });
  check_refusal(s, "vectorize", 2, [&] { s.vectorize(k); });
  s.unroll(k);
  check_meaning(s, f);
}

namespace {

/// B[vi] = B[vi + from] * 2, without init.
ir::function update(int from) {
  const ir::buffer b = ir::make_buffer("B", dtype::f32, {8});
  const programs::nest n({"i"}, {8 - from});
  const std::vector<ir::expr> at{n.v(0)}, read{n.v(0) + from};
  ir::function f;
  f.params = {{b, {}}};
  f.body = ir::make_root(n.wrap(programs::store_block(
      "B", b, at, ir::load(b, read) * ir::real(dtype::f32, 2), {{b, ir::point_box(read)}})));
  return f;
}

}  // namespace

TEST_CASE("parallel and vectorize take updates in place of own elements") {
  const ir::function f = update(0);
  schedule s(f);
  const auto [i, lane] = s.split(s.get_loops(s.block("B"))[0], {infer, 4});
  s.parallel(i);
  s.vectorize(lane);
  check_meaning(s, f);
}

TEST_CASE(
    "parallel and vectorize take updates that read numbers beside their own, which nobody "
    "updates") {
  const auto moved = [](const std::string& value) {
    return ir::parse(R"(@T.prim_func
def main(P: T.Buffer((24, 4), "int32")):
    for n in range(24):
        with T.block("B"):
            vn = T.axis.spatial(24, n)
            P[vn, 1] = )" +
                     value);
  };
  for (const char* value :
       {"P[vn, 1] + P[vn, 3] * P[vn, 0]", "P[23 - vn, 2]", "P[vn, 3] + P[vn, vn % 4]"}) {
    CAPTURE(value);
    const ir::function f = moved(value);
    schedule s(f);
    const auto [i, lane] = s.split(s.get_loops(s.block("B"))[0], {infer, 4});
    s.parallel(i);
    s.vectorize(lane);
    check_meaning(s, f);
  }
  for (const char* value : {"P[vn, 1] + P[23 - vn, 1]", "P[vn, 3] + P[23 - vn, vn % 4]"}) {
    CAPTURE(value);
    schedule s(moved(value));
    const loop_rv i = s.get_loops(s.block("B"))[0];
    check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
    check_refusal(s, "vectorize", 1, [&] { s.vectorize(i); });
  }
}

TEST_CASE("parallel refuses updates that read what other iterations write") {
  schedule s(update(1));
  const loop_rv i = s.get_loops(s.block("B"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
  check_refusal(s, "vectorize", 1, [&] { s.vectorize(i); });
}

TEST_CASE(
    "a reduction that continues one runs in parallel along rows, but not along what it sums") {
  const auto continued = [](const std::string& read) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((9,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(C[)" +
                     read + R"(], A[vi, vk])
            T.writes(C[vi])
            C[vi] = C[)" +
                     read + R"(] + A[vi, vk])");
  };
  const ir::function own = continued("vi");
  schedule s(own);
  const std::vector<loop_rv> loops = s.get_loops(s.block("C"));
  check_refusal(s, "parallel", 1, [&] { s.parallel(loops[1]); });
  s.parallel(loops[0]);
  check_meaning(s, own);
  schedule other(continued("vi + 1"));
  const loop_rv i = other.get_loops(other.block("C"))[0];
  check_refusal(other, "parallel", 1, [&] { other.parallel(i); });
}

TEST_CASE("partial results of a number of terms that they do not divide are lanes") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((23, 3), "float32"), L: T.Buffer((3,), "float32")):
    for i, n in T.grid(3, 23):
        with T.block("L"):
            vi, vn = T.axis.remap("SR", [i, n])
            with T.init():
                L[vi] = T.float32("inf")
            L[vi] = T.min(L[vi], A[vn, vi]))");
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("L"));
  const auto [groups, lane] = s.split(loops[1], {infer, 4});
  s.reorder(groups, lane, loops[0]);
  const block_rv partial = s.rfactor(lane, 0);
  const std::vector<loop_rv> inner = s.get_loops(partial);
  s.vectorize(s.fuse(inner[1], inner[2]));
  check_refusal(s, "parallel", 1, [&] { s.parallel(inner[0]); });
  check_meaning(s, f);
}

TEST_CASE("parallel refuses a reduction whose bindings are not affine") {
  ir::function f = programs::matmul(4, 8, 6);
  const ir::stmt nest = ir::root_block(f)->body;
  const ir::loop_node& i = *ir::as_loop(nest);
  const ir::loop_node& j = *ir::as_loop(i.body);
  const ir::loop_node& k = *ir::as_loop(j.body);
  const ir::block_realize_node& r = *ir::as_realize(k.body);
  const ir::expr odd = ir::floordiv(i.var + k.var, 3);
  f.body = ir::make_root(ir::with_body(
      i, ir::with_body(j, ir::with_body(k, ir::make_realize({odd, r.values[1], r.values[2]},
                                                            r.predicate, r.block)))));
  schedule s(f);
  const loop_rv l = s.get_loops(s.block("C"))[1];
  check_refusal(s, "parallel", 1, [&] { s.parallel(l); });
}

TEST_CASE("parallel: a fused loop whose extent is no constant") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (4, n, 8), "float32")
    C = T.match_buffer(c, (4, n, 8), "float32")
    for i, j, k in T.grid(4, n, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            C[vi, vj, vk] = A[vi, vj, vk] + T.float32(1)
)");
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [outer, inner] = s.split(s.fuse({j, k}), {infer, 32});
  s.parallel(outer);
  s.vectorize(inner);
  s.parallel(i);

  schedule t(f);
  const auto loops = t.get_loops(t.block("C"));
  t.parallel(t.fuse(loops));
}

TEST_CASE("parallel, vectorize: updates in place whose instances a loop inside spreads") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(B: T.Buffer((11,), "float32"), C: T.Buffer((32,), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi = T.axis.spatial(11, i + j // 2)
            B[vi] = B[vi] * T.float32(2)
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi = T.axis.spatial(32, i * 4 + j // 2)
            C[vi] = C[vi] * T.float32(2)
)");
  schedule s(f);
  const std::vector<loop_rv> b = s.get_loops(s.block("B")), c = s.get_loops(s.block("C"));
  check_refusal(s, "parallel", 1, [&] { s.parallel(b[0]); });
  check_refusal(s, "vectorize", 1, [&] { s.vectorize(b[1]); });
  check_refusal(s, "vectorize", 1, [&] { s.vectorize(c[1]); });
  s.parallel(c[0]);
  check_meaning(s, f);
}

TEST_CASE("parallel: digits of a fused loop tell the instances of its iterations apart") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(B: T.Buffer((4, 6, 7), "float32")):
    for i, j, k in T.grid(4, 6, 7):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = B[vi, vj, vk] * T.float32(2)
)");
  const auto tiled = [&](int inner, auto&& use) {
    schedule s(f);
    const auto [i, j, k] = s.loops<3>(s.block("B"));
    const auto [j0, j1] = s.split(j, {infer, inner});
    const auto [k0, k1] = s.split(k, {infer, 4});
    s.reorder(i, j0, k0, j1, k1);
    use(s, s.fuse(i, j0, k0), s.block("B"));
    check_meaning(s, f);
  };
  tiled(2, [](schedule& s, loop_rv all, block_rv) { s.parallel(all); });
  tiled(6, [](schedule& s, loop_rv all, block_rv) { s.parallel(all); });
  tiled(3, [](schedule& s, loop_rv all, block_rv) {
    const auto [outer, inner] = s.split(all, {infer, 5});
    s.parallel(outer);
    s.vectorize(inner);
  });
  // without the digit in the middle, iterations that differ in it alone update the same elements
  const ir::function missing = ir::parse(R"(@T.prim_func
def main(B: T.Buffer((4, 7), "float32")):
    for f in range(56):
        with T.block("B"):
            vi = T.axis.spatial(4, f // 14)
            vk = T.axis.spatial(7, f % 7)
            B[vi, vk] = B[vi, vk] * T.float32(2)
)");
  schedule s(missing);
  const loop_rv all = s.get_loops(s.block("B"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(all); });
}

namespace {

/// X = 2 A and a reader of it, which stands before or after, in one loop.
ir::function carrying(const std::string& read, const std::string& guard, bool before) {
  const std::string writer = R"(
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(X[vi])
            X[vi] = A[vi] * 2
)",
                    reader = R"(
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.where()" + guard +
                             R"()
            T.reads(X[)" + read +
                             R"(])
            T.writes(B[vi])
            B[vi] = X[)" + read +
                             "]\n";
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), X: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):)" +
                   (before ? reader + writer : writer + reader));
}

}  // namespace

TEST_CASE("parallel: iterations that find what others have written") {
  struct {
    const char *read, *guard;
    bool before, fine;
  } const cases[] = {{"vi", "i < 8", false, true},
                     {"vi", "i < 8", true, true},
                     {"(vi + 1) % 8", "i < 8", false, false},
                     {"(vi + 1) % 8", "i < 8", true, false},
                     {"vi", "X[(i + 1) % 8] > 0", false, false},
                     {"vi", "X[(i + 1) % 8] > 0", true, false}};
  for (const auto& c : cases) {
    const std::string what = std::string(c.read) + " where " + c.guard;
    INFO(what);
    const ir::function f = carrying(c.read, c.guard, c.before);
    for (const bool parallel : {true, false}) {
      schedule s(f);
      const loop_rv i = s.get_loops(s.block("B"))[0];
      const auto apply = [&] { parallel ? s.parallel(i) : s.vectorize(i); };
      if (c.fine) {
        apply();
        check_schedule(s, f);
      } else {
        check_refusal(s, parallel ? "parallel" : "vectorize", 1, apply);
      }
    }
    schedule t(f);
    const std::array<loop_rv, 2> tiles = t.split(t.get_loops(t.block("B"))[0], {2, infer});
    if (c.fine) {
      t.reorder({tiles[1], tiles[0]});
      check_schedule(t, f);
    } else {
      const int requirement = std::string_view(c.guard) == "i < 8" ? 8 : 5;  // 5: no affine guard
      check_refusal(t, "reorder", requirement, [&] { t.reorder({tiles[1], tiles[0]}); });
    }
  }
}

TEST_CASE(
    "parallel: a loop that drives the terms of a sum inside of a block that loop_partition made") {
  // nobody reads T, so that each iteration has it for itself; what it holds still comes from the one before
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 5, 6), "float32"), Y: T.Buffer((4,), "float32")):
    T0 = T.alloc_buffer((4, 5))
    for i, k, j in T.grid(4, 5, 6):
        with T.block("T0"):
            vi, vk, vj = T.axis.remap("SSR", [i, k, j])
            with T.init():
                T0[vi, vk] = T.float32(0.0)
            T0[vi, vk] = T.max(T0[vi, vk], A[vi, vk, vj])
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = A[vi, 0, 0]
)");
  for (const bool terms_outside : {true, false}) {
    schedule s(f);
    const auto [i, k, j] = s.loops<3>(s.block("T0"));
    if (terms_outside) s.reorder(j, i);
    s.loop_partition(k, {infer});
    const loop_rv outer = s.get_loops(s.block("T0_k_common"))[0];
    if (terms_outside) {
      check_refusal(s, "parallel", 2, [&] { s.parallel(outer); });
      check_refusal(s, "vectorize", 2, [&] { s.vectorize(outer); });
      check_refusal(s, "bind", 2, [&] { s.bind(outer, "blockIdx.x"); });
    } else {
      s.parallel(outer);
    }
    check_schedule(s, f);
  }
}

TEST_CASE("parallel: what is written says which instances are apart, not the variables") {
  struct {
    const char *extents, *place, *value;
    bool outer, inner;  // the loop may run in parallel
  } const cases[] = {{"8, 4", "vi, vj, 0", "vi + vj", true, true},
                     {"8, 4", "vi, 0, 0", "vi", true, false},        // no index has vj
                     {"8, 4", "vi // 2, vj, 0", "vj", false, true},  // of two, the last one stays
                     {"8, 4", "vi // 2, vi % 2, vj", "vi", true, true},
                     {"8, 4", "(vi * 4 + vj) // 8, (vi * 4 + vj) % 8, 0", "vi", true, true},
                     {"8, 4", "vi + vj, 0, 0", "vj", false, true},
                     {"8, 4", "vj * 8 + vi, 0, 0", "vj", true, true},
                     {"8, 4", "vj * 7 + vi, 0, 0", "vj", false, true},
                     {"8, 4", "vi * 3 + vj, 0, 0", "vj", false, true}};
  for (const auto& c : cases) {
    const std::string place = c.place;
    INFO(place);
    const ir::function f = ir::parse(R"(@T.prim_func
def main(B: T.Buffer((64, 8, 8), "int32")):
    for i, j in T.grid()" + std::string(c.extents) +
                                     R"():
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[)" + place + R"(] = )" +
                                     c.value + "\n");
    for (const bool outer : {true, false}) {
      schedule s(f);
      const loop_rv l = s.get_loops(s.block("B"))[outer ? 0 : 1];
      if (outer ? c.outer : c.inner)
        s.parallel(l);
      else
        check_refusal(s, "parallel", 1, [&] { s.parallel(l); });
      check_meaning(s, f);
    }
  }
}

TEST_CASE("parallel: where data says what is written, the variables are believed") {
  schedule s(ir::parse(R"(@T.prim_func
def main(N: T.Buffer((8,), "int32"), B: T.Buffer((64,), "int32"), C: T.Buffer((64,), "int32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(N[vi])
            T.writes(B[N[vi]])
            B[N[vi]] = vi
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(N[vi])
            T.writes(C[0:64])
            C[N[vi]] = vi
)"));
  for (const char* name : {"B", "C"}) s.parallel(s.get_loops(s.block(name))[0]);
  CHECK(s.get(s.get_loops(s.block("C"))[0]).loop == ir::loop_kind::parallel);
}

TEST_CASE(
    "parallel: rows that data tells apart are not, once a copy of all of them is written back") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(P: T.Buffer((4,), "int32"), A: T.Buffer((8,), "float32"), S: T.Buffer((8,), "float32")):
    for i in range(3):
        with T.block("row"):
            vi = T.axis.spatial(3, i)
            T.reads(P[vi:vi + 2], A[0:8])
            T.writes(S[0:8])
            for j, k in T.grid(P[vi + 1] - P[vi], 8):
                with T.block("S"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    T.reads(P[vi], A[vk])
                    T.writes(S[0:8])
                    with T.init():
                        S[P[vi] + vj] = T.float32(0)
                    S[P[vi] + vj] = S[P[vi] + vj] + A[vk]
)");
  schedule believed(f);
  believed.parallel(believed.get_loops(believed.get_block("row"))[0]);
  schedule s(f);
  s.blockize(s.get_loops(s.get_block("S"))[1]);
  s.cache_inplace(s.get_block("S"), 0, "global");
  const loop_rv rows = s.get_loops(s.get_block("row"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(rows); });
}

TEST_CASE("vectorize: a block around a row that all iterations write is no scatter") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6,), "int32")):
    for i, j in T.grid(6, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj] = A[vi, vj]
)");
  schedule s(f);
  s.blockize(s.get_loops(s.block("B"))[1]);
  const loop_rv i = s.get_loops(s.block("B_o"))[0];
  check_refusal(s, "vectorize", 1, [&] { s.vectorize(i); });
  check_meaning(s, f);
}
