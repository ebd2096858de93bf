// cache_read, read_at, cache_write: the copy reaches what is read, and no further than what is
// written.
#include <tilewright/schedule/primitive/staging/cache.hpp>

#include <string>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

/// A copy of what R reads changes nothing.
void check_read(const ir::function& f, const char* block = "R") {
  schedule s(f);
  s.cache_read(s.block(block), 0, "local");
  check_meaning(s, f);
}

/// The block leaves out something of what would be copied back.
void check_not_written(const ir::function& f, const char* block = "W") {
  schedule s(f);
  const block_rv b = s.block(block);
  check_refusal(s, "cache_write", 5, [&] { s.cache_write(b, 0, "local"); });
}

void check_written(const ir::function& f, const char* block = "W") {
  schedule s(f);
  s.cache_write(s.block(block), 0, "local");
  check_meaning(s, f);
}

}  // namespace

TEST_CASE("cache_read: a reader of more than the writer writes finds the rest too") {
  check_read(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for i in range(8):
        with T.block("W"):
            vi = T.axis.spatial(8, i)
            X[vi] = 2
    for i in range(16):
        with T.block("R"):
            vi = T.axis.spatial(16, i)
            Y[vi] = X[vi] + 1
)"));
}

TEST_CASE("cache_read: guards inside of the readers leave out what is not copied") {
  const auto shape_of_copy = [](const char* inside, const char* shape) {
    CAPTURE(std::string(inside));
    const ir::function f = program_of(R"(@T.prim_func
def main(X: T.Buffer((12, 8), "int32"), Y: T.Buffer((12, 8), "int32")):
    for i, j in T.grid(12, 8):
        with T.block("R"):
            vi, vj = T.axis.remap("SS", [i, j])
<inside>
)",
                                      {{"<inside>", inside}});
    schedule s(f);
    s.cache_read(s.block("R"), 0, "local");
    CHECK(s.show().find("X_local = T.alloc_buffer((" + std::string(shape)) != std::string::npos);
    check_meaning(s, f);
  };
  shape_of_copy(R"(
            with T.block("I"):
                T.where(vi < 9 and vj >= 3)
                Y[vi, vj] = X[vi, vj] * 2
)",
                "9, 5");
  shape_of_copy(R"(
            with T.block("I"):
                T.where(vi < 9 and vj >= 3)
                Y[vi, vj] = X[vi, vj] * 2
            with T.block("J"):
                T.where(vi == 11 or vj < 2)
                Y[vi, vj] = X[vi, vj]
            with T.block("K"):
                T.where(2 * vi < 20 and vi >= 4)
                Y[vi, vj] = X[vi, 7 - vj] * 2
)",
                "12, 8");
  shape_of_copy(R"(
            with T.block("I"):
                T.where(vi < 9)
                Y[vi, vj] = X[vi, vj] * 2
            with T.block("K"):
                T.where(2 * vi < 20 and vi >= 4)
                Y[vi, vj] = X[vi, 7 - vj] * 2
)",
                "10, 8");
  shape_of_copy(R"(
            with T.block("I"):
                T.where(X[vi, vj] > 0 and vi < 9)
                Y[vi, vj] = X[vi, vj] * 2
)",
                "12, 8");
}

TEST_CASE("cache_read: a guard inside of one reader says nothing of another") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((12,), "int32"), Y: T.Buffer((12,), "int32"), Z: T.Buffer((12,), "int32")):
    for i in range(12):
        with T.block("R"):
            vi = T.axis.spatial(12, i)
            with T.block("I"):
                T.where(vi < 9)
                Y[vi] = X[vi] * 2
    for i in range(11):
        with T.block("S"):
            vi = T.axis.spatial(11, i)
            Z[vi] = X[vi] * 3
)");
  schedule s(f);
  s.cache_read(s.block("R"), 0, "local");
  CHECK(s.show().find("X_local = T.alloc_buffer((11,)") != std::string::npos);
  check_meaning(s, f);
}

TEST_CASE("cache_read, read_at: in a scope inside, nothing is copied that nobody has written") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    X = T.alloc_buffer((16,), "int32")
    for i in range(8):
        with T.block("W"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi] + 2
    for o in range(1):
        with T.block("O"):
            vo = T.axis.spatial(1, o)
            for i in range(16):
                with T.block("R"):
                    vi = T.axis.spatial(16, i)
                    Y[vi] = T.if_then_else(vi < 8, X[vi], 1)
)"));
  const block_rv r = s.block("R");
  const loop_rv i = s.get_loops(r)[0];
  check_refusal(s, "cache_read", 4, [&] { s.cache_read(r, 0, "local"); });
  check_refusal(s, "read_at", 5, [&] { s.read_at(i, r, 0, "local"); });
}

TEST_CASE("cache_read: a box that follows what the scope writes is as large as the buffer") {
  const auto check = [](const char* reader) {
    check_read(program_of(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), Y: T.Buffer((64,), "int32")):
    K = T.alloc_buffer((1,), "int32")
    for o in range(4):
        with T.block("O"):
            vo = T.axis.spatial(4, o)
            for u in range(1):
                with T.block("W"):
                    vu = T.axis.spatial(1, u)
                    K[0] = vo + 3
            <reader>
)",
                          {{"<reader>", reader}}));
  };
  SUBCASE("by a value") {
    check(R"(
for i in range(4):
    with T.block("R"):
        vi = T.axis.spatial(4, i)
        vk = T.axis.opaque(8, K[0])
        Y[vo * 4 + vi] = A[vk, vi])");
  }
  SUBCASE("by a bound") {
    check(R"(
for i in range(K[0]):
    with T.block("R"):
        vi = T.axis.spatial(16, i)
        Y[vo * 16 + vi] = A[vo, vi])");
  }
}

TEST_CASE("cache_read, read_at: a let around the reader is not seen where the copy stands") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    for o in range(1):
        with T.block("O"):
            vo = T.axis.spatial(1, o)
            for i in range(4):
                x: T.int32 = i * 4
                for j in range(4):
                    with T.block("R"):
                        vi = T.axis.spatial(16, x + j)
                        Y[vi] = X[vi]
)");
  check_read(f);
  schedule s(f);
  const block_rv r = s.block("R");
  s.read_at(s.get_loops(r)[0], r, 0, "local");
  check_meaning(s, f);
}

TEST_CASE("read_at, write_at: a let around the scope is no variable of the copy") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    for i in range(4):
        x: T.int32 = 3 - i
        with T.block("O"):
            T.reads(A[x, 0:3])
            T.writes(C[x, 0:3])
            for j in range(3):
                with T.block("C"):
                    vi = T.axis.spatial(4, x)
                    vj = T.axis.spatial(3, j)
                    C[vi, vj] = A[vi, vj] + 1
)");
  check_read(f, "C");
  check_written(f, "C");
  schedule s(f);
  const block_rv c = s.block("C");
  const loop_rv j = s.get_loops(c)[0];
  check_refusal(s, "read_at", 6, [&] { s.read_at(j, c, 0, "local"); });
  check_refusal(s, "write_at", 6, [&] { s.write_at(j, c, 0, "local"); });
}

TEST_CASE("cache_write: a bound or a condition around a listed consumer loads the buffer") {
  for (const char* around :
       {"for i in range(X[0]):\n    for u in range(1):", "for i in range(16):\n    if X[0] > 3:"}) {
    CAPTURE(std::string(around));
    schedule s(program_of(R"(@T.prim_func
def main(Y: T.Buffer((16,), "int32")):
    X = T.alloc_buffer((16,), "int32")
    for i in range(16):
        with T.block("W"):
            vi = T.axis.spatial(16, i)
            X[vi] = 8 + vi
    <around>
            with T.block("R"):
                vi = T.axis.spatial(16, i)
                Y[vi] = X[vi]
)",
                          {{"<around>", around}}));
    const block_rv w = s.block("W"), r = s.block("R");
    check_refusal(s, "cache_write", 6, [&] { s.cache_write(w, 0, "local", {r}); });
  }
}

TEST_CASE(
    "cache_write: a listed consumer finds nothing in the cache that the block does not write") {
  schedule s(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((16,), "int32"), Y: T.Buffer((4, 16), "int32"), Z: T.Buffer((4, 8), "int32")):
    for t in range(4):
        for i in range(8):
            with T.block("W"):
                vt, vi = T.axis.remap("SS", [t, i])
                X[vi] = vt + vi
        for i in range(16):
            with T.block("R"):
                vt, vi = T.axis.remap("SS", [t, i])
                Y[vt, vi] = X[vi]
        for i in range(8):
            with T.block("Z"):
                vt, vi = T.axis.remap("SS", [t, i])
                Z[vt, vi] = X[vi]
)"));
  const block_rv w = s.block("W"), r = s.block("R"), z = s.block("Z");
  check_refusal(s, "cache_write", 6, [&] { s.cache_write(w, 0, "local", {r}); });
  s.cache_write(w, 0, "local", {z});
}

TEST_CASE("cache_read, cache_write: a block that writes two parts of the buffer") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), Y: T.Buffer((16,), "int32")):
    X = T.alloc_buffer((16,), "int32")
    for i in range(8):
        with T.block("W"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(X[vi], X[vi + 8])
            X[vi] = A[vi]
            X[vi + 8] = A[vi] * 2
    for i in range(16):
        with T.block("R"):
            vi = T.axis.spatial(16, i)
            Y[vi] = X[vi] + 1
)");
  check_not_written(f);
  check_read(f);
}

TEST_CASE("cache_write: a block that may leave out what it declares to write") {
  const auto program = [](const char* body) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), X: T.Buffer((16,), "int32"), Z: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("W"):
            vi = T.axis.spatial(8, i)
            <body>
)",
                      {{"<body>", body}});
  };
  const char* without_iteration = R"(
for j in range(vi):
    X[vi] = A[j])";
  const char* other_buffer = R"(
T.reads(A[vi])
T.writes(X[vi], Z[vi])
if A[vi] > 0:
    X[vi] = 1
else:
    Z[vi] = 1)";
  const char* other_place = R"(
if A[vi] > 0:
    X[vi * 2] = 1
else:
    X[vi * 2 + 1] = 1)";
  for (const char* body : {without_iteration, other_buffer, other_place}) {
    CAPTURE(std::string(body));
    check_not_written(program(body));
  }
  check_written(program(R"(
if A[vi] > 0:
    X[vi] = 1
else:
    X[vi] = 2)"));
}

TEST_CASE("cache_write: a guard inside of the block leaves out what exists, or what does not") {
  const auto program = [](const char* size) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((12,), "int32"), X: T.Buffer((<size>,), "int32")):
    for i in range(3):
        with T.block("O"):
            vo = T.axis.spatial(3, i)
            T.reads(A[vo * 4:vo * 4 + 4])
            T.writes(X[vo * 4:vo * 4 + 4])
            for j in range(4):
                with T.block("W"):
                    vi = T.axis.spatial(4, j)
                    T.where(vo * 4 + j < 9)
                    X[vo * 4 + vi] = A[vo * 4 + vi] + 2
)",
                      {{"<size>", size}});
  };
  check_not_written(program("16"), "O");
  check_written(program("9"), "O");
}

TEST_CASE("cache_read, reindex, decompose_reduction: a while repeats what stands in it") {
  schedule s(ir::parse(R"(@T.prim_func
def main(K: T.Buffer((1,), "int32"), X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    while K[0] < 3:
        for i in range(8):
            with T.block("R"):
                vi = T.axis.spatial(8, i)
                Y[vi] = X[vi]
        for i in range(8):
            with T.block("W"):
                vi = T.axis.spatial(8, i)
                X[vi] = 1
        with T.block("K"):
            K[0] = K[0] + 1
)"));
  const block_rv r = s.block("R");
  check_refusal(s, "cache_read", 4, [&] { s.cache_read(r, 0, "local"); });
  check_refusal(s, "reindex", 4, [&] { s.reindex(r, {buffer_selector::list::read, 0}); });
  check_refusal(s, "reindex_cache_read", 4,
                [&] { s.reindex_cache_read(r, 0, "local", "lambda i: (i,)"); });
  schedule sum(ir::parse(R"(@T.prim_func
def main(K: T.Buffer((1,), "int32"), A: T.Buffer((8, 8), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        while K[0] < i:
            for k in range(8):
                with T.block("C"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vi] = 0
                    C[vi] = C[vi] + A[vi, vk]
            with T.block("K"):
                K[0] = K[0] + 1
)"));
  const block_rv c = sum.block("C");
  const loop_rv i = sum.get_loops(c)[0];
  check_refusal(sum, "decompose_reduction", 1, [&] { sum.decompose_reduction(c, i); });
}

TEST_CASE("cache_read, read_at, reindex: a copy reads what the blocks around it declare") {
  const auto program = [](const char* reads, const char* let, const char* value) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12,), "int32"), Y: T.Buffer((12,), "int32")):
    X = T.alloc_buffer((12,), "int32")
    for i in range(12):
        with T.block("X"):
            vi = T.axis.spatial(12, i)
            X[vi] = A[vi] * 2
    for i in range(3):
        with T.block("O"):
            vo = T.axis.spatial(3, i)
            T.reads(X[)" +
                     std::string(reads) +
                     R"(])
            T.writes(Y[vo * 4:vo * 4 + 4])
            for j in range(4):
)" + let + R"(                with T.block("Y"):
                    vj = T.axis.spatial(12, )" +
                     value + R"()
                    Y[vj] = X[vj] + 1
)");
  };
  const char* part = "vo * 4:vo * 4 + 4";
  const char* let = "                y: T.int32 = vo * 4 + j\n";
  schedule around(program(part, let, "y"));  // a let says what is read: the copy takes all of X
  const block_rv y = around.block("Y");
  const loop_rv j = around.get_loops(y)[0];
  check_refusal(around, "cache_read", 4, [&] { around.cache_read(y, 0, "global"); });
  check_refusal(around, "read_at", 5, [&] { around.read_at(j, y, 0, "global"); });
  schedule outer(program(part, "", "vo * 4 + j"));
  const block_rv o = outer.block("Y");
  check_refusal(outer, "reindex", 5, [&] { outer.reindex(o, {buffer_selector::list::read, 0}); });
  const auto move = [](schedule& s) { s.compute_at(s.block("X"), s.get_loops(s.block("O"))[0]); };
  const ir::function declared = program("0:12", let, "y");
  for (const int way : {0, 1}) {
    schedule s(declared);
    const block_rv reader = s.block("Y");
    if (way == 0) s.cache_read(reader, 0, "global");
    if (way == 1) s.read_at(s.get_loops(reader)[0], reader, 0, "global");
    move(s);
    check_meaning(s, declared);
  }
  const ir::function exact = program(part, "", "vo * 4 + j");
  schedule s(exact);
  s.cache_read(s.block("Y"), 0, "global");
  move(s);
  check_meaning(s, exact);
}

TEST_CASE("cache_read: what is loaded at a loop below the copy does not bound it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), I: T.Buffer((4,), "int32"), E: T.Buffer((4, 4), "int32")):
    for i in range(4):
        for j in range(T.min(T.max(I[i], 0), 4)):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] + 1
)");
  schedule s(f);
  s.loop_partition(s.get_loops(s.block("E"))[0], {1, infer});
  s.cache_read(s.block("E_i1"), 0, "global");
  check_meaning(s, f);
}

TEST_CASE("cache_read: the domain of a variable loads what is around the block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 5), "int32"), C: T.Buffer((4, 5), "int32")):
    I = T.alloc_buffer((5,), "int32")
    for i in range(5):
        with T.block("I"):
            vi = T.axis.spatial(5, i)
            I[vi] = vi
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:5], I[0:5])
            T.writes(C[vi, 0:5])
            for k in range(I[vi + 1]):
                with T.block("R"):
                    vk = T.axis.spatial(I[vi + 1], k)
                    T.reads(I[vi], A[vi, vk])
                    T.writes(C[vi, vk])
                    C[vi, vk] = A[vi, vk] + I[vi]
)");
  check_read(f);
}
