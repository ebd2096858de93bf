#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/schedule/primitive/padding/rolling_buffer.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

/// B = A * 2 and C[i] = B[i] + B[i + 2], over rows of 8.
constexpr const char* stencil = R"(@T.prim_func
def main(A: T.Buffer((14, 8), "int32"), C: T.Buffer((12, 8), "int32")):
    B = T.alloc_buffer((14, 8), "int32")
    for i, j in T.grid(14, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(12, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 2, vj]
)";

/// The stencil with tiles of `rows`, B computed at the tile.
schedule tiled(int rows) {
  schedule s(ir::parse(stencil));
  const auto i = s.split(s.get_loops(s.block("C"))[0], {infer, rows});
  s.compute_at(s.block("B"), i[0]);
  return s;
}

}  // namespace

TEST_CASE("rolling_buffer keeps what windows share") {
  schedule s = tiled(4);
  s.rolling_buffer(s.block("B"), 0);
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((14, 8), "int32"), C: T.Buffer((12, 8), "int32")):
    B = T.alloc_buffer((6, 8), "int32")
    for i_0 in range(3):
        for ax0, ax1 in T.grid(6, 8):
            with T.block("B"):
                vi = T.axis.opaque(14, i_0 * 4 + ax0)
                vj = T.axis.spatial(8, ax1)
                T.where(i_0 < 1 or 2 <= ax0)
                T.reads(A[vi, vj])
                T.writes(B[vi % 6, vj])
                B[vi % 6, vj] = A[vi, vj] * 2
        for i_1, j in T.grid(4, 8):
            with T.block("C"):
                vi = T.axis.opaque(12, i_0 * 4 + i_1)
                vj = T.axis.spatial(8, j)
                T.reads(B[0:6, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = B[vi % 6, vj] + B[(vi + 2) % 6, vj]
)");
  check_meaning(s, ir::parse(stencil));
}

TEST_CASE("rolling_buffer: tiles that do not divide, and tiles of one row") {
  for (const int rows : {1, 3, 5}) {
    CAPTURE(rows);
    schedule s = tiled(rows);
    s.rolling_buffer(s.block("B"), 0);
    check_meaning(s, ir::parse(stencil));
  }
}

TEST_CASE("rolling_buffer: windows of two dimensions roll along the outer loop") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12, 12), "int32"), C: T.Buffer((8, 8), "int32")):
    B = T.alloc_buffer((10, 10), "int32")
    for i, j, k in T.grid(10, 10, 3):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = 0
            B[vi, vj] = B[vi, vj] + A[vi + vk, vj]
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 2, vj + 1] + B[vi + 1, vj + 2]
)");
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("C"));
  const auto i = s.split(loops[0], {infer, 4});
  const auto j = s.split(loops[1], {infer, 4});
  s.reorder({i[0], j[0], i[1], j[1]});
  s.compute_at(s.block("B"), j[0]);
  s.rolling_buffer(s.block("B"), 0);
  CHECK(s.show().find("B = T.alloc_buffer((6, 10)") != std::string::npos);
  check_meaning(s, f);
}

TEST_CASE("rolling_buffer: windows that begin at a fraction of the loop") {
  const auto program = [](const std::string& begin, int rows, int window) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((16, 4), "int32"), C: T.Buffer((24, 4), "int32")):
    B = T.alloc_buffer((14, 4), "int32")
    for i in range(<tiles>):
        for a, j in T.grid(<window>, 4):
            with T.block("B"):
                vi = T.axis.spatial(14, <begin> + a)
                vj = T.axis.spatial(4, j)
                T.where(<begin> + a < 14)
                B[vi, vj] = A[vi + 2, vj] * 3
        for b, j in T.grid(<rows>, 4):
            with T.block("C"):
                vi = T.axis.spatial(24, i * <rows> + b)
                vj = T.axis.spatial(4, j)
                T.where(i * <rows> + b < 24)
                C[vi, vj] = B[vi // 2, vj] + B[vi // 2 + 2, vj]
)",
                      {{"<tiles>", std::to_string((23 + rows) / rows)},
                       {"<begin>", begin},
                       {"<rows>", std::to_string(rows)},
                       {"<window>", std::to_string(window)}});
  };
  const auto check_rolls = [&](const std::string& begin, int rows, int window,
                               const std::string& kept) {
    CAPTURE(begin);
    const ir::function f = program(begin, rows, window);
    schedule s(f);
    s.rolling_buffer(s.block("B"), 0);
    CHECK(s.show().find("i < 1 or " + kept + " <= a") != std::string::npos);
    check_meaning(s, f);
  };
  check_rolls("i * 3 // 2", 3, 4, "2");
  check_rolls("i * 5 // 2", 5, 5, "2");
  check_rolls("i * 7 // 2", 7, 6, "2");
  check_rolls("i // 2", 1, 3, "2");
  schedule apart(program("i * 5 // 2", 5, 3));  // what C reads is not all there
  const block_rv b = apart.block("B");
  check_refusal(apart, "rolling_buffer", 2, [&] { apart.rolling_buffer(b, 0); });
}

TEST_CASE("rolling_buffer: a chain rolls in either order") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 4), "int32"), D: T.Buffer((12, 4), "int32")):
    B = T.alloc_buffer((16, 4), "int32")
    C = T.alloc_buffer((14, 4), "int32")
    for i, j in T.grid(16, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j, k in T.grid(14, 4, 3):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + B[vi + vk, vj]
    for i, j, k in T.grid(12, 4, 3):
        with T.block("D"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = 0
            D[vi, vj] = D[vi, vj] + C[vi + vk, vj]
)");
  const auto rolled = [&](const char* first, const char* second) {
    schedule s(f);
    const auto i = s.split(s.get_loops(s.block("D"))[0], {infer, 4});
    s.compute_at(s.block("C"), i[0]);
    s.compute_at(s.block("B"), i[0]);
    s.rolling_buffer(s.block(first), 0);
    s.rolling_buffer(s.block(second), 0);
    check_meaning(s, f);
    return s;
  };
  CHECK(ir::equal(rolled("B", "C").function(), rolled("C", "B").function()));
}

TEST_CASE("rolling_buffer: refusals") {
  const auto refused = [](schedule s, const char* name, int requirement, int index = 0) {
    const block_rv b = s.block(name);
    check_refusal(s, "rolling_buffer", requirement, [&] { s.rolling_buffer(b, index); });
  };
  refused(tiled(4), "C", 1);     // an output
  refused(tiled(4), "B", 1, 1);  // there is one buffer
  refused(schedule(ir::parse(stencil)), "B", 2);
  {
    schedule s(ir::parse(stencil));  // whole rows: nothing overlaps along j
    s.compute_at(s.block("B"), s.get_loops(s.block("C"))[1]);
    const auto ij = s.get_loops(s.block("C"));
    s.parallel(ij[0]);
    refused(std::move(s), "B", 3);
  }
  {
    schedule s = tiled(4);
    s.rolling_buffer(s.block("B"), 0);
    refused(std::move(s), "B", 1);  // places of a window are written again and again
  }
}

TEST_CASE("rolling_buffer: blocks inside a block follow it") {
  const ir::function f = ir::parse(stencil);
  schedule s(f);
  const block_rv b = s.blockize(s.get_loops(s.block("B"))[1]);
  const auto i = s.split(s.get_loops(s.block("C"))[0], {infer, 4});
  s.compute_at(b, i[0]);
  s.rolling_buffer(b, 0);
  CHECK(ir::is_true(s.get(s.block("B")).predicate));
  CHECK_FALSE(ir::is_true(s.get(b).predicate));
  check_meaning(s, f);
}

TEST_CASE("rolling_buffer: a buffer of two writers is refused") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((14,), "int32")):
    B = T.alloc_buffer((16,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("B_1"):
            vi = T.axis.spatial(8, i)
            B[vi + 8] = A[vi] * 2
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
)"));
  const block_rv b = s.block("B");
  s.compute_at(b, s.get_loops(s.block("C"))[0]);
  check_refusal(s, "rolling_buffer", 1, [&] { s.rolling_buffer(b, 0); });
}

TEST_CASE("rolling_buffer: a guard that cuts the windows") {
  for (const int factor : {4, 5, 6, 8}) {
    CAPTURE(factor);
    schedule s = tiled(4);
    s.split(s.get_loops(s.block("B"))[1], {infer, factor}, true);
    s.rolling_buffer(s.block("B"), 0);
    CHECK(s.show().find("B = T.alloc_buffer((6, 8)") != std::string::npos);
    check_meaning(s, ir::parse(stencil));
  }
}

TEST_CASE("rolling_buffer: what no iteration before has written is no window") {
  const auto guarded = [](const std::string& guard) {
    return schedule(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((12,), "int32")
    for i in range(8):
        for a, b in T.grid(2, 3):
            with T.block("B"):
                vi = T.axis.spatial(12, i + a * 2 + b)
                T.where()" + guard +
                              R"()
                B[vi] = A[vi] * 2
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + B[vi + 2]
)"));
  };
  const auto rolled = [&](const std::string& guard) {
    schedule s = guarded(guard);
    const ir::function f = s.function();
    s.rolling_buffer(s.block("B"), 0);
    check_meaning(s, f);
    return s.show().find("B = T.alloc_buffer((5,)") != std::string::npos;
  };
  CHECK(rolled("0 <= a"));
  CHECK(rolled("i + a * 2 + b < 12"));
  schedule digits = guarded("a + b < 3");  // offsets 0 to 4, of which 4 has no instance
  const block_rv b = digits.block("B");
  CHECK_THROWS_AS(digits.rolling_buffer(b, 0), schedule_error);
}

TEST_CASE("rolling_buffer: windows along a diagonal have nothing in common") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 8), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6, 8), "int32")
    for i in range(6):
        for a in range(3):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(8, i + a)
                B[vi, vj] = A[vi, vj] * 2
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = B[vi, vi] + B[vi, vi + 2]
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "rolling_buffer", 3, [&] { s.rolling_buffer(b, 0); });
}

TEST_CASE("rolling_buffer: loops that follow others are refused") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((4, 4), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * 2
    for i in range(4):
        for j in range(i + 1):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj] + B[vj + 1] + B[vj + 2]
)"));
  const block_rv b = s.block("B");
  s.compute_at(b, s.get_loops(s.block("C"))[1]);
  check_refusal(s, "rolling_buffer", 3, [&] { s.rolling_buffer(b, 0); });
}

TEST_CASE("rolling_buffer: a buffer of which a part is matched") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((12,), "float32")
    for i in range(10):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(12, i + ax0)
                B[vi] = A[vi] * T.float32(2)
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            T.reads(B[vi:vi + 3])
            T.writes(C[vi])
            M = T.match_buffer(B[vi:vi + 3], (3,), "float32", offset_factor=1)
            C[vi] = M[0] + M[1] + M[2]
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "rolling_buffer", 1, [&] { s.rolling_buffer(b, 0); });
}

TEST_CASE("rolling_buffer: iterations that write other values to an element") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3, 2), "int32"), E: T.Buffer((3, 2), "int32")):
    S = T.alloc_buffer((4,), "int32")
    B = T.alloc_buffer((4,), "int32")
    for i in range(3):
        for j in range(2):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi + vj] = A[vi, vj]
        for j in range(2):
            with T.block("B"):
                v = T.axis.spatial(4, i + j)
                B[v] = S[v] * 2
        for j in range(2):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = B[vi + vj] - vi
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "rolling_buffer", 5, [&] { s.rolling_buffer(b, 0); });
}

TEST_CASE("rolling_buffer: opaque variables that no rolling has made") {
  // B is another one in each iteration, so that C is no window of what there was before
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((10,), "int32"), D: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((10,), "int32")
    C = T.alloc_buffer((10,), "int32")
    for i in range(8):
        for j in range(3):
            with T.block("B"):
                v = T.axis.opaque(10, i + j)
                w = T.axis.opaque(8, i)
                B[v] = A[v] + w
        for j in range(3):
            with T.block("C"):
                v = T.axis.spatial(10, i + j)
                C[v] = B[v] * 2
        with T.block("D"):
            v = T.axis.spatial(8, i)
            D[v] = C[v] + C[v + 2]
)"));
  const block_rv b = s.block("B"), c = s.block("C");
  check_refusal(s, "rolling_buffer", 1, [&] { s.rolling_buffer(b, 0); });
  check_refusal(s, "rolling_buffer", 5, [&] { s.rolling_buffer(c, 0); });
}

TEST_CASE("rolling_buffer: a circular buffer that others than windows read") {
  // C[v] of an iteration is not that of the next: B holds element v + 1 in the one alone
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((10,), "int32"), D: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((3,), "int32")
    C = T.alloc_buffer((10,), "int32")
    for i in range(8):
        for j in range(3):
            with T.block("B"):
                v = T.axis.opaque(10, i + j)
                T.where(i < 1 or 2 <= j)
                B[v % 3] = A[v]
        for j in range(3):
            with T.block("C"):
                v = T.axis.spatial(10, i + j)
                C[v] = B[(v + 1) % 3]
        with T.block("D"):
            v = T.axis.spatial(8, i)
            D[v] = C[v] + C[v + 2]
)"));
  const block_rv c = s.block("C");
  check_refusal(s, "rolling_buffer", 5, [&] { s.rolling_buffer(c, 0); });
}

TEST_CASE("rolling_buffer: three buffers in a chain, in every order") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((18,), "int32"), E: T.Buffer((12,), "int32")):
    B = T.alloc_buffer((18,), "int32")
    C = T.alloc_buffer((16,), "int32")
    D = T.alloc_buffer((14,), "int32")
    for i in range(18):
        with T.block("B"):
            v = T.axis.spatial(18, i)
            B[v] = A[v] * 2
    for i in range(16):
        with T.block("C"):
            v = T.axis.spatial(16, i)
            C[v] = B[v] + B[v + 1] + B[v + 2]
    for i in range(14):
        with T.block("D"):
            v = T.axis.spatial(14, i)
            D[v] = C[v] * C[v + 2]
    for i in range(12):
        with T.block("E"):
            v = T.axis.spatial(12, i)
            E[v] = D[v] - D[v + 1] + D[v + 2]
)");
  std::vector<std::string> order{"B", "C", "D"};
  std::optional<ir::function> first;
  do {
    CAPTURE(order);
    schedule s(f);
    const auto i = s.split(s.get_loops(s.block("E"))[0], {infer, 3});
    for (const char* name : {"D", "C", "B"}) s.compute_at(s.block(name), i[0]);
    for (const std::string& name : order) s.rolling_buffer(s.block(name), 0);
    check_meaning(s, f);
    if (!first) first = s.function();
    CHECK(ir::equal(s.function(), *first));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("rolling_buffer: a second time, in a block with variables of its own") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((2, 6), "int32"), C: T.Buffer((2, 5), "int32")):
    for o in range(2):
        with T.block("O"):
            vo = T.axis.spatial(2, o)
            T.reads(A[vo, 0:6])
            T.writes(C[vo, 0:5])
            B = T.alloc_buffer((6,), "int32")
            for i in range(5):
                for x in range(2):
                    with T.block("B"):
                        vi = T.axis.spatial(6, i + x)
                        B[vi] = A[vo, vi] * 2
                with T.block("C"):
                    vi = T.axis.spatial(5, i)
                    C[vo, vi] = B[vi] - B[vi + 1]
)"));
  s.rolling_buffer(s.block("B"), 0);
  const block_rv c = s.block("C");
  CHECK_THROWS_AS(s.rolling_buffer(c, 0), schedule_error);
}
