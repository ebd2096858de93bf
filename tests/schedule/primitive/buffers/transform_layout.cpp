#include <tilewright/schedule/primitive/buffers/transform_layout.hpp>

#include <string>
#include <utility>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include "../../programs.hpp"
#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

/// B = A * 2 over 16 x 14, then C = B + 1.
ir::function chain() {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 14), "int32"), C: T.Buffer((16, 14), "int32")):
    B = T.alloc_buffer((16, 14), "int32")
    for i, j in T.grid(16, 14):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(16, 14):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1
)");
}

/// B[i] is the sum of a row of A, then C = B + B reversed.
ir::function sums() {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((14, 8), "int32"), C: T.Buffer((14,), "int32")):
    B = T.alloc_buffer((14,), "int32")
    for i, k in T.grid(14, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi] + B[13 - vi]
)");
}

/// In a layout of 16 elements B, written as the lines say, means what it means.
void check_padded(const std::string& writing, const char* layout) {
  const ir::function f = program_of(R"(@T.prim_func
def main(A: T.Buffer((14,), "float32"), D: T.Buffer((14,), "float32")):
    B = T.alloc_buffer((14,), "float32")
    <writing>
    for i in range(14):
        with T.block("D"):
            vi = T.axis.spatial(14, i)
            D[vi] = B[vi] * T.float32(2)
)",
                                    {{"<writing>", writing}});
  schedule s(f);
  s.transform_layout(s.block("B"), written_buffer(0), layout, 0.0);
  check_meaning(s, f);
}

bool says(const schedule& s, const char* text) { return s.show().find(text) != std::string::npos; }

}  // namespace

TEST_CASE("transform_layout: accesses, regions and the declaration change") {
  const ir::function f = chain();
  const std::pair<const char*, buffer_selector> accesses[] = {
      {"C", read_buffer(0)}, {"B", "B"}, {"B", written_buffer(0)}};
  for (const auto& access : accesses) {
    CAPTURE(std::string(access.first));
    schedule s(f);
    s.transform_layout(s.block(access.first), access.second,
                       "lambda i, j: (i // 4, j // 7, i % 4, j % 7)");
    CHECK(says(s, "B = T.alloc_buffer((4, 2, 4, 7), \"int32\")"));
    CHECK(says(s, "B[vi // 4, vj // 7, vi % 4, vj % 7] = A[vi, vj] * 2"));
    CHECK(says(s, "C[vi, vj] = B[vi // 4, vj // 7, vi % 4, vj % 7] + 1"));
    check_meaning(s, f);
  }
}

TEST_CASE("transform_layout: a tile becomes a point of the outer axes") {
  const ir::function f = chain();
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j] = s.loops<2>(c);
  const auto [i0, i1] = s.split(i, {4, 4});
  s.compute_at(s.block("B"), i0);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i, j: (i // 4, j, i % 4)");
  CHECK(says(s, "B[vi // 4, vj, vi % 4] = A[vi, vj] * 2"));
  check_meaning(s, f);
}

TEST_CASE("transform_layout: a serial row-major producer fills the padding") {
  const ir::function f = chain();
  schedule s(f);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i, j: (j // 4, i, j % 4)",
                     std::int64_t{7});
  CHECK(s.get_loops(s.block("B")).size() == 3);
  CHECK(says(s, "T.if_then_else(v_axis0 == 3 and 2 <= v_axis2, 7, "));
  check_meaning(s, f);
}

TEST_CASE("transform_layout: a serial row-major nest inside of a block fills the padding") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((3, 14), "int32"), C: T.Buffer((3, 14), "int32")):
    B = T.alloc_buffer((3, 14), "int32")
    with T.block("B"):
        T.reads(A[0:3, 0:14])
        T.writes(B[0:3, 0:14])
        for i, j in T.grid(3, 14):
            B[i, j] = A[i, j]
    with T.block("C"):
        T.reads(B[0:3, 0:14])
        T.writes(C[0:3, 0:14])
        for i, j in T.grid(3, 14):
            C[i, j] = B[i, j]
)");
  schedule s(f);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i, j: (j // 4, i, j % 4)",
                     std::int64_t{7});
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((3, 14), "int32"), C: T.Buffer((3, 14), "int32")):
    B = T.alloc_buffer((4, 3, 4), "int32")
    with T.block("B"):
        T.reads(A[0:3, 0:14])
        T.writes(B[0:4, 0:3, 0:4])
        for a, i, b in T.grid(4, 3, 4):
            B[a, i, b] = T.if_then_else(a == 3 and 2 <= b, 7, A[i, a * 4 + b])
    with T.block("C"):
        T.reads(B[0:4, 0:3, 0:4])
        T.writes(C[0:3, 0:14])
        for i, j in T.grid(3, 14):
            C[i, j] = B[j // 4, i, j % 4]
)");
  check_meaning(s, f);
}

TEST_CASE("transform_layout: a nest that holds blocks without variables fills the padding") {
  const auto program = [](const char* step) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((14, 5), "int32"), C: T.Buffer((14,), "int32")):
    B = T.alloc_buffer((14,), "int32")
    for i in range(14):
        B[i] = 1
        for k in range(5):
            with T.block("B"):
                T.reads(B[0:14], A[i, k])
                T.writes(B[i])
                <step>
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
)",
                      {{"<step>", step}});
  };
  const auto pad = [](schedule& s) {
    s.transform_layout(s.block("B"), written_buffer(0), "lambda i: (i // 4, i % 4)",
                       std::int64_t{7});
  };
  const ir::function f = program("B[i] = B[i] * A[i, k]");
  schedule s(f);
  pad(s);
  CHECK(says(s, "B[axis0, axis1] = T.if_then_else(axis0 == 3 and 2 <= axis1, 7, 1)"));
  CHECK_FALSE(says(s, "buffer_B_padding"));
  check_meaning(s, f);
  const ir::function scan = program("B[i] = B[T.max(i - 1, 0)] * A[i, k]");
  schedule t(scan);
  pad(t);
  CHECK(t.get_loops(t.block("buffer_B_padding")).size() == 2);  // once, behind the nest
  check_meaning(t, scan);
}

TEST_CASE("transform_layout: blocks around a nest that fills the padding write it, too") {
  const auto inside = [](const std::string& nest) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((2,), "int32"), E: T.Buffer((2,), "int32")):
    S = T.alloc_buffer((2,), "int32")
    with T.block("O"):
        T.reads(A[0:2], S[0:2])
        T.writes(E[0:2], S[0:2])
)" + nest + R"(        for i in range(2):
            with T.block("E"):
                vi = T.axis.spatial(2, i)
                E[vi] = S[vi] - vi
)");
  };
  for (const std::string nest : {R"(        for i in range(2):
            with T.block("S"):
                vi = T.axis.spatial(2, i)
                S[vi] = A[vi] * 2
)",
                                 R"(        with T.block("S"):
            T.reads(A[0:2])
            T.writes(S[0:2])
            for i in range(2):
                S[i] = A[i] * 2
)"}) {
    const ir::function f = inside(nest);
    schedule s(f);
    s.transform_layout(s.block("S"), written_buffer(0), "lambda i: (i // 3, i % 3)", 7);
    s.cache_write(s.block("O"), 1, "global");
    s.cache_write(s.block("S"), 0, "local");
    check_meaning(s, f);
  }
}

TEST_CASE("transform_layout: a reduction fills the padding in its init and in every step") {
  const ir::function f = sums();
  schedule s(f);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i: (i // 4, i % 4)",
                     map_argument("lambda i, j: i * 10 + j"));
  CHECK(s.get_loops(s.block("B")).size() == 3);
  check_meaning(s, f);
}

TEST_CASE("transform_layout: else a block behind the last writer does") {
  const ir::function f = chain();
  schedule s(f);
  const auto [i, j] = s.loops<2>(s.block("B"));
  s.reorder(j, i);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i, j: (j // 4, i, j % 4)",
                     std::int64_t{7});
  CHECK(s.get_loops(s.block("B")).size() == 2);
  CHECK(s.get_loops(s.block("buffer_B_padding")).size() == 3);
  CHECK(says(s, "T.where(axis0 == 3 and 2 <= axis2)"));
  check_meaning(s, f);
}

TEST_CASE("transform_layout: the padding of an input is an assumption") {
  const ir::function f = sums();
  schedule s(f);
  s.transform_layout(s.block("B"), read_buffer(0), "lambda i, j: (i // 4, i % 4, j)",
                     std::int64_t{7});
  CHECK(says(s, "T.assume("));
  REQUIRE(s.function().params[0].buffer->shape.size() == 3);
  CHECK(s.get_loops(s.block("buffer_A_assumptions")).size() == 3);
  check_schedule(s, f);
}

TEST_CASE("transform_layout: parameters change their type") {
  const ir::function f = sums();
  schedule s(f);
  s.transform_layout(s.block("C"), written_buffer(0), "lambda i: (i % 7, i // 7)");
  s.transform_layout(s.block("B"), read_buffer(0), "lambda i, j: (i // 2, j // 2, i % 2, j % 2)");
  CHECK(s.function().params[1].buffer->shape.size() == 2);
  check_schedule(s, f);
  // element (i, k) of the new input is at [i / 2, k / 2, i % 2, k % 2]: fill both alike
  const ir::function g = s.function();
  std::vector<std::int32_t> plain(14 * 8), packed(14 * 8), first(14), second(14);
  for (int i = 0; i < 14; ++i)
    for (int k = 0; k < 8; ++k) {
      const auto at = static_cast<std::size_t>(((i / 2 * 4 + k / 2) * 2 + i % 2) * 2 + k % 2);
      plain[static_cast<std::size_t>(i * 8 + k)] = packed[at] = i * 31 + k * k;
    }
  ir::interpret(f, std::vector<ir::tensor_view>{{plain.data(), {}}, {first.data(), {}}});
  ir::interpret(g, std::vector<ir::tensor_view>{{packed.data(), {}}, {second.data(), {}}});
  for (std::size_t i = 0; i < 14; ++i) CHECK(first[i] == second[i % 7 * 2 + i / 7]);
}

TEST_CASE("transform_layout: a layout assumed to be injective pads without writing") {
  const ir::function f = chain();
  schedule s(f);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i, j: (i // 3, i % 3, j)", {}, true);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i, j, k: (i * 100 + j * 20 + k,)", {},
                     true);
  check_meaning(s, f);
  const block_rv b = s.block("B");
  check_refusal(s, "transform_layout", 4,
                [&] { s.transform_layout(b, written_buffer(0), "lambda i: (i // 2,)", {}, true); });
}

TEST_CASE("transform_layout: integers of the schedule in the map, seen by simplification") {
  const ir::function f = chain();
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv j = s.get_loops(b)[1];
  const std::vector<expr_rv> t = s.sample_perfect_tile(j, 3, 16, decision{1, 7, 2});
  s.transform_layout(b, written_buffer(0),
                     {"lambda i, j: (i, j // (m * n), j % (m * n))", {{"m", t[1]}, {"n", t[2]}}});
  CHECK(says(s, "B = T.alloc_buffer((16, 1, 14), \"int32\")"));
  CHECK(s.trace().simplified().size() == s.trace().size());
  check_meaning(s, f);
}

TEST_CASE("transform_layout: 64-bit indices") {
  const ir::function f = programs::elementwise({"i"}, {ir::integer(dtype::i64, 16)});
  schedule s(f);
  s.transform_layout(s.block("B"), written_buffer(0), "lambda i: (0, (i + 1) // 8, (i + 1) % 8)",
                     1.0);
  for (const ir::expr& e : s.function().params[1].buffer->shape) CHECK(e.type() == dtype::i64);
  check_schedule(s, f);
}

TEST_CASE("transform_layout: requirements by number") {
  const ir::function f = chain();
  schedule s(f);
  const block_rv b = s.block("B");
  const auto refused = [&](int requirement, const buffer_selector& which, const char* map,
                           const argument& pad = {}, bool injective = false) {
    CAPTURE(std::string(map));
    check_refusal(s, "transform_layout", requirement,
                  [&] { s.transform_layout(b, which, map, pad, injective); });
  };
  const char* same = "lambda i, j: (i, j)";
  refused(1, read_buffer(1), same);
  refused(1, written_buffer(-1), same);
  refused(1, "Z", same);
  refused(3, read_buffer(0), "lambda i: (i,)");
  refused(3, read_buffer(0), "lambda i, j: (i + 3, j)");
  refused(4, read_buffer(0), "lambda i, j: (i + j,)");
  refused(4, read_buffer(0), "lambda i, j: (i,)");
  refused(4, read_buffer(0), "lambda i, j: (i // 2, j)");
  refused(4, read_buffer(0), "lambda i, j: (i + j,)", {}, true);
  const char* pads = "lambda i, j: (i // 3, i % 3, j)";
  refused(5, written_buffer(0), pads);
  refused(6, written_buffer(0), pads, 1.0);
  refused(6, written_buffer(0), pads, map_argument("lambda i, j, k: T.int64(3)"));
  refused(6, written_buffer(0), pads, map_argument("lambda i, j: 3"));
  refused(6, written_buffer(0), pads, map_argument("lambda i, j, k: (3, 4)"));
  check_schedule(s, f);
}

TEST_CASE("transform_layout: buffers that others alias stay as they are") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "int32"), C: T.Buffer((16, 16), "int32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi * 4 : vi * 4 + 4, 0 : 16])
            T.writes(C[vi * 4 : vi * 4 + 4, 0 : 16])
            P = T.match_buffer(A[vi * 4 : vi * 4 + 4, 0 : 16], (4, 16), "int32", offset_factor=1)
            for j, k in T.grid(4, 16):
                with T.block("inner"):
                    vj, vk = T.axis.remap("SS", [j, k])
                    C[vi * 4 + vj, vk] = P[vj, vk]
)");
  schedule s(f);
  const block_rv inner = s.block("inner"), outer = s.block("outer");
  check_refusal(s, "transform_layout", 2,
                [&] { s.transform_layout(inner, read_buffer(0), "lambda i, j: (j, i)"); });
  check_refusal(s, "transform_layout", 2,
                [&] { s.transform_layout(outer, read_buffer(0), "lambda i, j: (j, i)"); });
}

TEST_CASE("transform_layout: a scalar may be no extent") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), n: T.int32, C: T.Buffer((16,), "int32")):
    B = T.alloc_buffer((16,), "int32")
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi]
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "transform_layout", 3, [&] {
    s.transform_layout(b, written_buffer(0), "lambda i: (i // n, i % n)", std::int64_t{0});
  });
}

TEST_CASE("transform_layout: symbolic extents") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (8, n), "int32")
    C = T.match_buffer(c, (8, n), "int32")
    for i, j in T.grid(8, n):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + 1
)");
  schedule s(f);
  const block_rv c = s.block("C");
  s.transform_layout(c, written_buffer(0), "lambda i, j: (i * n + j,)");
  CHECK(says(s, "C[vi * n + vj] = A[vi, vj] + 1"));
  check_schedule(s, f);
  const std::vector<ir::stmt> before{s.function().body};
  check_refusal(s, "transform_layout", 7,
                [&] { s.transform_layout(c, read_buffer(0), "lambda i, j: (j, i)"); });
  CHECK_THROWS_AS(s.transform_layout(c, written_buffer(0), "lambda i: (i // m, i % m)"),
                  argument_error);
}

TEST_CASE("transform_layout: a condition that loads is not asked at the padding") {
  check_padded(R"(
for i in range(14):
    with T.block("B"):
        vi = T.axis.spatial(14, i)
        if A[vi] > T.float32(0):
            B[vi] = T.float32(1)
        else:
            B[vi] = T.float32(2))",
               "lambda i: (i // 4, i % 4)");
}

TEST_CASE("transform_layout: a value that is loaded is not there for the padding") {
  check_padded(R"(
for i in range(14):
    with T.block("B"):
        vi = T.axis.spatial(14, i)
        x: T.float32 = A[vi]
        B[vi] = x * x)",
               "lambda i: (i // 4, i % 4)");
}

TEST_CASE("transform_layout: there is no part to view at the padding") {
  check_padded(R"(
for i in range(14):
    with T.block("B"):
        vi = T.axis.spatial(14, i)
        T.reads(A[vi])
        T.writes(B[vi])
        V = T.match_buffer(A[vi], (1,), "float32", offset_factor=1)
        B[vi] = V[0] * T.float32(2))",
               "lambda i: (i // 4, i % 4)");
}

TEST_CASE("transform_layout: a scan inside of a block keeps its order") {
  check_padded(R"(
with T.block("B"):
    for i in range(14):
        B[i] = T.if_then_else(i > 0, B[T.max(i - 1, 0)], T.float32(0)) + A[i])",
               "lambda i: (i % 4, i // 4)");
}

TEST_CASE("transform_layout: a scan over instances keeps its order") {
  check_padded(R"(
for i in range(14):
    with T.block("B"):
        vi = T.axis.spatial(14, i)
        B[vi] = T.if_then_else(vi > 0, B[T.max(vi - 1, 0)], T.float32(0)) + A[vi])",
               "lambda i: (i % 4, i // 4)");
}

TEST_CASE("transform_layout: that a row has elements is known inside of its loop alone") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((5,), "int32"), D: T.Buffer((5,), "int32")):
    S = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi] = vi
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            T.reads(A[vi], S[0:8])
            T.writes(C[vi], D[vi])
            C[vi] = A[vi]
            for k in range(3 - vi):
                C[vi] = A[vi] + k
            D[vi] = S[T.max(3 - vi, 1)]
)");
  schedule s(f);
  s.transform_layout(s.block("S"), written_buffer(0), "lambda i: (i // 4, i % 4)");
  check_meaning(s, f);
  schedule t(f);
  t.transform_block_layout(t.block("B"), "lambda i: (i,)");
  check_meaning(t, f);
}
