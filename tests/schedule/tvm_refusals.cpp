#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

#include <string>
#include <vector>

#include "programs.hpp"
#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// The requirement with which TVM refuses the instruction that `call` makes of a copy of the schedule;
/// -1 where it takes it.
template <class Call>
int refused(const schedule& s, const Call& call) {
  schedule after = s;
  call(after);
  const std::optional<schedule_error> why =
      primitive::tvm_refusal(s.state(), *after.trace().steps().back().what);
  if (why) CHECK(why->primitive() == after.trace().steps().back().what->kind->name);
  return why ? why->requirement() : -1;
}

}  // namespace

TEST_CASE("tvm_refusals: loops whose bounds depend on each other, consumers with a guard") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8, 4), "float32"), B: T.Buffer((8, 8, 4), "float32")):
    for i, k in T.grid(8, 4):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk] + T.float32(1)
)"));
  const std::vector<loop_rv> loops = s.get_loops(s.block("B"));  // i, k, j
  CHECK(refused(s, [&](schedule& t) { t.reorder({loops[1], loops[0]}); }) == 5);
  CHECK(refused(s, [&](schedule& t) { t.reorder({loops[0], loops[1]}); }) == 5);

  schedule guarded(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(10):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(i < 8)
            C[vi] = B[vi] * T.float32(2)
)"));
  const block_rv c = guarded.block("C");
  CHECK(refused(guarded, [&](schedule& t) { t.reverse_compute_inline(c); }) == 4);
}

TEST_CASE("tvm_refusals: guards that bound nothing the bindings are made of") {
  schedule s(ir::parse(R"(@T.prim_func
def main(B: T.Buffer((6, 6), "int32")):
    for i, j in T.grid(6, 6):
        with T.block("B"):
            v, w = T.axis.remap("SS", [i, j])
            T.where(i * 6 + j < 4)
            B[v, w] = v + w
)"));
  const std::vector<loop_rv> l = s.get_loops(s.block("B"));
  CHECK(refused(s, [&](schedule& t) { t.reorder(l[1], l[0]); }) == 5);

  // the guards of splits are bounds
  schedule whole(programs::elementwise({"i", "j"}, {6, 6}));
  const auto ij = whole.loops<2>(whole.block("B"));
  const auto tiles = whole.split(ij[1], {infer, 4});
  CHECK(refused(whole, [&](schedule& t) { t.reorder(tiles[0], ij[0], tiles[1]); }) == -1);
}

TEST_CASE("tvm_refusals: rows that overlap may change their places") {
  // rows 2 * i + j run up to twice
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 3), "int32"), B: T.Buffer((7, 3), "int32")):
    for i, j, k in T.grid(3, 3, 3):
        with T.block("B"):
            v = T.axis.S(7, i * 2 + j)
            w = T.axis.S(3, k)
            B[v, w] = A[v, w] + 1
)"));
  const std::vector<loop_rv> l = s.get_loops(s.block("B"));
  CHECK(refused(s, [&](schedule& t) { t.reorder(l[2], l[0]); }) == -1);
}

TEST_CASE("tvm_refusals: blocks that write disjoint parts of a buffer depend on each other") {
  schedule parts(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(4):
        with T.block("low"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(4):
        with T.block("high"):
            vi = T.axis.spatial(4, i)
            B[vi + 4] = A[vi + 4]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * T.float32(2)
)"));
  const block_rv high = parts.block("high");
  const loop_rv to = parts.loops<1>(parts.block("C"))[0];
  CHECK(refused(parts, [&](schedule& t) { t.compute_at(high, to); }) == 2);

  schedule halves(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i in range(8):
        for j in range(4):
            with T.block("left"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]
        for j in range(4):
            with T.block("right"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj + 4] = A[vi, vj + 4]
)"));
  const loop_rv rows = halves.get_loops(halves.block("left"))[0];
  CHECK(refused(halves, [&](schedule& t) { t.parallel(rows); }) ==
        -1);  // below a loop it does not ask
}

TEST_CASE("tvm_refusals: updates in place below a loop that runs at once") {
  schedule s(ir::parse(R"(@T.prim_func
def main(B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            v = T.axis.spatial(8, i)
            B[v] = B[v] * T.float32(2)
)"));
  const loop_rv i = s.get_loops(s.block("B"))[0];
  CHECK(refused(s, [&](schedule& t) { t.parallel(i); }) == 1);
  CHECK(refused(s, [&](schedule& t) { t.vectorize(i); }) == 1);
  CHECK(refused(s, [&](schedule& t) { t.bind(i, "threadIdx.x"); }) == 1);

  schedule sum(programs::matmul(4, 6, 8));
  const loop_rv row = sum.get_loops(sum.block("C"))[0];
  CHECK(refused(sum, [&](schedule& t) { t.parallel(row); }) == -1);
}

TEST_CASE("tvm_refusals: rfactor below guards of the reduction") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 12), "float32"), B: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 12):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)"));
  const loop_rv k = s.get_loops(s.block("B"))[1];
  CHECK(refused(s, [&](schedule& t) { t.rfactor(k, 0); }) == -1);
  schedule even = s;
  const auto tiles = even.split(k, {infer, 4});
  CHECK(refused(even, [&](schedule& t) { t.rfactor(tiles[0], 1); }) == -1);
  const auto cut = s.split(k, {infer, 5});
  CHECK(refused(s, [&](schedule& t) { t.rfactor(cut[0], 1); }) == 7);
}

TEST_CASE(
    "tvm_refusals: rfactor needs a stage pipeline, symbolic rows in tiles or as digits are one") {
  const auto sums = [](std::string_view loops, std::string_view row, std::string_view column,
                       std::string_view guard) {
    return schedule(
        program_of(R"(@T.prim_func
def main(a: T.handle, d: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (6, n, 12), "int32")
    D = T.match_buffer(d, (6, n), "int32")
    C = T.alloc_buffer((6, n), "int32")
    for <loops>:
        for k0, k1 in T.grid(4, 3):
            with T.block("C"):
                vi = T.axis.spatial(6, <row>)
                vj = T.axis.spatial(n, <column>)
                vk = T.axis.reduce(12, k0 * 3 + k1)
                T.where(<guard>)
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
    for i, j in T.grid(6, n):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj]
)",
                   {{"<loops>", loops}, {"<row>", row}, {"<column>", column}, {"<guard>", guard}}));
  };
  const auto last = [](schedule& s) {
    const loop_rv loop = s.get_loops(s.block("C")).back();
    return refused(s, [&](schedule& t) { t.rfactor(loop, 0); });
  };
  schedule digits = sums("f, u in T.grid(n * 6, 1)", "(f + u) // n", "(f + u) % n", "True");
  CHECK(last(digits) == -1);
  schedule tiles =
      sums("i, o, j in T.grid(6, (n + 31) // 32, 32)", "i", "o * 32 + j", "o * 32 + j < n");
  CHECK(last(tiles) == -1);
  schedule rest = sums("i, o, j in T.grid(6, n // 32, 32)", "i", "o * 32 + j", "o * 32 + j < n");
  CHECK(last(rest) == 1);
}

TEST_CASE("tvm_refusals: annotate_buffer_access, a range for each variable") {
  schedule s(programs::matmul(4, 6, 8));
  const block_rv c = s.block("C");
  const ir::index_map ranges = ir::make_index_map(3, [](const std::vector<ir::var>& v) {
    return std::vector<ir::expr>{v[0], v[0] + 1, v[1], v[1] + 1};
  });
  CHECK(refused(s, [&](schedule& t) { t.annotate_buffer_access(c, 0, "write", ranges); }) == 3);
}

TEST_CASE("tvm_refusals: blockize over a guard with a loop of one iteration") {
  const auto loops = [](const char* extents, const char* value, const char* guard) {
    const ir::function f =
        program_of(R"(
@T.prim_func
def main(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i_0, i_1 in T.grid(<extents>):
        with T.block("B"):
            vi = T.axis.spatial(10, <value>)
            T.where(<guard> < 10)
            B[vi] = A[vi] + 1
)",
                   {{"<extents>", extents}, {"<value>", value}, {"<guard>", guard}});
    std::string out;
    for (const std::size_t at : {0u, 1u})
      for (const bool units : {false, true}) {
        schedule s(f);
        const loop_rv loop = s.get_loops(s.block("B"))[at];
        out += refused(s, [&](schedule& t) { t.blockize(loop, units); }) == -1 ? '+' : '-';
      }
    return out;
  };
  // from i_0 and from i_1, each without unit iterators and with them
  CHECK(loops("1, 11", "i_0 * 11 + i_1", "i_0 * 11 + i_1") == "+++-");
  CHECK(loops("1, 11", "i_1", "i_0 * 11 + i_1") == "+-+-");
  CHECK(loops("11, 1", "i_0 + i_1", "i_0 + i_1") == "+++-");
  CHECK(loops("11, 1", "i_0", "i_0 + i_1") == "++++");  // not its last digit
}
