#include <tilewright/schedule/primitive/staging/reindex.hpp>

#include <string>
#include <vector>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* convolution = R"(@T.prim_func
def main(A: T.Buffer((1, 12), "float32"), W: T.Buffer((3,), "float32"), C: T.Buffer((1, 10), "float32")):
    for n, h, r in T.grid(1, 10, 3):
        with T.block("C"):
            vn, vh, vr = T.axis.remap("SSR", [n, h, r])
            with T.init():
                C[vn, vh] = T.float32(0)
            C[vn, vh] = C[vn, vh] + A[vn, vh + vr] * W[vr]
)";

constexpr const char* twice_b = R"(
for i, j in T.grid(7, 11):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = B[vi, vj] + B[vi, vj])";

/// B and D from A, then C from B, as the lines say.
ir::function chain(const char* temporary = "", const char* c = twice_b) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((7, 11), "float32"), C: T.Buffer((7, 11), "float32"), D: T.Buffer((7, 11), "float32")):
    B = T.alloc_buffer((7, 11), "float32")
    <temporary>
    for i, j in T.grid(7, 11):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(7, 11):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] + T.float32(1)
    <C>
)",
                    {{"<temporary>", temporary}, {"<C>", c}});
}

constexpr const char* padded = R"(@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((10,), "float32")):
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = T.if_then_else(1 <= vi and vi < 9, A[vi - 1], T.float32(0))
)";

constexpr const char* sums = R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 16), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i, k in T.grid(n, 16):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)";

constexpr const char* in_place = R"(@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A1"):
            vi = T.axis.spatial(8, i)
            A[vi] = A[vi] + T.float32(1)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * A[7 - vi]
)";

/// I is a tensor of indices, and the lines take elements of A or C by them.
ir::function indexed(const char* index, const std::string& nest) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), J: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    I = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("I"):
            vi = T.axis.spatial(4, i)
            I[vi] = <index>
    <nest>
)",
                    {{"<index>", index}, {"<nest>", nest}});
}

std::vector<std::string> blocks(const schedule& s) {
  std::vector<std::string> out;
  for (const auto* r : primitive::all_blocks(s.function().body)) out.push_back(r->block->name);
  return out;
}
using names = std::vector<std::string>;

}  // namespace

TEST_CASE("reindex: dimensions are the iteration variables of the access") {
  const ir::function f = ir::parse(convolution);
  schedule s(f);
  s.reindex(s.block("C"), read_buffer(0));
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((1, 12), "float32"), W: T.Buffer((3,), "float32"), C: T.Buffer((1, 10), "float32")):
    A_reindex = T.alloc_buffer((1, 10, 3), "float32")
    for ax0, ax1, ax2 in T.grid(1, 10, 3):
        with T.block("A_reindex_reindex"):
            v0, v1, v2 = T.axis.remap("SSS", [ax0, ax1, ax2])
            A_reindex[v0, v1, v2] = A[v0, v1 + v2]
    for n, h, r in T.grid(1, 10, 3):
        with T.block("C"):
            vn, vh, vr = T.axis.remap("SSR", [n, h, r])
            with T.init():
                C[vn, vh] = T.float32(0)
            C[vn, vh] = C[vn, vh] + A_reindex[vn, vh, vr] * W[vr]
)");
  s.reindex(s.block("C"), written_buffer(0));
  CHECK(blocks(s) == names{"A_reindex_reindex", "C", "C_reindex"});
  check_meaning(s, f);
}

TEST_CASE("reindex: the copy stands beside the nest; by name and as text") {
  const ir::function f = chain();
  schedule s(f);
  trace::parse(R"(b0 = sch.get_block(name="C", func_name="main")
b1 = sch.reindex(block=b0, buffer="B")
b2 = sch.reindex(block=b0, buffer=("write", 0))
)")
      .apply_to(s);
  CHECK(blocks(s) == names{"B", "D", "B_reindex_reindex", "C", "C_reindex"});
  check_meaning(s, f);
}

TEST_CASE("reindex: below split loops and guards the copy keeps whole domains") {
  const ir::function f = chain();
  schedule s(f);
  const block_rv c = s.block("C");
  s.split(s.get_loops(c)[1], {infer, 4});
  s.reindex(c, read_buffer(0));
  s.reindex(c, written_buffer(0));
  check_meaning(s, f);
}

TEST_CASE("reindex: several writers and symbolic extents") {
  const ir::function g = ir::parse(sums);
  schedule s(g);
  s.reindex(s.block("C"), read_buffer(0));
  s.reindex(s.block("C"), written_buffer(0));
  check_meaning(s, g, {{"n", 5}});
}

TEST_CASE("reindex: requirements by number") {
  const ir::function f = ir::parse(in_place);
  schedule s(f);
  const block_rv a1 = s.block("A1"), b = s.block("B"), root = s.block("root");
  check_refusal(s, "reindex", 1, [&] { s.reindex(root, read_buffer(0)); });
  check_refusal(s, "reindex", 2, [&] { s.reindex(b, read_buffer(1)); });
  check_refusal(s, "reindex", 2, [&] { s.reindex(b, "X"); });
  check_refusal(s, "reindex", 3, [&] { s.reindex(b, read_buffer(0)); });
  check_refusal(s, "reindex", 5, [&] { s.reindex(a1, read_buffer(0)); });
  check_refusal(s, "reindex", 6, [&] { s.reindex(a1, written_buffer(0)); });
  schedule p(ir::parse(padded));
  const block_rv pad = p.block("B");
  check_refusal(p, "reindex", 5, [&] { p.reindex(pad, read_buffer(0)); });
}

TEST_CASE("reindex_cache_read: loops, bindings and guard of the block, a layout of its own") {
  const ir::function f = chain();
  schedule s(f);
  const block_rv c = s.block("C");
  s.split(s.get_loops(c)[0], {infer, 4});
  s.reindex_cache_read(c, 0, "shared.dyn", "lambda i, j: (j // 4, i, j % 4)");
  CHECK(blocks(s) == names{"B", "D", "B_shared.dyn", "C"});
  check_program(
      s, chain("B_shared_dyn = T.alloc_buffer((3, 7, 4), \"float32\", scope=\"shared.dyn\")", R"(
for i_0, i_1, j in T.grid(2, 4, 11):
    with T.block("B_shared.dyn"):
        vi = T.axis.spatial(7, i_0 * 4 + i_1)
        vj = T.axis.spatial(11, j)
        T.where(i_0 * 4 + i_1 < 7)
        B_shared_dyn[vj // 4, vi, vj % 4] = B[vi, vj]
for i_0, i_1, j in T.grid(2, 4, 11):
    with T.block("C"):
        vi = T.axis.spatial(7, i_0 * 4 + i_1)
        vj = T.axis.spatial(11, j)
        T.where(i_0 * 4 + i_1 < 7)
        C[vi, vj] = B_shared_dyn[vj // 4, vi, vj % 4] + B_shared_dyn[vj // 4, vi, vj % 4])"));
  check_meaning(s, f);
}

TEST_CASE("reindex_cache_write: reduce loops are left out; symbolic extents") {
  const ir::function f = ir::parse(sums);
  schedule s(f);
  const block_rv c = s.block("C");
  const block_rv copy = s.reindex_cache_write(c, 0, "local", "lambda i, k: (i % 4, i // 4)");
  CHECK(s.get_loops(copy).size() == 1);
  s.reindex_cache_read(c, 0, "shared", "lambda i, k: (k, i)");
  check_meaning(s, f, {{"n", 6}});
}

TEST_CASE("reindex_cache_write: in loops shared with the readers") {
  const ir::function f = chain();
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  s.compute_at(b, s.get_loops(c)[0]);
  s.reindex_cache_write(b, 0, "local", "lambda i, j: (j, i)");
  CHECK(blocks(s) == names{"D", "B", "B_local", "C"});
  check_meaning(s, f);
}

TEST_CASE("reindex_cache_read: requirements by number") {
  const ir::function f = ir::parse(in_place);
  schedule s(f);
  const block_rv a1 = s.block("A1");
  const auto read = [](schedule& on, block_rv b, int index, const char* scope, const char* map) {
    return [&on, b, index, scope, map] { on.reindex_cache_read(b, index, scope, map); };
  };
  check_refusal(s, "reindex_cache_read", 1, read(s, a1, 1, "local", "lambda i: i"));
  check_refusal(s, "reindex_cache_read", 2, read(s, a1, 0, "test_scope", "lambda i: i"));
  check_refusal(s, "reindex_cache_read", 3, read(s, a1, 0, "local", "lambda i: i"));
  schedule t(chain());
  const block_rv c = t.block("C");
  check_refusal(t, "reindex_cache_read", 6, read(t, c, 0, "local", "lambda i: i"));
  check_refusal(t, "reindex_cache_read", 6, read(t, c, 0, "local", "lambda i, j: (i, i)"));
  check_refusal(t, "reindex_cache_read", 7, read(t, c, 0, "local", "lambda i, j: (i + j,)"));
  schedule p(ir::parse(padded));
  const block_rv pad = p.block("B");
  check_refusal(p, "reindex_cache_read", 8, read(p, pad, 0, "local", "lambda i: (i,)"));
}

TEST_CASE("reindex: a result that a predicate or an if leaves out is refused") {
  const char* predicate = R"(
with T.block("B"):
    vi = T.axis.spatial(8, i)
    T.where(i == 3)
    B[vi] = A[vi])";
  const char* condition = R"(
if F[i] > 0:
    with T.block("B"):
        vi = T.axis.spatial(8, i)
        B[vi] = A[vi] + 1)";
  for (const char* guarded : {predicate, condition}) {
    CAPTURE(std::string(guarded));
    schedule s(program_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), F: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        <guarded>
)",
                          {{"<guarded>", guarded}}));
    const block_rv b = s.block("B");
    check_refusal(s, "reindex", 6, [&] { s.reindex(b, written_buffer(0)); });
  }
}

TEST_CASE("reindex: a block that runs for one iteration of a loop around its scope is refused") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), B: T.Buffer((4, 3), "int32")):
    for i, j in T.grid(4, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("B"))[1], {infer}, true);
  const block_rv part = s.block("B_j0");
  check_refusal(s, "reindex", 6, [&] { s.reindex(part, written_buffer(0)); });
  check_refusal(s, "reindex", 5,
                [&] { s.reindex(part, read_buffer(0)); });  // the part declares row i
  check_meaning(s, f);
}

TEST_CASE("reindex: a block that does not visit the padding of its domain") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for outer, inner in T.grid(2, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, outer * 4 + inner)
            C[vi] = B[vi] + 1
)"));
  s.pad_einsum(s.block("C"), {3});
  const block_rv c = s.block("C");
  check_refusal(s, "reindex", 6, [&] { s.reindex(c, written_buffer(0)); });
}

TEST_CASE("reindex: an index tensor that is computed in loops of the block") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((4, 2), "int32")):
    I = T.alloc_buffer((4, 2), "int32")
    for i in range(4):
        for j in range(2):
            with T.block("I"):
                vi, vj = T.axis.remap("SS", [i, j])
                I[vi, vj] = vi * 2 + (vj + 1) // 2
        for j in range(2):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[0:8], I[vi, vj])
                B[vi, vj] = A[I[vi, vj]] + 1
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "reindex", 5, [&] { s.reindex(b, read_buffer(0)); });
}

TEST_CASE("reindex, reindex_cache_read: an index tensor that changes") {
  schedule s(indexed("vi", R"(
for i in range(4):
    with T.block("I1"):
        vi = T.axis.spatial(4, i)
        I[vi] = I[vi] + 3
    with T.block("C"):
        vi = T.axis.spatial(4, i)
        T.reads(A[I[vi]], I[vi])
        C[vi] = A[I[vi]] + 1)"));
  const block_rv c = s.block("C");
  check_refusal(s, "reindex", 4, [&] { s.reindex(c, read_buffer(0)); });
  check_refusal(s, "reindex_cache_read", 5,
                [&] { s.reindex_cache_read(c, 0, "global", "lambda i: i"); });
}

TEST_CASE("reindex, reindex_cache_read: an index tensor that comes too late") {
  // written before the nest, but not before the copy of an input, which stands first
  const ir::function f = indexed("vi + 2", R"(
for i in range(4):
    with T.block("C"):
        vi = T.axis.spatial(4, i)
        T.reads(A[I[vi]], I[vi])
        C[vi] = A[I[vi]] + 1)");
  schedule s(f), t(f);
  const block_rv c = s.block("C");
  check_refusal(s, "reindex_cache_read", 5,
                [&] { s.reindex_cache_read(c, 0, "global", "lambda i: i"); });
  t.reindex(t.block("C"), read_buffer(0));
  check_meaning(t, f);
}

TEST_CASE("reindex, reindex_cache_write: an index tensor that changes") {
  const auto scatter = [](const char* changed) {
    return indexed("vi", fill(R"(
for i in range(4):
    with T.block("C"):
        vi = T.axis.spatial(4, i)
        T.reads(A[vi], I[vi])
        T.writes(C[I[vi]])
        C[I[vi]] = A[vi] + 1
    with T.block("I1"):
        vi = T.axis.spatial(4, i)
        <changed>[vi] = 3 - I[vi])",
                              {{"<changed>", changed}}));
  };
  schedule s(scatter("I"));
  const block_rv c = s.block("C");
  check_refusal(s, "reindex", 4, [&] { s.reindex(c, written_buffer(0)); });
  check_refusal(s, "reindex_cache_write", 5,
                [&] { s.reindex_cache_write(c, 0, "global", "lambda i: i"); });
  const ir::function other = scatter("J");  // what changes is another tensor
  schedule t(other);
  t.reindex_cache_write(t.block("C"), 0, "global", "lambda i: i");
  check_meaning(t, other);
}

TEST_CASE("reindex and its kin: a domain that follows a loop is no extent of a buffer") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i in range(8):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
)"));
  const block_rv b = s.block("B");
  const char* turned = "lambda i, j: (j, i)";
  check_refusal(s, "reindex", 3, [&] { s.reindex(b, read_buffer(0)); });
  check_refusal(s, "reindex", 3, [&] { s.reindex(b, written_buffer(0)); });
  check_refusal(s, "reindex_cache_read", 7, [&] { s.reindex_cache_read(b, 0, "global", turned); });
  check_refusal(s, "reindex_cache_write", 7,
                [&] { s.reindex_cache_write(b, 0, "global", turned); });
}

TEST_CASE("reindex and its kin: nests that are no boxes") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), F: T.Buffer((6,), "int32"), B: T.Buffer((6, 6), "int32"), C: T.Buffer((6, 6), "int32")):
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        for j in range(i + 1):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = A[vi, vi - vj]
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            M[vi] = F[vi] % 6
    for i in range(6):
        for j in range(M[i]):
            with T.block("C"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                C[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  check_refusal(s, "reindex", 5, [&] { s.reindex(b, read_buffer(0)); });
  check_refusal(s, "reindex", 6, [&] { s.reindex(b, written_buffer(0)); });
  // before M is written, nothing says how long the rows are
  check_refusal(s, "reindex_cache_read", 5,
                [&] { s.reindex_cache_read(c, 0, "global", "lambda i, j: (j, i)"); });
  s.reindex_cache_write(c, 0, "global", "lambda i, j: (j, i)");
  check_meaning(s, f);
}

TEST_CASE("reindex_cache_read: a condition around the block that keeps it in its domain") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 9), "int32"), B: T.Buffer((6, 9), "int32")):
    for i, j in T.grid(6, 9):
        if i + j > 3:
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
)"));
  const block_rv b = s.block("B");
  s.split(s.get_loops(b)[1], {infer, 4});
  check_refusal(s, "reindex_cache_read", 8,
                [&] { s.reindex_cache_read(b, 0, "local", "lambda i, j: (i, j)"); });
}

TEST_CASE("reindex, reindex_cache_read: loops and lets that no iteration variable stands for") {
  const char* same = "lambda i: (i,)";
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "int32"), X: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("X"):
            vi = T.axis.spatial(16, i)
            X[vi] = A[i, vi]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "reindex", 3, [&] { s.reindex(x, {buffer_selector::list::read, 0}); });
  check_refusal(s, "reindex_cache_read", 5, [&] { s.reindex_cache_read(x, 0, "local", same); });
  schedule let(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), X: T.Buffer((16,), "int32")):
    for i in range(4):
        x: T.int32 = i * 4
        for j in range(4):
            with T.block("X"):
                vi = T.axis.spatial(16, x + j)
                X[vi] = A[vi]
)"));
  const block_rv y = let.block("X");
  check_refusal(let, "reindex_cache_read", 8, [&] { let.reindex_cache_read(y, 0, "local", same); });
}

TEST_CASE("reindex: domains that blocks of the scope decide") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), I: T.Buffer((4,), "int32"), E: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((1,), "int32")
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(I[vi], A[vi, 0:4], S[0])
            T.writes(E[vi, 0:4], S[0])
            with T.block("S"):
                S[0] = T.min(I[vi], 4)
            for j in range(4):
                with T.block("E"):
                    vj = T.axis.spatial(S[0], j)
                    T.where(j < S[0])
                    E[vi, vj] = A[vi, vj] + 1
)"));
  const block_rv e = s.block("E");
  check_refusal(s, "reindex", 3, [&] { s.reindex(e, written_buffer(0)); });
  check_refusal(s, "reindex_cache_write", 7,
                [&] { s.reindex_cache_write(e, 0, "global", "lambda j: (j,)"); });
  check_refusal(s, "reindex_cache_read", 7,
                [&] { s.reindex_cache_read(e, 0, "global", "lambda j: (j,)"); });
}
