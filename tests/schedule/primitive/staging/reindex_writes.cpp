// reindex and its caches: blocks that write an element several times, or not always, and memory of
// threads.
#include <tilewright/schedule/primitive/staging/reindex.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("reindex, transform_block_layout: the last of several instances that write an element") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), X: T.Buffer((8,), "int32")):
    for j, i in T.grid(4, 4):
        with T.block("X"):
            vj, vi = T.axis.remap("SS", [j, i])
            X[vi + vj] = A[vi, vj]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "reindex", 6, [&] { s.reindex(x, {buffer_selector::list::write, 0}); });
  check_refusal(s, "transform_block_layout", 6,
                [&] { s.transform_block_layout(x, "lambda j, i: (i, j)"); });
  const ir::function f = s.function();
  s.reindex_cache_write(x, 0, "local", "lambda j, i: (i, j)");  // in the order of the block
  check_meaning(s, f);
}

TEST_CASE("reindex, reindex_cache_write: a store in a loop that may have no iteration") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), X: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("X"):
            vi = T.axis.spatial(16, i)
            for j in range(vi):
                X[vi] = A[j]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "reindex", 6, [&] { s.reindex(x, {buffer_selector::list::write, 0}); });
  check_refusal(s, "reindex_cache_write", 8,
                [&] { s.reindex_cache_write(x, 0, "local", "lambda i: (i,)"); });
}

TEST_CASE("reindex: a block that a domain without an element keeps from running") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), X: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("X"):
            vi = T.axis.spatial(4, i)
            X[vi] = A[vi]
    for i, z in T.grid(4, 0):
        with T.block("Z"):
            vi, vz = T.axis.remap("SS", [i, z])
            X[vi] = vz
)");
  for (const bool split : {false, true}) {
    schedule s(f);
    const block_rv z = s.block("Z");
    if (split) s.split(s.get_loops(z)[1], {factor(2), factor(2)});  // a guard says that none runs
    check_refusal(s, "reindex", 6, [&] { s.reindex(z, {buffer_selector::list::write, 0}); });
    check_meaning(s, f);
  }
}

TEST_CASE("reindex, reindex_cache_read: the memory of threads is read by these alone") {
  const auto program = [](const std::string& between) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    C = T.alloc_buffer((8,), "int32", scope="local")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
)" + between + R"(
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]
)");
  };
  schedule beside(program("    for i in T.thread_binding(8, thread=\"threadIdx.x\"):"));
  const block_rv d = beside.block("D");
  check_refusal(beside, "reindex", 4, [&] { beside.reindex(d, {buffer_selector::list::read, 0}); });
  check_refusal(beside, "reindex_cache_read", 4,
                [&] { beside.reindex_cache_read(d, 0, "local", "lambda i: (i,)"); });
  schedule together(program(""));
  together.reindex_cache_read(together.block("D"), 0, "local", "lambda i: (i,)");
  check_meaning(together, program(""));
}

TEST_CASE("reindex_cache_read: what a block declares, and does not read, may lie beyond the end") {
  const auto program = [](const std::string& place) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            T.reads(A[)" +
                     place + R"(])
            T.writes(D[vi])
            D[vi] = vi
)");
  };
  schedule beyond(program("vi - 1"));
  const block_rv d = beyond.block("D");
  check_refusal(beyond, "reindex_cache_read", 8,
                [&] { beyond.reindex_cache_read(d, 0, "local", "lambda i: (i,)"); });
  schedule within(program("7 - vi"));
  within.reindex_cache_read(within.block("D"), 0, "local", "lambda i: (i,)");
  check_meaning(within, program("7 - vi"));
}

TEST_CASE(
    "reindex_cache_write, reindex_cache_read: loops and guards that the element does not follow") {
  const auto program = [](const std::string& nest, const std::string& body) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), V: T.Buffer((8,), "int32"), X: T.Buffer((8, 8), "int32")):
)" + nest + R"(
                vi = T.axis.spatial(8, i)
                vt = T.axis.opaque(8, t)
)" + body);
  };
  const std::string triangle = R"(
    for i in range(8):
        for t in range(i):
            with T.block("X"):)";
  const std::string loaded = R"(
    for i in range(8):
        for t in range(T.max(T.min(V[i], 4), 0)):
            with T.block("X"):)";
  const std::string box = R"(
    for i in range(8):
        for t in range(6):
            with T.block("X"):)";
  const std::string store = "                X[vi, 0] = A[vt]\n";
  for (const ir::function& f : {program(triangle, store), program(loaded, store),
                                program(box, "                T.where(V[t] > 100)\n" + store)}) {
    schedule s(f);
    const block_rv x = s.block("X");
    check_refusal(s, "reindex_cache_write", 8,
                  [&] { s.reindex_cache_write(x, 0, "local", "lambda i, t: (i,)"); });
  }
  const ir::function f = program(box, "                T.where(t < 5)\n" + store);
  schedule s(f);
  s.reindex_cache_write(s.block("X"), 0, "local", "lambda i, t: (i,)");
  check_meaning(s, f);
  schedule before(program(triangle, "                X[vi, vt] = A[vi - 1]\n"));
  const block_rv x = before.block("X");
  check_refusal(before, "reindex_cache_read", 8,
                [&] { before.reindex_cache_read(x, 0, "local", "lambda i, t: (i,)"); });
}

TEST_CASE("reindex, reindex_cache_write: blocks around say which part runs") {
  schedule sum(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), C: T.Buffer((8,), "int32")):
    for t in range(4):
        with T.block("O"):
            vt = T.axis.reduce(4, t)
            T.reads(A[0:8, vt * 4:vt * 4 + 4])
            T.writes(C[0:8])
            for i, k in T.grid(8, 4):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    vk = T.axis.reduce(16, vt * 4 + k)
                    with T.init():
                        C[vi] = 0
                    C[vi] = C[vi] + A[vi, vk]
)"));
  const block_rv c = sum.block("C");
  check_refusal(sum, "reindex", 6, [&] { sum.reindex(c, {buffer_selector::list::write, 0}); });
  check_refusal(sum, "reindex_cache_write", 3,
                [&] { sum.reindex_cache_write(c, 0, "local", "lambda i, k: (i,)"); });
  schedule part(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), C: T.Buffer((16,), "int32")):
    for t in range(4):
        with T.block("O"):
            vt = T.axis.spatial(4, t)
            for k in range(4):
                with T.block("C"):
                    vk = T.axis.spatial(16, vt * 4 + k)
                    C[vk] = A[vk]
)"));
  const block_rv p = part.block("C");
  check_refusal(part, "reindex", 6, [&] { part.reindex(p, {buffer_selector::list::write, 0}); });
}

TEST_CASE("reindex: a guard may keep the block inside of a buffer, and not the copy") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((1,), "int32"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        with T.block("B"):
            vi = T.axis.spatial(2, i)
            T.where(i < 1)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  check_refusal(s, "reindex", 5, [&] { s.reindex(b, read_buffer(0)); });
}

TEST_CASE("reindex_cache_read, reindex_cache_write: a block that touches two elements") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj], A[7 - vi, vj])
            T.writes(B[vi, vj], B[vi, vj + 4])
            B[vi, vj] = A[vi, vj] + A[7 - vi, vj]
            B[vi, vj + 4] = A[vi, vj]
)"));
  const block_rv b = s.block("B");
  for (const int region : {0, 1}) {
    check_refusal(s, "reindex_cache_read", 5,
                  [&] { s.reindex_cache_read(b, region, "local", "lambda i, j: (j, i)"); });
    check_refusal(s, "reindex_cache_write", 5,
                  [&] { s.reindex_cache_write(b, region, "local", "lambda i, j: (j, i)"); });
  }
}

TEST_CASE("reindex_cache: a map may leave gaps") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 12), "int32"), C: T.Buffer((4, 12), "int32")):
    B = T.alloc_buffer((4, 12), "int32")
    for i, j in T.grid(4, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(4, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1
)");
  schedule s(f);
  s.reindex_cache_read(s.block("C"), 0, "global", "lambda i, j: (i * 16 + j,)");
  CHECK(s.show().find("T.alloc_buffer((60,)") != std::string::npos);
  s.reindex_cache_write(s.block("B"), 0, "global", "lambda i, j: (j + i * 20,)");
  CHECK(s.show().find("T.alloc_buffer((72,)") != std::string::npos);
  check_meaning(s, f);
  schedule t(f);
  const block_rv c = t.block("C");
  for (const char* map : {"lambda i, j: (i * 8 + j,)", "lambda i, j: (i * 16 + j - 1,)"})
    check_refusal(t, "reindex_cache_read", 7, [&] { t.reindex_cache_read(c, 0, "global", map); });
}

TEST_CASE("reindex: each digit of a number sees its whole domain where the number does not") {
  const auto with_loop = [](const char* range) {
    return program_of(R"(@T.prim_func
def main(C: T.Buffer((2, 2), "int32")):
    for i in range(<range>):
        with T.block("C"):
            vi = T.axis.spatial(2, i // 2)
            vj = T.axis.spatial(2, i % 2)
            C[vi, vj] = vi + vj
)",
                      {{"<range>", range}});
  };
  for (const char* range : {"3", "1, 4", "1, 3"}) {
    CAPTURE(range);
    schedule s(with_loop(range));
    const block_rv c = s.block("C");
    check_refusal(s, "reindex", 6, [&] { s.reindex(c, {buffer_selector::list::write, 0}); });
  }
  const ir::function f = with_loop("4");
  schedule s(f);
  s.reindex(s.block("C"), {buffer_selector::list::write, 0});
  check_meaning(s, f);
}
