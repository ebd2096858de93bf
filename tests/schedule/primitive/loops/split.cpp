#include <tilewright/schedule/primitive/loops/split.hpp>

#include <limits>

#include <tilewright/ir/visit.hpp>

#include "../../programs.hpp"
#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

std::int64_t extent(const schedule& s, loop_rv l) { return s.get(l).extent->integer; }
bool guarded(const schedule& s, block_rv b) { return !ir::is_true(s.get(b).predicate); }

}  // namespace

TEST_CASE("split: factors that divide need no guard") {
  const ir::function f = programs::elementwise({"i"}, {128});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i] = s.loops<1>(b);
  const auto [i0, i1] = s.split(i, {infer, 32});
  CHECK(extent(s, i0) == 4);
  CHECK(extent(s, i1) == 32);
  CHECK(s.get(i0).var->name == "i_0");
  CHECK(s.get(i1).var->name == "i_1");
  CHECK_FALSE(guarded(s, b));
  check_meaning(s, f);
}

TEST_CASE("split: a product above the extent is guarded") {
  const ir::function f = programs::elementwise({"i"}, {128});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i] = s.loops<1>(b);
  const auto [i0, i1, i2] = s.split(i, {1000, 2, 3});
  CHECK(extent(s, i0) == 1000);
  CHECK(guarded(s, b));
  const ir::expr sum = s.get(i0).var * 6 + s.get(i1).var * 3 + s.get(i2).var;
  CHECK(ir::equal(s.get(b).predicate, ir::lt(sum, 128)));
  check_meaning(s, f);
}

TEST_CASE("split: prime extents, extent 1 and a whole factor") {
  const auto sizes = [](int n, std::vector<factor> factors) {
    const ir::function f = programs::elementwise({"i"}, {n});
    schedule s(f);
    const block_rv b = s.block("B");
    std::vector<std::int64_t> out;
    for (const loop_rv l : s.split(s.get_loops(b)[0], factors)) out.push_back(extent(s, l));
    CHECK(guarded(s, b) == (n == 127));
    check_meaning(s, f);
    return out;
  };
  CHECK(sizes(127, {infer, 8}) == std::vector<std::int64_t>{16, 8});
  CHECK(sizes(1, {1, infer}) == std::vector<std::int64_t>{1, 1});
  CHECK(sizes(13, {infer, 13}) == std::vector<std::int64_t>{1, 13});
  CHECK(sizes(13, {infer}) == std::vector<std::int64_t>{13});
  CHECK(sizes(24, {2, infer, 3}) == std::vector<std::int64_t>{2, 4, 3});
}

TEST_CASE("split: disable_predication leaves the block unguarded") {
  const ir::function f = programs::elementwise({"i"}, {10});
  schedule s(f);
  const block_rv b = s.block("B");
  s.split(s.get_loops(b)[0], std::vector<factor>{infer, 4}, true, true);
  CHECK_FALSE(guarded(s, b));
}

TEST_CASE("split: unit loops vanish from the bindings on request") {
  const ir::function f = programs::elementwise({"i"}, {16});
  for (const bool preserve : {true, false}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const std::vector<loop_rv> parts =
        s.split(s.get_loops(b)[0], std::vector<factor>{1, 16, 1}, preserve);
    CHECK(ir::uses_var(s.get(b).values[0], s.get(parts[0]).var) == preserve);
    CHECK(ir::uses_var(s.get(b).values[0], s.get(parts[1]).var));
    check_meaning(s, f);
  }
}

TEST_CASE("split: symbolic extent") {
  const ir::var n = ir::make_var("N");
  const ir::function f = programs::elementwise({"i"}, {n});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i] = s.loops<1>(b);
  const auto [i0, i1] = s.split(i, {infer, 16});
  CHECK(ir::uses_var(s.get(i0).extent, n));
  CHECK(extent(s, i1) == 16);
  CHECK(guarded(s, b));
  check_meaning(s, f, {{"N", 37}});
}

TEST_CASE("split: int64 loops keep their type") {
  const ir::function f = programs::elementwise({"i"}, {std::int64_t{64}});
  schedule s(f);
  const auto [i] = s.loops<1>(s.block("B"));
  const auto [i0, i1] = s.split(i, {infer, 4});
  CHECK(s.get(i0).var.type() == dtype::i64);
  CHECK(s.get(i1).var.type() == dtype::i64);
  CHECK(s.get(i1).extent.type() == dtype::i64);
  check_meaning(s, f);
}

TEST_CASE("split: the reduction loop, init included") {
  const ir::function f = programs::matmul(4, 5, 7);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  s.split(k, {infer, 2});
  s.split(j, {2, infer});
  check_meaning(s, f);
}

TEST_CASE("split: twice, and of a fused loop") {
  const ir::function f = programs::elementwise({"i", "j"}, {6, 10});
  schedule s(f);
  const block_rv b = s.block("B");
  const auto [i, j] = s.loops<2>(b);
  const loop_rv fused = s.fuse(i, j);
  const auto [o, rest] = s.split(fused, {infer, 10});
  s.split(rest, {infer, 3});
  CHECK(guarded(s, b));
  check_meaning(s, f);
  schedule t(f);
  const auto [ti, tj] = t.loops<2>(t.block("B"));
  const auto [a0, a1] = t.split(tj, {infer, 4});
  t.split(a0, {infer, 2});
  check_meaning(t, f);
}

TEST_CASE("split: an expired loop is refused, whoever uses it") {
  const ir::function f = programs::elementwise({"i"}, {8});
  schedule s(f);
  const auto [i] = s.loops<1>(s.block("B"));
  s.split(i, {infer, 2});
  const loop_rv old = i;
  check_refusal(s, "split", 0, [&] { s.split(old, {infer, 2}); });
  check_refusal(s, "parallel", 0, [&] { s.parallel(old); });
  CHECK_THROWS_AS(s.get(old), schedule_error);
}

TEST_CASE("split: requirements by number") {
  const ir::function f = programs::elementwise({"i"}, {128});
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  check_refusal(s, "split", 1, [&] { s.split(i, {infer, infer}); });
  check_refusal(s, "split", 1, [&] { s.split(i, std::vector<factor>{}); });
  check_refusal(s, "split", 2, [&] { s.split(i, {-2, -64}); });
  check_refusal(s, "split", 2, [&] { s.split(i, {0, infer}); });
  check_refusal(s, "split", 2, [&] { s.split(i, {infer, -16}); });
  check_refusal(s, "split", 2, [&] { s.split(i, {1 << 20, 1 << 20}); });
  check_refusal(s, "split", 5, [&] { s.split(i, {4, 31}); });
  s.annotate(i, "note", 1);
  check_refusal(s, "split", 3, [&] { s.split(i, {infer, 4}); });
  s.unannotate(i, "note");
  s.bind(i, "threadIdx.x");
  check_refusal(s, "split", 3, [&] { s.split(i, {infer, 4}); });
  check_schedule(s, f);
}

TEST_CASE("split: the parts of a loop of another kind are serial") {
  const ir::function f = programs::elementwise({"i"}, {128});
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  s.parallel(i);
  const auto [outer, inner] = s.split(i, {infer, 4});
  CHECK(s.get(outer).loop == ir::loop_kind::serial);
  CHECK(s.get(inner).loop == ir::loop_kind::serial);
  check_meaning(s, f);
}

TEST_CASE("split: a loop that does not start at 0") {
  ir::function f = programs::elementwise({"i"}, {8});
  const ir::loop_node& loop = *ir::as_loop(ir::root_block(f)->body);
  f.body = ir::make_root(ir::make_loop(loop.var, 1, 7, loop.body));
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  check_refusal(s, "split", 4, [&] { s.split(i, {infer, 7}); });
}

TEST_CASE("split: an unknown extent needs a factor to infer") {
  const ir::function f = programs::elementwise({"i"}, {ir::make_var("N")});
  schedule s(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  check_refusal(s, "split", 5, [&] { s.split(i, {16, 16}); });
}

TEST_CASE("split: extents at the end of the index type") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const ir::function f = programs::elementwise({"i"}, {static_cast<int>(most)});
  schedule s(f);
  const auto [i] = s.loops<1>(s.block("B"));
  const auto [i0, i1] = s.split(i, {infer, 2});
  CHECK(extent(s, i0) == most / 2 + 1);
  CHECK(guarded(s, s.block("B")));
  check_schedule(s, f);
}

TEST_CASE("split: beyond the extent nothing around blocks is loaded") {
  const char* const nests[] = {
      R"(
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            T.where(M[i] > 0)
            T.reads(A[vi, 0])
            T.writes(B[vi, 0])
            B[vi, 0] = A[vi, 0] * 2
)",
      R"(
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            vm = T.axis.spatial(6, M[i])
            T.reads(A[vm, 0])
            T.writes(B[vi, 0])
            B[vi, 0] = A[vm, 0] * 2
)",
      R"(
        for j in range(M[i], M[i] + M[i]):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(4, j)
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * 2
)",
      R"(
        if M[i] > 0:
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                T.reads(A[vi, 0])
                T.writes(B[vi, 0])
                B[vi, 0] = A[vi, 0] * 2
)"};
  for (const char* nest : nests) {
    INFO(std::string(nest));
    const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), B: T.Buffer((6, 4), "int32")):
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            T.reads(A[vi, 1])
            T.writes(M[vi])
            M[vi] = A[vi, 1] % 3
    for i in range(6):)" + std::string(nest));
    schedule s(f);
    s.split(s.get_loops(s.block("B"))[0], {infer, 4});
    check_meaning(s, f);
  }
}

TEST_CASE("split: an extent that the body overwrites") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((4, 16), "int32")):
    m = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("m0"):
            vi = T.axis.spatial(4, i)
            m[vi] = 4 + vi
    for i in range(4):
        for j in range(m[i]):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(16, j)
                B[vi, vj] = A[vj]
            with T.block("m"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.opaque(16, j)
                m[vi] = 0
)"));
  const auto loops = s.get_loops(s.block("B"));
  check_refusal(s, "split", 6, [&] { s.split(loops[1], {infer, 4}); });
}

TEST_CASE("split, fuse: that a row has elements is known inside of its loop alone") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 5), "int32"), B: T.Buffer((5, 5), "int32"), C: T.Buffer((5,), "int32")):
    for i, k in T.grid(2, 3):
        for j in range(5 - (i * 3 + k)):
            with T.block("B"):
                vi = T.axis.spatial(5, i * 3 + k)
                vj = T.axis.spatial(5, j)
                T.where(i * 3 + k < 5)
                B[vi, vj] = A[vi, vj]
        with T.block("C"):
            vi = T.axis.spatial(5, i * 3 + k)
            T.where(i * 3 + k < 5)
            C[vi] = A[vi, 0]
)");
  schedule halves(f), whole(f);
  halves.split<2>(halves.get_loops(halves.block("C"))[1], {3, 1});
  check_meaning(halves, f);
  whole.fuse(whole.get_loops(whole.block("C")));
  check_meaning(whole, f);
}
