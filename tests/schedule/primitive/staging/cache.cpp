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
