#include <tilewright/schedule/primitive/staging/copy_at.hpp>

#include <string>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* product = R"(@T.prim_func
def main(A: T.Buffer((12, 10), "float32"), B: T.Buffer((10, 7), "float32"), C: T.Buffer((12, 7), "float32")):
    for i, j, k in T.grid(12, 7, 10):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr const char* chain = R"(@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((9,), "float32")):
    B = T.alloc_buffer((9,), "float32")
    for i in range(9):
        with T.block("B"):
            vi = T.axis.spatial(9, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(9):
        with T.block("C"):
            vi = T.axis.spatial(9, i)
            C[vi] = B[vi] + T.float32(1)
)";

/// A copy of what the block reads, at the outermost loop around it, changes nothing.
void check_read(const ir::function& f, const char* block) {
  schedule s(f);
  const block_rv b = s.block(block);
  s.read_at(s.get_loops(b)[0], b, 0, "local");
  check_meaning(s, f);
}

/// A copy of what it writes, at that loop around it, outermost first, changes nothing.
void check_written(const ir::function& f, const char* block, std::size_t loop = 0) {
  schedule s(f);
  const block_rv b = s.block(block);
  s.write_at(s.get_loops(b)[loop], b, 0, "local");
  check_meaning(s, f);
}

/// There, what the block reads is not copied.
void check_not_read(const ir::function& f, int requirement, const char* block,
                    std::size_t loop = 0) {
  schedule s(f);
  const block_rv b = s.block(block);
  const loop_rv at = s.get_loops(b)[loop];
  check_refusal(s, "read_at", requirement, [&] { s.read_at(at, b, 0, "local"); });
}

void check_not_written(const ir::function& f, int requirement, const char* block,
                       std::size_t loop = 0) {
  schedule s(f);
  const block_rv b = s.block(block);
  const loop_rv at = s.get_loops(b)[loop];
  check_refusal(s, "write_at", requirement, [&] { s.write_at(at, b, 0, "local"); });
}

}  // namespace

TEST_CASE("read_at: one block copies what the body of the loop reads") {
  const ir::function f = ir::parse(product);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto i = s.split(s.get_loops(c)[0], {3, 4});
  const block_rv copy = s.read_at(i[0], c, 0, "shared.dyn");
  CHECK(s.get(copy).block->name == "A_shared.dyn");
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((12, 10), "float32"), B: T.Buffer((10, 7), "float32"), C: T.Buffer((12, 7), "float32")):
    A_shared_dyn = T.alloc_buffer((12, 10), "float32", scope="shared.dyn")
    for i_0 in range(3):
        with T.block("A_shared.dyn"):
            v0 = T.axis.spatial(3, i_0)
            T.reads(A[v0 * 4:v0 * 4 + 4, 0:10])
            T.writes(A_shared_dyn[v0 * 4:v0 * 4 + 4, 0:10])
            T.block_attr({"auto_copy": 1})
            for ax0, ax1 in T.grid(4, 10):
                A_shared_dyn[v0 * 4 + ax0, ax1] = A[v0 * 4 + ax0, ax1]
        for i_1, j, k in T.grid(4, 7, 10):
            with T.block("C"):
                vi = T.axis.spatial(12, i_0 * 4 + i_1)
                vj, vk = T.axis.remap("SR", [j, k])
                T.reads(A_shared_dyn[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A_shared_dyn[vi, vk] * B[vk, vj]
)");
  s.read_at(i[0], c, 1, "shared");
  check_meaning(s, f);
}

TEST_CASE("read_at and write_at: a tile that does not divide is not copied beyond the end") {
  const ir::function f = ir::parse(product);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto i = s.split(s.get_loops(c)[0], {infer, 5});
  s.read_at(i[0], c, 0, "local");
  s.write_at(i[0], c, 0, "local");
  check_meaning(s, f);
}

TEST_CASE("write_at: below every loop, sums included") {
  for (std::size_t loop = 0; loop < 3; ++loop) {
    CAPTURE(loop);
    check_written(ir::parse(product), "C", loop);
  }
}

TEST_CASE("write_at, cache_write, reindex: a reduction that declares to read its result") {
  const ir::function f = program_of(
      product, {{"with T.init():", "T.reads(C[vi, vj], A[vi, vk], B[vk, vj])\nwith T.init():"}});
  check_written(f, "C", 1);
  schedule t(f), u(f);
  t.cache_write(t.block("C"), 0, "local");
  check_meaning(t, f);
  u.reindex(u.block("C"), written_buffer(0));
  check_meaning(u, f);
}

TEST_CASE("write_at: init and update below the loop work on the cache") {
  const ir::function f = ir::parse(product);
  schedule s(f);
  const block_rv c = s.block("C");
  const std::vector<loop_rv> loops = s.get_loops(c);
  s.decompose_reduction(c, loops[1]);
  s.write_at(loops[0], c, 0, "local");
  check_meaning(s, f);
}

TEST_CASE("read_at and write_at: symbolic extents") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 6), "float32")
    B = T.match_buffer(b, (n, 6), "float32")
    for i, j in T.grid(n, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)");
  schedule s(f);
  const block_rv b = s.block("B");
  s.read_at(s.get_loops(b)[0], b, 0, "local");
  s.write_at(s.get_loops(b)[0], b, 0, "local");
  check_meaning(s, f, {{"n", 5}});
}

TEST_CASE("read_at: requirements by number") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  const loop_rv i = s.get_loops(b)[0], j = s.get_loops(c)[0];
  check_refusal(s, "read_at", 1, [&] { s.read_at(i, b, 1, "local"); });
  check_refusal(s, "read_at", 2, [&] { s.read_at(i, b, 0, "test_scope"); });
  check_refusal(s, "read_at", 3, [&] { s.read_at(j, b, 0, "local"); });
  check_refusal(s, "write_at", 3, [&] { s.write_at(j, b, 0, "local"); });
}

TEST_CASE("read_at, write_at: a block behind the copy changes what it copies") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        with T.block("A1"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(1)
)");
  check_not_read(f, 4, "B");
  check_written(f, "B");
}

TEST_CASE("write_at: a block that reads what it writes") {
  check_not_written(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A1"):
            vi = T.axis.spatial(8, i)
            A[vi] = A[vi] + T.float32(1)
)"),
                    5, "A1");
}

TEST_CASE("write_at: a guarded element that no index tells from others is not copied back") {
  check_not_written(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(1, i - 1)
            T.where(1 <= i and i < 2)
            B[1] = A[0]
)"),
                    5, "B");
}

TEST_CASE("write_at: iterations that run at once copy different elements back") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 6), "int32"), B: T.Buffer((8, 6), "int32"), C: T.Buffer((8,), "int32")):
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, k in T.grid(8, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)");
  schedule threads(f);
  const block_rv c = threads.block("C");
  const loop_rv k = threads.get_loops(c)[1];
  threads.bind(k, "threadIdx.x");
  check_refusal(threads, "write_at", 0, [&] { threads.write_at(k, c, 0, "local"); });
  schedule s(f);
  const block_rv b = s.block("B");
  const std::vector<loop_rv> loops = s.get_loops(b);
  const auto rows = s.split(loops[0], {infer, 4});
  s.parallel(rows[0]);
  s.parallel(rows[1]);
  s.write_at(loops[1], b, 0, "local");
  check_meaning(s, f);
}

TEST_CASE("write_at: a part of a partition that leaves gaps in what it declares") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((2, 2), "int32")):
    for i, j in T.grid(2, 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi * 2 + vj]
)");
  for (const bool fused : {true, false}) {
    schedule s(f);
    const block_rv b = s.block("B");
    loop_rv loop = s.get_loops(b)[0];
    if (fused) loop = s.fuse(loop, s.get_loops(b)[1]);
    s.loop_partition(loop, {factor(1), infer}, true);
    const block_rv part = s.block(fused ? "B_i_j_fused1_partition" : "B_i1_partition");
    const loop_rv around = s.add_unit_loop(part);
    if (fused) {
      check_refusal(s, "write_at", 5, [&] { s.write_at(around, part, 0, "local"); });
    } else {
      s.write_at(around, part, 0, "local");
      check_meaning(s, f);
    }
  }
}

TEST_CASE("write_at: what a guard leaves out where the copy stands is not written") {
  // in the last iteration of j1 nothing is written: the cache would hold nothing to copy out
  check_not_written(ir::parse(R"(@T.prim_func
def main(V: T.Buffer((8,), "int32"), T1: T.Buffer((2, 4), "int32")):
    T0 = T.alloc_buffer((2, 4), "int32")
    for i, j0, j1 in T.grid(4, 1, 3):
        with T.block("T0"):
            v0 = T.axis.spatial(2, i // 2)
            v1 = T.axis.spatial(2, i % 2)
            v2 = T.axis.spatial(2, j0 * 3 + j1)
            T.where(j0 * 3 + j1 < 2)
            T0[v0, v1 * 2 + v2] = V[v0 * 4 + v1 * 2 + v2]
    for i, j in T.grid(2, 4):
        with T.block("T1"):
            vi, vj = T.axis.remap("SS", [i, j])
            T1[vi, vj] = T0[vi, vj]
)"),
                    5, "T0", 2);
}

TEST_CASE("read_at: a place that is loaded") {
  const auto program = [](const char* change) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), B: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            M[vi] = A[vi, 1] % 4
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            vm = T.axis.spatial(6, M[i])
            B[vi] = A[vm, 0]
        <change>
    for i in range(6):
        for j in range(M[i] + 1):
            with T.block("C"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.reduce(6, j)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vj]
)",
                      {{"<change>", change}});
  };
  SUBCASE("is read by the copy too") {
    const ir::function f = program("");
    check_read(f, "B");
    check_not_read(f, 6, "C", 1);
  }
  SUBCASE("and changed in the loop") {
    check_not_read(program(R"(
with T.block("M_1"):
    vi = T.axis.spatial(6, i)
    M[vi] = 3 - M[vi])"),
                   4, "B");
  }
}

TEST_CASE("write_at, bind: copies of one element by several iterations do not run at once") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 2), "int32"), C: T.Buffer((8, 4), "int32")):
    for i, j, k in T.grid(8, 4, 2):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk]
)");
  schedule mixed(f);
  const block_rv c = mixed.block("C");
  const std::vector<loop_rv> all = mixed.get_loops(c);
  const loop_rv fused = mixed.fuse(all[0], all[1], all[2]);
  mixed.write_at(fused, c, 0, "local");
  check_refusal(mixed, "bind", 1, [&] { mixed.bind(fused, "threadIdx.y"); });

  schedule apart(f);
  const block_rv block = apart.block("C");
  const std::vector<loop_rv> loops = apart.get_loops(block);
  const loop_rv spatial = apart.fuse(loops[0], loops[1]);
  apart.write_at(spatial, block, 0, "local");
  apart.bind(spatial, "threadIdx.y");
  check_schedule(apart, f);
}

TEST_CASE("read_at: a block that holds a triangle fills no box") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    B = T.alloc_buffer((4, 6), "int32")
    for i in range(4):
        for j in range(i, 6):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = A[vi, vj] + 1
        for j in range(i, 6):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(6, j)
                C[vi, vj] = B[vi, vj] * 2
)"));
  s.blockize(s.get_loops(s.block("B"))[1]);
  const block_rv c = s.block("C");
  const loop_rv i = s.get_loops(c)[0];
  check_refusal(s, "read_at", 5, [&] { s.read_at(i, c, 0, "local"); });
}

TEST_CASE("read_at: what stands around the blocks keeps loading the buffer") {
  const char* guard = R"(
with T.block("R"):
    vi = T.axis.spatial(16, i * 4 + j)
    T.where(X[15 - i * 4 - j] > 0)
    Y[vi] = X[vi])";
  const char* condition = R"(
if X[15 - i * 4 - j] > 0:
    with T.block("R"):
        vi = T.axis.spatial(16, i * 4 + j)
        Y[vi] = X[vi])";
  for (const char* guarded : {guard, condition}) {
    CAPTURE(std::string(guarded));
    check_read(program_of(R"(@T.prim_func
def main(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i, j in T.grid(4, 4):
        <guarded>
)",
                          {{"<guarded>", guarded}}),
               "R");
  }
}

TEST_CASE("write_at: sums that another block changes before they are finished") {
  check_not_written(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), C: T.Buffer((8,), "int32")):
    for t in range(4):
        for i, k in T.grid(8, 4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vk = T.axis.reduce(16, t * 4 + k)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
        for i in range(8):
            with T.block("twice"):
                vi = T.axis.spatial(8, i)
                vt = T.axis.opaque(4, t)
                C[vi] = C[vi] * 2
)"),
                    5, "C", 1);
}

TEST_CASE("read_at: a place that is loaded under a guard is not loaded without it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5,), "int32"), M: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    I = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("I"):
            vi = T.axis.spatial(5, i)
            I[vi] = M[vi] & 3
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            vm = T.axis.spatial(5, I[i])
            B[vi] = A[vm]
)");
  for (const int inner : {4, 5}) {
    schedule s(f);
    const auto [i0, i1] = s.split(s.get_loops(s.block("B"))[0], {infer, inner});
    const block_rv copy = s.read_at(i1, s.block("B"), 0, "shared");
    CHECK(s.get(copy).block->iters.empty() == (inner == 4));  // all of A where 5 does not divide
    check_schedule(s, f);
  }
}

TEST_CASE("write_at: two blocks inside of one leave holes in the box around what they write") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), B: T.Buffer((5, 5), "int32")):
    for i, j in T.grid(4, 4):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi + 1, vj] = A[vi, vj] + 3
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj + 1] = A[vi, vj] * 2
)");
  schedule s(f);
  const block_rv both = s.blockize({s.block("X"), s.block("Y")});
  const loop_rv i = s.get_loops(both)[0];
  check_refusal(s, "write_at", 5, [&] { s.write_at(i, both, 0, "local"); });
  check_meaning(s, f);
}

TEST_CASE("read_at: the domains of a block that reads the copy load what is around it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(I: T.Buffer((4,), "int32"), A: T.Buffer((3,), "int32"), C: T.Buffer((3,), "int32")):
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(I[3], i)
            T.reads(I[vi], A[vi])
            T.writes(C[vi])
            C[vi] = A[vi] + I[vi]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  s.read_at(s.get_loops(c)[0], c, 0, "global");
  CHECK(s.get(c).block->iters[0].dom.extent->buffer->name == "I");
  CHECK(s.get(c).block->reads[0].buffer->name == "I_global");
}

TEST_CASE("read_at: inside of a block that reads what each iteration around it fills anew") {
  const auto nested = [](int filled) {
    return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")):
    S = T.alloc_buffer((8, 16), "float32")
    for o in range(8):
        for j in range()" +
                     std::to_string(filled) + R"():
            with T.block("S"):
                vo, vj = T.axis.remap("SS", [o, j])
                S[vo, vj] = A[vo, vj]
        with T.block("outer"):
            vo = T.axis.spatial(8, o)
            T.reads(S[vo, 0:16])
            T.writes(B[vo, 0:16])
            for j in range(16):
                with T.block("B"):
                    vj = T.axis.spatial(16, j)
                    B[vo, vj] = S[vo, vj] + T.float32(1)
)");
  };
  const ir::function f = nested(16);
  schedule s(f);
  const block_rv inner = s.get_block("B");
  s.read_at(s.split(s.get_loops(inner)[0], {infer, 4})[0], inner, 0, "local");
  check_schedule(s, f);
  schedule half(nested(8));  // what is filled by half is not there as a whole
  const block_rv reader = half.get_block("B");
  const loop_rv whole = half.get_loops(reader)[0];
  check_refusal(half, "read_at", 5, [&] { half.read_at(whole, reader, 0, "local"); });
}
