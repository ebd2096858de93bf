// cache_write: results are computed in a buffer of their own, and copied.
#include <tilewright/schedule/primitive/staging/cache.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include "../../check_schedule.hpp"
#include "../../stages.hpp"
#include "cache_programs.hpp"

using namespace tilewright;
using namespace caches;
using stages::indices;
using stages::program;

TEST_CASE("cache_write: accumulation happens in the cache") {
  const ir::function f = stages::matmul(5, 6, 7);
  schedule s(f);
  const block_rv c = s.block("C"), copy = s.cache_write(c, 0, "local");
  CHECK(s.get(c).block->name == "C");
  CHECK(s.get(copy).block->name == "C_local");
  CHECK(s.get(c).block->writes[0].buffer->name == "C_local");
  CHECK(ir::as_store(s.get(c).block->init)->buffer->name == "C_local");
  CHECK(s.get(copy).block->writes[0].buffer->name == "C");
  check_meaning(s, f);
  s.decompose_reduction(c, s.get_loops(c)[2]);
  check_meaning(s, f);
}

TEST_CASE("cache_write: listed consumers read the cache") {
  const ir::function f = two_readers(7);
  schedule s(f);
  const block_rv t = s.block("T"), x = s.block("X"), y = s.block("Y");
  s.cache_write(t, 0, "global", {y});
  CHECK(reads(s, x, "T"));
  CHECK(reads(s, y, "T_global"));
  check_meaning(s, f);
}

TEST_CASE("cache_write: a block that writes a part") {
  program p;
  const ir::buffer a = p.input("A", {6}), y = p.output("Y", {20});
  p.map(
      y, {{"i", 6}}, [&](const indices& v) { return ir::load(a, v); },
      [](const indices& v) { return indices{v[0] + 5}; });
  const ir::function f = p.finish();
  schedule s(f);
  const block_rv copy = s.cache_write(s.block("Y"), 0, "local");
  CHECK(shape(s.get(copy).block->reads[0].buffer) == sizes{6});
  check_meaning(s, f);
}

TEST_CASE("cache_write: refusals") {
  program p;
  const ir::buffer a = p.input("A", {8}), t = p.temp("T", {8}), y = p.output("Y", {16});
  p.map(t, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); });
  p.map(
      t, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v) + stages::f32(1); }, {}, "T_1");
  p.map(
      y, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v); },
      [](const indices& v) { return indices{v[0] * 2}; });
  schedule s(p.finish());
  const block_rv t_rv = s.block("T"), t1 = s.block("T_1"), y_rv = s.block("Y");
  check_refusal(s, "cache_write", 3, [&] { s.cache_write(t_rv, 0, "local"); });
  check_refusal(s, "cache_write", 3, [&] { s.cache_write(t1, 0, "local"); });
  check_refusal(s, "cache_write", 1, [&] { s.cache_write(t_rv, 1, "local"); });
  check_refusal(s, "cache_write", 2, [&] { s.cache_write(t_rv, 0, "register"); });
  check_refusal(s, "cache_write", 5,
                [&] { s.cache_write(y_rv, 0, "local"); });  // every other element
  const block_rv root = s.block("root");
  check_refusal(s, "cache_write", 6, [&] { s.cache_write(y_rv, 0, "local", {root}); });
}

TEST_CASE("cache_write: a tile of a buffer of symbolic extent in an inner scope") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(x: T.handle, y: T.handle, n: T.int32):
    A = T.match_buffer(x, ((n + 31) // 32 * 32,))
    B = T.match_buffer(y, ((n + 31) // 32 * 32,))
    for i0 in range((n + 31) // 32):
        with T.block("tile"):
            vo = T.axis.spatial((n + 31) // 32, i0)
            for i1 in range(32):
                with T.block("B"):
                    vi = T.axis.spatial(32, i1)
                    B[vo * 32 + vi] = A[vo * 32 + vi] + 1.0
)"));
  s.cache_write(s.block("B"), 0, "local");
  CHECK(shape(s.get(s.block("tile")).block->alloc_buffers[0]) == sizes{32});
}

TEST_CASE("cache_write: rows whose length is decided outside of the scope") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6, 6), "int32")):
    for i in range(6):
        for j in range(i, i + (6 - i)):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = A[vi, vj]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  s.blockize(s.get_loops(b)[1]);
  check_refusal(s, "cache_write", 5, [&] { s.cache_write(b, 0, "local"); });
}

TEST_CASE("cache_write: a consumer whose guard loads the buffer keeps loading it") {
  const auto program = [](const char* value) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            M[vi] = A[vi] % 3
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            T.where(M[i] > 0)
            T.reads()" +
                     std::string(value) +
                     R"()
            T.writes(C[vi])
            C[vi] = )" +
                     value + "\n");
  };
  SUBCASE("alone") {
    const ir::function f = program("A[vi]");
    schedule s(f);
    s.cache_write(s.block("M"), 0, "local", {s.block("C")});
    check_meaning(s, f);
  }
  SUBCASE("and as an operand") {
    const ir::function f = program("M[vi]");
    schedule s(f);
    const block_rv m = s.block("M"), c = s.block("C");
    check_refusal(s, "cache_write", 6, [&] { s.cache_write(m, 0, "local", {c}); });
  }
}

TEST_CASE("cache_write: a loop that drives nothing and may have no iteration") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((2, 2), "int32"), B: T.Buffer((2, 2), "int32")):
    for i, j in T.grid(2, 2):
        with T.block("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = 0
    for i in range(2):
        for j in range(i):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
)"));
  s.blockize(s.get_loops(s.block("B"))[1]);
  const block_rv b = s.block("B");
  check_refusal(s, "cache_write", 5, [&] { s.cache_write(b, 0, "shared"); });
}

TEST_CASE("cache_write: tiles of a layout that splits their place") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "int32"), C: T.Buffer((16, 16), "int32")):
    B = T.alloc_buffer((16, 16), "int32")
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * 2
)");
  schedule s(f);
  const std::vector<loop_rv> l = s.get_loops(s.block("B"));
  const auto i = s.split(l[0], {infer, 4}), j = s.split(l[1], {infer, 4});
  s.reorder(i[0], j[0], i[1], j[1]);
  const block_rv tile = s.blockize(i[1]);
  s.transform_layout(tile, written_buffer(0),
                     "lambda i, j: (i // 8, j // 8, i // 4 % 2, j // 4 % 2, i % 4, j % 4)");
  const block_rv copy = s.cache_write(tile, 0, "shared");
  check_meaning(s, f);
  s.reverse_compute_at(copy, s.get_loops(tile)[0]);
  check_meaning(s, f);
}

TEST_CASE("cache_write and its relatives: not of sums whose init comes last") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 3):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(3, 2 - k)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)"));
  const block_rv c = s.block("C");
  const loop_rv i = s.get_loops(c)[0];
  check_refusal(s, "cache_write", 3, [&] { s.cache_write(c, 0, "global"); });
  check_refusal(s, "reindex", 6, [&] { s.reindex(c, written_buffer(0)); });
  check_refusal(s, "write_at", 5, [&] { s.write_at(i, c, 0, "global"); });
}

TEST_CASE("cache_write: the copy of a symbolic part of a buffer runs over that part") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    C = T.match_buffer(c, (n,), "int32")
    B = T.alloc_buffer(((n + 1) // 2 * 2,), "int32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * 2
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi] + 1
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const block_rv copy = s.cache_write(b, 0, "global");
  const loop_rv l = s.get_loops(copy).front();
  CHECK(ir::print(s.get(l).extent) == "n");
  check_meaning(s, f, {{"n", 5}});
}

TEST_CASE("cache_write: a symbolic part that nobody knows to be inside of the buffer is guarded") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(a: T.handle, c: T.handle, d: T.handle):
    n = T.int32()
    k = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    C = T.match_buffer(c, (n,), "int32")
    D = T.match_buffer(d, (k,), "int32")
    B = T.alloc_buffer((k,), "int32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * 2
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi] + 1
    for i in range(k):
        with T.block("D"):
            vi = T.axis.spatial(k, i)
            D[vi] = vi
)");
  schedule s(f);
  const block_rv copy = s.cache_write(s.block("B"), 0, "global");
  CHECK(ir::print(s.get(copy).predicate) == "ax0 < n");
  check_meaning(s, f, {{"n", 3}, {"k", 5}});
}
