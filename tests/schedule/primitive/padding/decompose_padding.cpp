#include <tilewright/schedule/primitive/padding/decompose_padding.hpp>

#include <tilewright/ir/visit.hpp>

#include "../../script_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;

namespace {

std::string row(const std::string& value, const std::string& target = "B[vi]") {
  return R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((24,), "float32")):
    for i in range(24):
        with T.block("B"):
            vi = T.axis.spatial(24, i)
            )" +
         target + " = " + value + "\n";
}

const std::string padded = row("T.if_then_else(3 <= vi and vi < 19, A[vi - 3], T.float32(0))");

void check_refused(const std::string& text, int requirement) {
  INFO(text);
  schedule s(ir::parse(text));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  CHECK_FALSE(s.can_decompose_padding(b, i));
  check_refusal(s, "decompose_padding", requirement, [&] { s.decompose_padding(b, i); });
}

}  // namespace

TEST_CASE("decompose_padding: one dimension") {
  const ir::function f = ir::parse(padded);
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  CHECK(s.can_decompose_padding(b, i));
  const block_rv constant = s.decompose_padding(b, i);
  CHECK(s.get(constant).block->name == "B_pad_const");
  CHECK(s.get(b).block->name == "B");
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((24,), "float32")):
    for i in range(24):
        with T.block("B_pad_const"):
            vi = T.axis.spatial(24, i)
            T.reads()
            T.writes(B[vi])
            B[vi] = T.float32(0)
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi])
            T.writes(B[vi + 3])
            B[vi + 3] = A[vi]
)");
  check_meaning(s, f);
}

TEST_CASE("decompose_padding: conditions of both spellings, one side only, likely") {
  for (const std::string& value :
       {std::string("T.if_then_else(vi < 16, A[vi], T.float32(1))"),
        std::string("T.if_then_else(vi >= 8, A[vi - 8] * T.float32(2), T.float32(-1))"),
        std::string("T.if_then_else(T.likely(19 > vi) and vi > 2, A[vi - 3], T.float32(0))")}) {
    const ir::function f = ir::parse(row(value));
    schedule s(f);
    const block_rv b = s.block("B");
    s.decompose_padding(b, s.get_loops(b)[0]);
    CHECK(ir::is_int(s.get(s.get_loops(b)[0]).extent, 16));
    CHECK(ir::is_true(s.get(b).predicate));
    check_meaning(s, f);
  }
}

TEST_CASE("decompose_padding: at each loop of a padded image, and below a tile") {
  const ir::function f = stages::conv2d(6, 5, 2, 3, 3, 1, 1);
  for (std::size_t at = 0; at < 4; ++at) {
    schedule s(f);
    const block_rv pad = s.block("X_pad");
    const block_rv constant = s.decompose_padding(pad, s.get_loops(pad)[at]);
    CHECK(s.get_loops(constant).size() == 4);
    CHECK(s.get_loops(pad).size() == 4);
    check_meaning(s, f);
  }
  for (const std::size_t lifted :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    schedule s(f);
    const block_rv y = s.block("Y"), pad = s.block("X_pad");
    const std::vector<loop_rv> l = s.get_loops(y);
    const auto p = s.split(l[1], {infer, 4});
    s.reorder(l[0], p[0], l[2], l[3], p[1]);
    s.compute_at(pad, p[0]);
    s.decompose_padding(pad, s.get_loops(pad)[lifted]);
    check_meaning(s, f);
  }
}

TEST_CASE("decompose_padding: guards of tiles that overlap the edge stay") {
  const ir::function f = ir::parse(padded);
  for (const bool inner : {false, true}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const auto i = s.split(s.get_loops(b)[0], {infer, 7});
    s.decompose_padding(b, i[inner ? 1 : 0]);
    CHECK(ir::conjuncts(s.get(b).predicate).size() == 3);
    check_meaning(s, f);
  }
}

TEST_CASE("decompose_padding: a loop that computes something else too is not cut") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((24,), "float32")):
    P = T.alloc_buffer((16,), "float32")
    for i in range(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            P[vi] = A[vi] * T.float32(2)
    for i in range(24):
        with T.block("B"):
            vi = T.axis.spatial(24, i)
            B[vi] = T.if_then_else(3 <= vi and vi < 19, P[vi - 3], T.float32(0))
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  s.compute_at(s.block("P"), i);
  s.decompose_padding(b, i);
  CHECK(s.get(i).extent->integer == 24);
  CHECK(ir::conjuncts(s.get(b).predicate).size() == 2);
  check_meaning(s, f);
}

TEST_CASE("decompose_padding: refusals") {
  check_refused(row("A[T.max(vi - 8, 0)]"), 3);
  check_refused(row("T.if_then_else(3 <= vi and vi < 19, A[vi - 3], A[0])"), 3);
  check_refused(row("T.if_then_else(vi < 24, A[T.min(vi, 15)], T.float32(0))"), 4);
  check_refused(row("T.if_then_else(vi % 2 == 0, A[vi // 2], T.float32(0))"), 5);
  check_refused(row("T.if_then_else(vi * 2 < 32, A[vi], T.float32(0))"), 5);
  check_refused(row("T.if_then_else(vi < 16, A[vi], T.float32(0))", "B[vi // 2]"), 2);
  check_refused(
      row("T.if_then_else(vi < 16, A[vi], T.float32(0))", "B[(vi + T.cast(A[0], \"int32\")) % 24]"),
      6);
  schedule s(stages::matmul_bias_relu(4, 4, 4));
  const block_rv c = s.block("C"), d = s.block("D");
  const loop_rv c_i = s.get_loops(c)[0];
  check_refusal(s, "decompose_padding", 2, [&] { s.decompose_padding(c, c_i); });
  check_refusal(s, "decompose_padding", 1, [&] { s.decompose_padding(d, c_i); });
}

TEST_CASE("decompose_padding: an if around the block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), F: T.Buffer((8,), "int32"), B: T.Buffer((8, 8), "int32")):
    for i in range(8):
        if F[i] < 20:
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = T.if_then_else(2 <= vj, A[vi, vj - 2], 3)
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const std::vector<loop_rv> loops = s.get_loops(b);
  check_refusal(s, "decompose_padding", 1, [&] { s.decompose_padding(b, loops[0]); });
  s.decompose_padding(b, loops[1]);
  check_meaning(s, f);
}

TEST_CASE("decompose_padding: loops that end where the domain does not") {
  const auto program = [](const std::string& extent, const std::string& domain) {
    return ir::parse(R"(@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    m = T.int32()
    N = T.match_buffer(c, (n,), "int32")
    A = T.match_buffer(a, (8, m), "int32")
    B = T.match_buffer(b, (8, m), "int32")
    for i in range(8):
        for j in range()" +
                     extent + R"():
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial()" +
                     domain + R"(, j)
                B[vi, vj] = T.if_then_else(2 <= vj, A[vi, vj - 2], 3)
)");
  };
  using loop_and_domain = std::pair<std::string, std::string>;
  for (const loop_and_domain& c :
       {loop_and_domain{"n", "m"}, {"i + 1", "8"}, {"i + 1", "i + 1"}, {"n", "n"}}) {
    CAPTURE(c.first);
    CAPTURE(c.second);
    const ir::function f = program(c.first, c.second);
    schedule s(f);
    const block_rv b = s.block("B");
    s.decompose_padding(b, s.get_loops(b)[0]);
    check_meaning(s, f, {{"n", 5}, {"m", 13}});
  }
}

TEST_CASE("decompose_padding: a guard that the loop writes first") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), L: T.Buffer((4,), "int32"), B: T.Buffer((4, 20), "float32")):
    n = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("n"):
            vi = T.axis.spatial(4, i)
            n[vi] = L[vi] + 3
        for j in range(20):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(j < n[i])
                B[vi, vj] = T.if_then_else(2 <= vj and vj < 18, A[vj - 2], T.float32(0))
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  check_refusal(s, "decompose_padding", 7, [&] { s.decompose_padding(b, i); });
}

TEST_CASE("decompose_padding: a bound that the loop writes first") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), L: T.Buffer((4,), "int32"), B: T.Buffer((4, 20), "float32")):
    n = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("n"):
            vi = T.axis.spatial(4, i)
            n[vi] = T.min(T.max(L[vi], 1), 20)
        for j in range(n[i]):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(20, j)
                B[vi, vj] = T.if_then_else(2 <= vj and vj < 18, A[vj - 2], T.float32(0))
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  check_refusal(s, "decompose_padding", 7, [&] { s.decompose_padding(b, i); });
}

TEST_CASE("decompose_padding: places that the loop writes first") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), idx: T.Buffer((20,), "int32"), B: T.Buffer((1, 20,), "float32")):
    p = T.alloc_buffer((20,), "int32")
    for z in range(1):
        with T.block("p"):
            for x in range(20):
                p[x] = (x * 3) % 20
        for i in range(20):
            with T.block("B"):
                vz = T.axis.spatial(1, z)
                vi = T.axis.spatial(20, p[i])
                B[vz, vi] = T.if_then_else(2 <= vi and vi < 18, A[vi - 2], T.float32(0))
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  check_refusal(s, "decompose_padding", 7, [&] { s.decompose_padding(b, i); });
}

TEST_CASE("decompose_padding: memory of threads that end with the loop") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((20,), "float32")):
    B = T.alloc_buffer((20,), "float32", scope="shared")
    for i in T.thread_binding(20, thread="blockIdx.x"):
        for j in range(1):
            with T.block("B"):
                vi = T.axis.spatial(20, i)
                B[vi] = T.if_then_else(2 <= vi and vi < 18, A[vi - 2], T.float32(0))
        with T.block("C"):
            vi = T.axis.spatial(20, i)
            C[vi] = B[vi]
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  check_refusal(s, "decompose_padding", 8, [&] { s.decompose_padding(b, i); });
}
