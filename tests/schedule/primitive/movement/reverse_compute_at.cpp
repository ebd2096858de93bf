#include <tilewright/schedule/primitive/movement/compute_at.hpp>

#include <tilewright/ir/text/parse.hpp>

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

TEST_CASE("reverse_compute_at: quotient and remainder indices are solved exactly") {
  program p;
  const ir::buffer a = p.input("A", {8, 16}), b = p.temp("B", {8, 16}), c = p.output("C", {128});
  p.map(b, {{"i", 8}, {"j", 16}},
        [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
  p.map(c, {{"i", 128}}, [&](const indices& v) {
    return ir::load(b, {ir::floordiv(v[0], 16), ir::floormod(v[0], 16)});
  });
  const ir::function f = p.finish();
  for (const int depth : {0, 1}) {
    schedule s(f);
    const block_rv c_rv = s.block("C");
    s.reverse_compute_at(c_rv, s.get_loops(s.block("B"))[static_cast<std::size_t>(depth)]);
    CHECK(extents(s, c_rv) == (depth == 0 ? sizes{8, 16} : sizes{8, 16}));
    CHECK_FALSE(guarded(s, c_rv));
    check_meaning(s, f);
  }
}

TEST_CASE("reverse_compute_at: digits of a number that two variables make") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((3, 16), "float32"), C: T.Buffer((6, 8), "float32")):
    B = T.alloc_buffer((3, 16))
    for i, j in T.grid(3, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1.0
    for i, j in T.grid(6, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[(vi * 8 + vj) // 16, (vi * 8 + vj) % 16]
)");
  schedule s(f);
  s.reverse_compute_at(s.block("C"), s.get_loops(s.block("B"))[0]);
  const auto loops = s.get_loops(s.block("C"));
  REQUIRE(loops.size() == 3);
  CHECK(ir::is_int(s.get(loops[1]).extent, 2));
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_at: quotient and remainder by a symbolic extent") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int32()
    A = T.match_buffer(x, (4, n))
    C = T.match_buffer(y, (4, n))
    B = T.alloc_buffer((8, 4, n))
    for f, k in T.grid(n * 4, 8):
        with T.block("B"):
            vk = T.axis.spatial(8, k)
            vi = T.axis.spatial(4, f // n)
            vj = T.axis.spatial(n, f % n)
            B[vk, vi, vj] = A[vi, vj]
    for f, k in T.grid(n * 4, 8):
        with T.block("C"):
            vk = T.axis.reduce(8, k)
            vi = T.axis.spatial(4, f // n)
            vj = T.axis.spatial(n, f % n)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + B[vk, vi, vj]
)"));
  s.reverse_compute_at(s.block("C"), s.get_loops(s.block("B"))[0]);
  CHECK(s.get_loops(s.block("C")).size() == 2);
  CHECK(s.show().find("T.where") == std::string::npos);  // f // n is in range(4)
}

TEST_CASE("reverse_compute_at: a window needs what one iteration has produced") {
  const auto pooling = [](int size, int stride) {
    program p;
    const ir::buffer a = p.input("A", {16}), b = p.temp("B", {16}),
                     c = p.output("C", {(16 - size) / stride + 1});
    p.map(b, {{"i", 16}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
    p.peak(c, {{"p", (16 - size) / stride + 1}, {"r", size}}, 1,
           [&](const indices& v) { return ir::load(b, {v[0] * stride + v[1]}); });
    return p.finish();
  };
  {
    const ir::function f = pooling(2, 2);
    schedule s(f);
    const auto i0_i1 = s.split(s.get_loops(s.block("B"))[0], {infer, 4});
    const loop_rv i0 = i0_i1[0];
    s.reverse_compute_at(s.block("C"), i0);
    CHECK(extents(s, s.block("C")) == sizes{4, 2, 2});
    check_meaning(s, f);
  }
  {
    schedule s(pooling(3, 2));  // windows cross the tiles
    const block_rv c = s.block("C");
    const auto i0_i1 = s.split(s.get_loops(s.block("B"))[0], {infer, 4});
    const loop_rv i0 = i0_i1[0];
    check_refusal(s, "reverse_compute_at", 8, [&] { s.reverse_compute_at(c, i0); });
  }
}

TEST_CASE("reverse_compute_at: thread blocks cannot wait for what others write") {
  schedule s(stencil(34));
  const loop_rv i = s.get_loops(s.block("B"))[0];
  s.bind(i, "blockIdx.x");
  const block_rv c = s.block("C");
  check_refusal(s, "reverse_compute_at", 8, [&] { s.reverse_compute_at(c, i); });
}

TEST_CASE("reverse_compute_at: refusals") {
  const ir::function f = stages::matmul_bias_relu(8, 8, 8);
  schedule s(f);
  const block_rv c = s.block("C"), e = s.block("E"), d = s.block("D");
  const auto i_j_k = s.loops<3>(c);
  const loop_rv i = i_j_k[0], j = i_j_k[1];
  const auto ei_ej = s.loops<2>(e);
  const loop_rv ej = ei_ej[1];
  check_refusal(s, "reverse_compute_at", 5, [&] { s.reverse_compute_at(d, i); });  // E is outside
  check_refusal(s, "reverse_compute_at", 3, [&] { s.reverse_compute_at(e, ej); });
  s.reverse_compute_at(e, j);
  s.reverse_compute_at(d, i);
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_at: the last run decides below a loop that still reduces") {
  const ir::function f = stages::matmul_bias_relu(8, 8, 8);
  schedule s(f);
  const loop_rv k = s.get_loops(s.block("C"))[2];
  s.reverse_compute_at(s.block("E"), k);
  check_meaning(s, f);

  schedule reads_inputs(f);
  reads_inputs.reverse_compute_at(reads_inputs.block("C"),
                                  reads_inputs.get_loops(reads_inputs.block("E"))[0]);
  check_meaning(reads_inputs, f);
}

TEST_CASE("reverse_compute_at: an unfinished sum must not become an index or a divisor") {
  program p;
  const ir::buffer a = p.input("A", {8, 4}, dtype::i32), table = p.input("T", {64}, dtype::i32);
  const ir::buffer n = p.temp("N", {8}, dtype::i32), c = p.output("C", {8}, dtype::i32);
  p.sum(n, {{"i", 8}, {"k", 4}}, 1, [&](const indices& v) { return ir::load(a, v); });
  SUBCASE("index") {
    p.map(c, {{"i", 8}},
          [&](const indices& v) { return ir::load(table, {ir::floormod(ir::load(n, v), 64)}); });
  }
  SUBCASE("divisor") {
    p.map(c, {{"i", 8}}, [&](const indices& v) {
      return ir::floordiv(ir::integer(dtype::i32, 100), ir::load(n, v));
    });
  }
  schedule s(p.finish());
  const loop_rv k = s.get_loops(s.block("N"))[1];
  const block_rv last = s.block("C");
  check_refusal(s, "reverse_compute_at", 5, [&] { s.reverse_compute_at(last, k); });
}

TEST_CASE("reverse_compute_at: the border of a padding is not lost") {
  program p;
  const ir::buffer a = p.input("A", {6}), b = p.temp("B", {6}), c = p.output("C", {8});
  p.map(b, {{"i", 6}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
  p.map(c, {{"i", 8}}, [&](const indices& v) {
    const ir::expr at = v[0] - 1;
    return ir::if_then_else(ir::logical_and(ir::ge(at, 0), ir::lt(at, 6)), ir::load(b, {at}),
                            stages::f32(0));
  });
  schedule s(p.finish());
  const block_rv c_rv = s.block("C");
  const loop_rv i = s.get_loops(s.block("B"))[0];
  check_refusal(s, "reverse_compute_at", 7, [&] { s.reverse_compute_at(c_rv, i); });
}

TEST_CASE("reverse_compute_at: the border is not lost where the variables are digits of an index") {
  for (const int border : {0, 1}) {
    program p;
    const ir::buffer a = p.input("A", {9}), b = p.temp("B", {9}),
                     c = p.output("C", {3, 3 + border});
    p.map(b, {{"i", 9}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
    p.map(c, {{"i", 3}, {"j", 3 + border}}, [&](const indices& v) {
      const ir::expr at = v[0] * (3 + border) + v[1] - border;
      return ir::if_then_else(ir::logical_and(ir::ge(at, 0), ir::lt(at, 9)), ir::load(b, {at}),
                              stages::f32(0));
    });
    const ir::function f = p.finish();
    schedule s(f);
    const block_rv c_rv = s.block("C");
    const loop_rv i = s.get_loops(s.block("B"))[0];
    if (border == 0)
      s.reverse_compute_at(c_rv, i);
    else
      check_refusal(s, "reverse_compute_at", 7, [&] { s.reverse_compute_at(c_rv, i); });
    check_meaning(s, f);
  }
}

TEST_CASE("reverse_compute_at: loops without iterations would not run it") {
  const auto with = [](const std::string& extent) {
    return ir::parse(R"(
@T.prim_func
def main(B: T.Buffer((4,), "int32"), I: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    for i in range(4):
        for z in range()" +
                     extent + R"():
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                vz = T.axis.opaque(9, z)
                B[vi] = vz
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi] * 2
)");
  };
  for (const char* extent : {"0", "i", "T.max(3 - i, 0)", "I[i]"}) {
    INFO(extent);
    schedule s(with(extent));
    const block_rv c = s.block("C");
    const loop_rv z = s.get_loops(s.block("Z"))[1];
    check_refusal(s, "reverse_compute_at", 7, [&] { s.reverse_compute_at(c, z); });
  }
  for (const char* extent : {"2", "i + 1"}) {
    INFO(extent);
    const ir::function f = with(extent);
    schedule s(f);
    s.reverse_compute_at(s.block("C"), s.get_loops(s.block("Z"))[1]);
    check_meaning(s, f);
  }
}

TEST_CASE("reverse_compute_at: a reduction runs each instance once") {
  // D[i] = sum over j of C[i, j] below the loop j of C: each iteration adds its term
  program p;
  const ir::buffer a = p.input("A", {6, 9}), c = p.temp("C", {6, 9}), d = p.output("D", {6});
  p.map(c, {{"i", 6}, {"j", 9}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
  p.sum(d, {{"i", 6}, {"j", 9}}, 1, [&](const indices& v) { return ir::load(c, v); });
  const ir::function f = p.finish();
  {
    schedule s(f);
    const auto i_j = s.loops<2>(s.block("C"));
    const loop_rv j = i_j[1];
    s.reverse_compute_at(s.block("D"), j);
    check_meaning(s, f);
  }
  {
    schedule s(f);
    const block_rv d_rv = s.block("D");
    const auto i_j = s.loops<2>(s.block("C"));
    const loop_rv j = i_j[1];
    s.parallel(j);
    check_refusal(s, "reverse_compute_at", 4, [&] { s.reverse_compute_at(d_rv, j); });
  }
}

TEST_CASE("reverse_compute_at: blocks of threads do not accumulate together") {
  program p;
  const ir::buffer a = p.input("A", {6, 4}), t = p.temp("T", {6, 4}), y = p.output("Y", {6});
  p.map(t, {{"i", 6}, {"j", 4}}, [&](const indices& v) { return ir::load(a, v); });
  p.sum(y, {{"i", 6}, {"j", 4}}, 1, [&](const indices& v) { return ir::load(t, v); });
  const ir::function f = p.finish();
  for (const char* axis : {"blockIdx.x", "vthread.x", "threadIdx.x"}) {
    schedule s(f);
    const auto i_j = s.loops<2>(s.block("T"));
    const loop_rv i = i_j[0], j = i_j[1];
    s.reorder({j, i});
    s.bind(j, axis);
    const block_rv sum = s.block("Y");
    if (std::string(axis) == "threadIdx.x")  // these can add up
      CHECK_NOTHROW(s.reverse_compute_at(sum, j));
    else
      check_refusal(s, "reverse_compute_at", 4, [&] { s.reverse_compute_at(sum, j); });
  }
}

TEST_CASE("reverse_compute_at: threads do not all run the block for the same elements") {
  const auto program_with = [](const std::string& scope) {
    std::string text = R"(
@T.prim_func
def main(V: T.Buffer((6,), "int32"), Y: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32", scope="SCOPE")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = V[vi] * 2
    for i in range(6):
        with T.block("Y"):
            vi = T.axis.spatial(6, i)
            Y[vi] = B[vi] + 1
)";
    return ir::parse(text.replace(text.find("SCOPE"), 5, scope));
  };
  const ir::function shared = program_with("shared"), f = program_with("global");
  {
    schedule s(shared);
    const block_rv b = s.block("B"), y = s.block("Y");
    const loop_rv i = s.get_loops(y)[0];
    s.bind(i, "threadIdx.x");
    s.compute_at(b, i, true);  // of a shared buffer: all of it in every thread
    CHECK(extents(s, b) == sizes{6, 6});
    const loop_rv target = s.get_loops(b)[1];
    check_refusal(s, "reverse_compute_at", 0, [&] { s.reverse_compute_at(y, target); });
  }
  for (const char* axis : {"threadIdx.x", "blockIdx.x"}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const loop_rv i = s.get_loops(s.block("Y"))[0];
    s.bind(i, axis);
    s.compute_at(b, i, true);  // of a global buffer: its own part
    CHECK(extents(s, b) == sizes{6, 1});
    check_meaning(s, f);
  }
  schedule s(f);
  const block_rv y = s.block("Y");
  const loop_rv i = s.get_loops(s.block("B"))[0];
  const auto [i0, i1] = s.split(i, {2, infer});
  s.bind(i0, "blockIdx.x");
  s.bind(i1, "threadIdx.x");
  s.reverse_compute_at(y, i1);  // elements of their own
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_at: a guard of the producer cuts what it offers") {
  program p;
  const ir::buffer a = p.input("A", {7, 3}), t = p.temp("T", {7, 3}), y = p.output("Y", {8, 3});
  p.map(t, {{"i", 7}, {"j", 3}}, [&](const indices& v) { return ir::load(a, v); });
  p.map(y, {{"i", 8}, {"j", 3}}, [&](const indices& v) {
    return ir::if_then_else(ir::lt(v[0], 7), ir::load(t, v), stages::f32(0));
  });
  schedule s(p.finish());
  const auto i_j = s.loops<2>(s.block("T"));
  const auto parts = s.split(s.fuse(i_j[0], i_j[1]), {2, infer});
  const block_rv y_rv = s.block("Y");
  check_refusal(s, "reverse_compute_at", 7, [&] { s.reverse_compute_at(y_rv, parts[1]); });
}

TEST_CASE("reverse_compute_at: instances that a parallel loop divides are not all repeated in it") {
  for (const char* kind : {"T.parallel", "range"}) {
    const ir::function f = ir::parse(std::string(R"(
@T.prim_func
def main(V: T.Buffer((2,), "int32"), A: T.Buffer((7, 4), "int32"), Y: T.Buffer((7, 4), "int32"),
         Z: T.Buffer((7, 2), "int32")):
    for i in )") + kind + R"((7):
        with T.block("row"):
            T.reads(A[i, 0:4], V[0:2])
            T.writes(Y[i, 0:4], Z[i, 0:2])
            for j in range(4):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[vi, vj] + 1
            for k in range(2):
                with T.block("Z"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    Z[vi, vk] = V[vk] * 2
)");
    schedule s(f);
    const block_rv y = s.block("Y");
    const loop_rv k = s.get_loops(s.block("Z")).back();
    if (std::string(kind) == "T.parallel") {
      check_refusal(s, "reverse_compute_at", 5, [&] { s.reverse_compute_at(y, k); });
    } else {
      s.reverse_compute_at(y, k);  // serial iterations may compute them again
      check_meaning(s, f);
    }
  }
}

TEST_CASE("reverse_compute_at: a sum that each row starts anew belongs to its row") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3, 6), "int32"), B: T.Buffer((3,), "int32")):
    L = T.alloc_buffer((1,), "int32")
    S = T.alloc_buffer((1,), "int32")
    for i in range(3):
        for j in range(6):
            with T.block("L"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    L[0] = 0
                L[0] = L[0] + A[vi, vj]
        with T.block("S"):
            S[0] = L[0]
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            B[vi] = S[0]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv j = s.get_loops(s.block("L"))[1];
  check_refusal(s, "reverse_compute_at", 5, [&] { s.reverse_compute_at(b, j); });
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_at: what a block around stands for keeps its value") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 4), "int32"), Y: T.Buffer((7, 4), "int32"), Z: T.Buffer((7, 2), "int32")):
    X = T.alloc_buffer((7, 4), "int32")
    for i in range(7):
        for j in range(4):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = A[vi, vj] * 2
        with T.block("row"):
            T.reads(X[i, 0:4])
            T.writes(Y[i, 0:4], Z[i, 0:2])
            for j in range(4):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = X[vi, vj] + 1
            for k in range(2):
                with T.block("Z"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    Z[vi, vk] = vk * 2
)");
  schedule s(f);
  s.reverse_compute_at(s.block("Y"), s.get_loops(s.block("Z")).back());
  check_meaning(s, f);  // the rows of X behind row i are not there yet
}

TEST_CASE(
    "reverse_compute_at: partial sums of parts and lanes go below the strips that they read") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((43,), "int32"), C: T.Buffer((2,), "int32")):
    B = T.alloc_buffer((43,), "int32")
    for n in range(43):
        with T.block("B"):
            vn = T.axis.spatial(43, n)
            B[vn] = A[vn] * 3
    for c, n in T.grid(2, 43):
        with T.block("C"):
            vc, vn = T.axis.remap("SR", [c, n])
            with T.init():
                C[vc] = 0
            C[vc] = C[vc] + B[vn] * (vc + 1)
)");
  schedule s(f);
  const auto p_s_v_l = s.split(s.loops<2>(s.block("C"))[1], {2, infer, 2, 4});
  const block_rv of_lanes = s.rfactor(p_s_v_l[3], 1);
  const block_rv parts = s.rfactor(s.get_loops(of_lanes)[1], 0);
  const auto of_b = s.split(s.loops<1>(s.block("B"))[0], {2, infer, 2, 4});
  s.reverse_compute_at(parts, of_b[1],
                       true);  // 43 is no multiple of 8: the guard joins all of them
  check_meaning(s, f);
  const std::vector<loop_rv> loops = s.get_loops(parts);
  REQUIRE(loops.size() == 7);  // part, strip | part, lane, c, strip, vector
  s.reorder(loops[4], loops[5], loops[6], loops[3]);
  s.vectorize(loops[3]);
  s.parallel(loops[0]);
  check_meaning(s, f);
  s.decompose_reduction(parts, loops[1]);
  check_meaning(s, f);
}

TEST_CASE(
    "reverse_compute_at: digits that the producer leaves out are not told by those above them") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((24,), "int32"), B: T.Buffer((24,), "int32"), C: T.Buffer((3, 4), "int32")):
    for p, s in T.grid(3, 2):
        with T.block("B"):
            vp, vs = T.axis.remap("SS", [p, s])
            B[vp * 8 + vs] = A[vp * 8 + vs] * 3
    for p, s in T.grid(3, 4):
        with T.block("C"):
            vp, vs = T.axis.remap("SS", [p, s])
            C[vp, vs] = B[vp * 8 + vs]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  const loop_rv digit = s.get_loops(s.block("B"))[1];
  check_refusal(s, "reverse_compute_at", 7, [&] { s.reverse_compute_at(c, digit); });
}
