#include <tilewright/schedule/primitive/staging/cache.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include "../../check_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;
using stages::indices;
using stages::program;

namespace {

std::vector<std::int64_t> shape(const ir::buffer& b) {
  std::vector<std::int64_t> out;
  for (const ir::expr& e : b->shape) out.push_back(e->integer);
  return out;
}
using sizes = std::vector<std::int64_t>;

/// T = A + 1; X = T * 2; Y = T * 3.
ir::function two_readers(int n) {
  program p;
  const ir::buffer a = p.input("A", {n}), t = p.temp("T", {n}), x = p.output("X", {n}),
                   y = p.output("Y", {n});
  p.map(t, {{"i", n}}, [&](const indices& v) { return ir::load(a, v) + stages::f32(1); });
  p.map(x, {{"i", n}}, [&](const indices& v) { return ir::load(t, v) * stages::f32(2); });
  p.map(y, {{"i", n}}, [&](const indices& v) { return ir::load(t, v) * stages::f32(3); });
  return p.finish();
}

bool reads(const schedule& s, block_rv b, const std::string& name) {
  for (const ir::buffer_region& r : s.get(b).block->reads)
    if (r.buffer->name == name) return true;
  return false;
}

}  // namespace

TEST_CASE("cache_read: copy of an input stands first in the scope") {
  const ir::function f = stages::matmul(5, 6, 7);
  schedule s(f);
  const block_rv c = s.block("C"), a = s.cache_read(c, 0, "shared.dyn");
  CHECK(s.get(a).block->name == "A_shared.dyn");
  CHECK(s.get(a).block->writes[0].buffer->scope == "shared.dyn");
  CHECK(shape(s.get(a).block->writes[0].buffer) == sizes{5, 7});
  CHECK(s.get(a).block->iters[1].var->name == "v1");
  CHECK(s.get(s.get_loops(a)[0]).var->name == "ax0");
  CHECK(s.get_child_blocks(s.block("root"))[0] != c);
  CHECK(reads(s, c, "A_shared_dyn"));
  CHECK_FALSE(reads(s, c, "A"));
  check_meaning(s, f);
}

TEST_CASE("cache_read: chosen consumers") {
  const ir::function f = two_readers(9);
  schedule s(f);
  const block_rv x = s.block("X"), y = s.block("Y");
  const block_rv copy = s.cache_read(x, 0, "local", {y});
  CHECK(reads(s, x, "T"));
  CHECK(reads(s, y, "T_local"));
  check_meaning(s, f);
  const block_rv again = s.cache_read(x, 0, "local");
  CHECK(s.get(again).block->name == "T_local_1");
  CHECK(s.get(copy).block->name == "T_local");
  check_meaning(s, f);
}

TEST_CASE("cache_read: what was written, or all that was given") {
  program p;
  const ir::buffer a = p.input("A", {20}), t = p.temp("T", {20}), b = p.output("B", {6});
  p.map(t, {{"i", 15}}, [&](const indices& v) { return ir::load(a, {v[0]}); });
  p.map(b, {{"i", 6}},
        [&](const indices& v) { return ir::load(t, {v[0] + 3}) + ir::load(t, {v[0] + 8}); });
  const ir::function f = p.finish();
  schedule s(f);
  const block_rv first = s.cache_read(s.block("T"), 0, "global");
  CHECK(shape(s.get(first).block->writes[0].buffer) == sizes{20});
  const block_rv second = s.cache_read(s.block("B"), 0, "global");
  CHECK(shape(s.get(second).block->writes[0].buffer) == sizes{15});
  check_meaning(s, f);
}

TEST_CASE("cache_read: writer and reader in one loop keep the copy inside of it") {
  const ir::function f = two_readers(12);
  schedule s(f);
  const block_rv t = s.block("T"), x = s.block("X"), y = s.block("Y");
  s.compute_inline(t);
  s.cache_read(y, 0, "global");
  check_meaning(s, f);

  const ir::function g = stages::matmul_bias_relu(6, 7, 5);
  schedule m(g);
  const auto [i, j] = m.loops<2>(m.block("E"));
  m.compute_at(m.block("C"), i);
  const block_rv copy = m.cache_read(m.block("E"), 0, "local");
  CHECK(m.get_loops(copy).size() == 3);
  check_meaning(m, g);
  CHECK(reads(s, x, "A_global"));
}

TEST_CASE("cache_read: index types follow the shape") {
  program p;
  const ir::expr n{std::int64_t{10}};
  const ir::buffer a = p.input("A", {n}), b = p.output("B", {n});
  p.map(b, {{"i", n}}, [&](const indices& v) { return ir::load(a, v); });
  const ir::function f = p.finish();
  schedule s(f);
  const block_rv copy = s.cache_read(s.block("B"), 0, "local");
  CHECK(s.get(copy).block->iters[0].var.type() == dtype::i64);
  CHECK(s.get(s.get_loops(copy)[0]).var.type() == dtype::i64);
  check_meaning(s, f);
}

TEST_CASE("cache_read: refusals") {
  program p;
  const ir::buffer a = p.input("A", {8}), t = p.temp("T", {16}), y = p.output("Y", {16});
  p.map(
      t, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); }, {}, "first");
  p.map(
      t, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); },
      [](const indices& v) { return indices{v[0] + 8}; }, "second");
  p.map(y, {{"i", 16}}, [&](const indices& v) { return ir::load(t, v); });
  schedule s(p.finish());
  const block_rv y_rv = s.block("Y"), first = s.block("first");
  check_refusal(s, "cache_read", 3, [&] { s.cache_read(y_rv, 0, "global"); });
  check_refusal(s, "cache_read", 1, [&] { s.cache_read(y_rv, 10, "global"); });
  check_refusal(s, "cache_read", 2, [&] { s.cache_read(first, 0, "test_scope"); });
  check_refusal(s, "cache_read", 5, [&] { s.cache_read(first, 0, "global", {y_rv}); });
}

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

TEST_CASE("cache_read: a tile of a buffer of symbolic extent in an inner scope") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, ((n + 31) // 32 * 32, 4), "float32")
    B = T.match_buffer(b, ((n + 31) // 32 * 32, 4), "float32")
    for i_0 in range((n + 31) // 32):
        with T.block("B_o"):
            vo = T.axis.spatial((n + 31) // 32, i_0)
            for i_1, j in T.grid(32, 4):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i_1, j])
                    B[vo * 32 + vi, vj] = A[vo * 32 + vi, vj] + T.float32(1)
)");
  schedule s(f);
  const block_rv copy = s.cache_read(s.block("B"), 0, "shared");
  CHECK(shape(s.get(copy).block->writes[0].buffer) == sizes{32, 4});
}

TEST_CASE("cache_read, cache_write: a block around the writer and a reader of the buffer") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    A = T.alloc_buffer((8,))
    for i0 in range(2):
        with T.block("around"):
            i = T.axis.spatial(2, i0)
            for x in range(4):
                with T.block("A"):
                    vi = T.axis.spatial(8, i * 4 + x)
                    A[vi] = 1.0
            for x in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(8, i * 4 + x)
                    B[vi] = A[vi] + 1.0
    for j in range(8):
        with T.block("C"):
            vj = T.axis.spatial(8, j)
            C[vj] = A[vj] * 2.0
)");
  {
    schedule s(f);
    s.cache_read(s.block("C"), 0, "local");
    check_meaning(s, f);
    CHECK(s.get(s.block("around")).block->reads[0].buffer->name == "A");
  }
  {
    schedule s(f);
    s.cache_write(s.block("around"), 0, "local");
    check_meaning(s, f);
    CHECK(s.get(s.block("around")).block->reads[0].buffer->name == "A_local");
  }
}

TEST_CASE("cache_read: a reader before the writer in a loop that runs once") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(D: T.Buffer((8,), "float32")):
    L = T.alloc_buffer((8,))
    for o in range(1):
        for i in range(8):
            with T.block("in"):
                vi = T.axis.spatial(8, i)
                L[vi] = D[vi]
        for i in range(8):
            with T.block("out"):
                vi = T.axis.spatial(8, i)
                D[vi] = L[vi] * 2.0
)");
  schedule s(f);
  const block_rv in = s.block("in");
  s.cache_read(in, 0, "local", {in});
  CHECK(s.get_loops(s.block("D_local")).size() == 1);
  check_meaning(s, f);
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

TEST_CASE("cache_read: inside a part that depends on a loop around its scope") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((3, 4), "int32")):
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[(vi + (vj + 1) // 2) % 6] + 1
)"));
  s.loop_partition(s.get_loops(s.block("B"))[1], {1, infer}, false);
  const block_rv part = s.block("B_j0");
  check_refusal(s, "cache_read", 4, [&] { s.cache_read(part, 0, "global"); });
}

TEST_CASE("cache_read, reindex: an index tensor in the places of other buffers") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), I: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.reads(A[I[vi] % 8], I[vi])
            B[vi] = A[I[vi] % 8] + 1
)");
  const auto check_read = [&](schedule& s, const std::string& cache) {
    const ir::block_node& b = *s.get(s.block("B")).block;
    CHECK(ir::print(b.reads[0]) == "A[" + cache + "[vi] % 8]");
    CHECK(ir::print(b.reads[1]) == cache + "[vi]");
    check_schedule(s, f);
  };
  {
    schedule s(f);
    s.cache_read(s.block("B"), 1, "local");
    check_read(s, "I_local");
  }
  {
    schedule s(f);
    s.reindex(s.block("B"), read_buffer(1));
    check_read(s, "I_reindex");
  }
}

TEST_CASE("cache_read, cache_write: rows of different lengths are copied as long as they are") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6, 6), "int32")
    for i in range(6):
        for j in range(T.max(i - 1, 0), i + 1):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = A[vi, vj] * 2
        for j in range(T.max(i - 1, 0), i + 1):
            with T.block("C"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[vi, vj]
)");
  schedule s(f);
  SUBCASE("read") { s.cache_read(s.block("C"), 0, "local"); }
  SUBCASE("write") { s.cache_write(s.block("B"), 0, "local"); }
  check_meaning(s, f);
}

TEST_CASE("cache_read, cache_write: a triangle is not written as a box") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6, 6), "int32")
    for i in range(6):
        for j in range(i + 1):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = A[vi, vj] * 2
    for i in range(6):
        for j in range(i + 1):
            with T.block("C"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[vi, vj]
)");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  check_refusal(s, "cache_write", 5, [&] { s.cache_write(b, 0, "local"); });
  check_refusal(s, "cache_read", 4, [&] { s.cache_read(c, 0, "local"); });
  // nor where a part of a partition declares a box
  s.loop_partition(s.get_loops(b)[0], {infer});
  const block_rv part = s.block("B_i0_partition");
  check_refusal(s, "cache_write", 5, [&] { s.cache_write(part, 0, "local"); });
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
