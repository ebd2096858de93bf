#include <tilewright/schedule/primitive/blocks/blockize.hpp>

#include <tilewright/ir/visit.hpp>

#include "../../script_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;

namespace {

constexpr const char* doubled = R"(@T.prim_func
def main(A: T.Buffer((32, 64), "float32"), B: T.Buffer((32, 64), "float32")):
    for i, j in T.grid(32, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

constexpr const char* column_sum = R"(@T.prim_func
def main(A: T.Buffer((8, 12), "float32"), B: T.Buffer((12,), "float32")):
    for k, i in T.grid(8, 12):
        with T.block("B"):
            vk, vi = T.axis.remap("RS", [k, i])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vk, vi]
)";

}  // namespace

TEST_CASE("blockize: the inner digits of a tiled nest") {
  const ir::function f = ir::parse(doubled);
  schedule s(f);
  const block_rv b = s.block("B");
  const auto l = s.get_loops(b);
  const auto i = s.split(l[0], {infer, 8});
  const auto j = s.split(l[1], {infer, 16});
  s.reorder(i[0], j[0], i[1], j[1]);
  const block_rv o = s.blockize(i[1]);
  CHECK(s.get(o).block->name == "B_o");
  CHECK(s.get(b).block->name == "B");
  CHECK(s.get_loops(b).size() == 2);
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((32, 64), "float32"), B: T.Buffer((32, 64), "float32")):
    for i_0, j_0 in T.grid(4, 4):
        with T.block("B_o"):
            vi_o, vj_o = T.axis.remap("SS", [i_0, j_0])
            T.reads(A[vi_o * 8:vi_o * 8 + 8, vj_o * 16:vj_o * 16 + 16])
            T.writes(B[vi_o * 8:vi_o * 8 + 8, vj_o * 16:vj_o * 16 + 16])
            for i_1, j_1 in T.grid(8, 16):
                with T.block("B"):
                    vi_i, vj_i = T.axis.remap("SS", [i_1, j_1])
                    T.reads(A[vi_o * 8 + vi_i, vj_o * 16 + vj_i])
                    T.writes(B[vi_o * 8 + vi_i, vj_o * 16 + vj_i])
                    B[vi_o * 8 + vi_i, vj_o * 16 + vj_i] = A[vi_o * 8 + vi_i, vj_o * 16 + vj_i] * T.float32(2)
)");
  check_meaning(s, f);
}

TEST_CASE("blockize: the whole nest, and one loop of it") {
  const ir::function f = ir::parse(doubled);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const block_rv o = s.blockize(s.get_loops(b)[at]);
    CHECK(s.get_loops(o).size() == at);
    CHECK(s.get(b).block->iters.size() == 2 - at);
    CHECK(ir::is_int(s.get(o).values[1], 0));
    check_meaning(s, f);
  }
}

TEST_CASE("blockize: loops of extent 1 are kept or replaced") {
  const ir::function f = ir::parse(doubled);
  for (const bool keep : {true, false}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const auto i = s.split(s.get_loops(b)[0], {1, 32});
    const block_rv o = s.blockize(i[1], keep);
    CHECK(ir::is_var(s.get(o).values[0]) == keep);
    check_meaning(s, f);
  }
}

TEST_CASE("blockize: an init moves to the new block") {
  const ir::function f = ir::parse(column_sum);
  schedule s(f);
  const block_rv b = s.block("B");
  const auto k = s.split(s.get_loops(b)[0], {infer, 4});
  const block_rv o = s.blockize(k[1]);
  CHECK_FALSE(s.get(b).block->init);
  CHECK(s.get(b).block->reads.front().buffer->name == "B");
  CHECK(s.get(o).block->reads.front().buffer->name == "A");
  const ir::loop_node* nest = ir::as_loop(s.get(o).block->init);
  REQUIRE(nest);
  CHECK(ir::as_realize(nest->body)->block->name == "B_init");
  check_meaning(s, f);
  CHECK_NOTHROW(s.decompose_reduction(o, k[0]));
  check_meaning(s, f);
}

TEST_CASE("blockize: guards go with the loops they are about") {
  const ir::function f = ir::parse(column_sum);
  schedule s(f);
  const block_rv b = s.block("B");
  const auto l = s.get_loops(b);
  const auto k = s.split(l[0], {infer, 3});
  s.split(l[1], {infer, 5});
  s.reorder(s.get_loops(b)[2], k[0], k[1], s.get_loops(b)[3]);
  schedule inner = s.copy();
  const block_rv o = inner.blockize(inner.get_loops(b)[0]);
  CHECK(ir::is_true(inner.get(o).predicate));
  CHECK(ir::conjuncts(inner.get(b).predicate).size() == 2);
  check_meaning(inner, f);
  const loop_rv mixed = s.get_loops(b)[2];
  check_refusal(s, "blockize", 2, [&] { s.blockize(mixed); });
}

TEST_CASE("blockize: below another new block, constants of the outer one are carried along") {
  const ir::function f = stages::matmul(8, 8, 16);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto l = s.get_loops(c);
  const auto k = s.split(l[2], {infer, 4});
  s.reorder(k[0], l[0], l[1], k[1]);
  s.blockize(l[0]);
  const block_rv inner = s.blockize(l[1]);
  CHECK(s.get(inner).block->name == "C_o_1");
  check_meaning(s, f);
}

TEST_CASE("blockize: consecutive blocks of one sequence") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12, 16), "float32"), B: T.Buffer((12, 16), "float32")):
    for m in range(3):
        for i, j in T.grid(4, 8):
            with T.block("B"):
                vm, vi, vj = T.axis.remap("SSS", [m, i, j])
                B[vm * 4 + vi, vj] = A[vm * 4 + vi, vj] * T.float32(2)
        for i, j in T.grid(4, 8):
            with T.block("C"):
                vm, vi, vj = T.axis.remap("SSS", [m, i, j])
                B[vm * 4 + vi, vj + 8] = A[vm * 4 + vi, vj + 8] * T.float32(3)
)");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  const block_rv o = s.blockize({b, c});
  CHECK(s.get(o).block->name == "outer_B_C_");
  CHECK(s.get(o).block->reads.size() == 1);
  CHECK(ir::is_int(s.get(o).block->reads[0].box[1].extent, 16));
  CHECK(s.get_loops(b).size() == 2);
  check_meaning(s, f);

  schedule t(f);
  const block_rv tb = t.block("B"), tc = t.block("C");
  check_refusal(t, "blockize", 5, [&] { t.blockize(std::vector<block_rv>{tb}); });
  check_refusal(t, "blockize", 5, [&] { t.blockize({tb, tb}); });
  const block_rv t_o = t.blockize(t.get_loops(tc)[1]);
  check_refusal(t, "blockize", 5, [&] { t.blockize({tb, tc}); });
  CHECK_NOTHROW(t.blockize({tb, t_o}));
  check_meaning(t, f);
}

TEST_CASE("blockize: refusals") {
  schedule s(stages::matmul_bias_relu(8, 8, 8));
  const block_rv c = s.block("C"), e = s.block("E"), d = s.block("D");
  check_refusal(s, "blockize", 6, [&] { s.blockize({c, e}); });
  check_refusal(s, "blockize", 5, [&] { s.blockize({c, d}); });
  const loop_rv i = s.get_loops(d)[0];
  s.compute_at(e, i);
  check_refusal(s, "blockize", 1, [&] { s.blockize(i); });
  // outer digits below inner ones
  const auto c_i = s.split(s.get_loops(c)[0], {4, 2});
  s.reorder(c_i[1], c_i[0]);
  check_refusal(s, "blockize", 2, [&] { s.blockize(c_i[0]); });
}

TEST_CASE("blockize: a reduction that threads share keeps its init") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), B: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 16):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
)"));
  const loop_rv k = s.get_loops(s.block("B"))[1];
  s.bind(k, "threadIdx.x");
  check_refusal(s, "blockize", 4, [&] { s.blockize(k); });
}

TEST_CASE("blockize: a loop of one iteration that starts elsewhere is refused") {
  schedule s(ir::parse(doubled));
  s.loop_partition(s.get_loops(s.block("B"))[1], {factor(63), infer});
  const loop_rv last = s.get_loops(s.block("B_j1"))[0];
  check_refusal(s, "blockize", 3, [&] { s.blockize(last, false); });
}

TEST_CASE("blockize: an init that starts from what it reads lists it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), V: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 16):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = V[vi]
            B[vi] = B[vi] + A[vi, vk]
)");
  for (const std::size_t loop : {0U, 1U}) {
    schedule s(f);
    s.blockize(s.get_loops(s.block("B"))[loop]);
    check_meaning(s, f);
  }
}

TEST_CASE("blockize: a block that uses a loop itself cannot be divided") {
  schedule s(ir::parse(doubled));
  s.loop_partition(s.get_loops(s.block("B"))[1], {factor(63), infer});
  const loop_rv i = s.get_loops(s.block("B_j_common"))[0];
  check_refusal(s, "blockize", 2, [&] { s.blockize(i); });
}

TEST_CASE("blockize: an outer loop of one iteration that does not start at 0") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 6), "float32"), B: T.Buffer((5, 6), "float32")):
    for o, i, k in T.grid(1, 5, 6):
        with T.block("B"):
            vi = T.axis.spatial(5, o * 5 + i)
            vk = T.axis.spatial(6, k)
            B[vi, vk] = A[vi, vk]
)"));
  s.loop_partition(s.get_loops(s.block("B"))[1], {factor(4), infer});
  const loop_rv k = s.get_loops(s.block("B_i1"))[1];
  check_refusal(s, "blockize", 3, [&] { s.blockize(k, false); });
}

TEST_CASE("blockize: loops and domains that follow the loops around") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6, 6), "int32")):
    for i in range(6):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  const auto [i, j] = s.loops<2>(s.block("B"));
  check_refusal(s, "blockize", 3, [&, at = i] { s.blockize(at); });
  const block_rv made = s.blockize(j);
  check_meaning(s, f);
  CHECK(ir::print(s.get(made).block->writes[0]) == "B[vi_o, 0:vi_o + 1]");
}

TEST_CASE("blockize: a loop that goes inside with the one that it follows") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6, 6), "int32")):
    for i in range(6):
        for j in range(i, 6):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  s.blockize(s.get_loops(s.block("B"))[0]);
  check_meaning(s, f);
}

TEST_CASE("blockize: an init that other loops decide than those that it keeps") {
  const auto program = [](const char* kinds, const char* last) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6,), "int32")):
    for i in range(6):
        for j in range()" +
                     std::string(last) + R"():
            with T.block("B"):
                vi, vj = T.axis.remap(")" +
                     kinds + R"(", [i, j])
                with T.init():
                    B[)" +
                     (kinds[0] == 'S' ? "vi" : "vj") +
                     R"(] = 0
                B[)" +
                     (kinds[0] == 'S' ? "vi] = B[vi" : "vj] = B[vj") +
                     R"(] + A[vi, vj]
)");
  };
  const auto refused_at = [&](const ir::function& f, std::size_t loop, int requirement) {
    schedule s(f);
    const loop_rv l = s.get_loops(s.block("B"))[loop];
    check_refusal(s, "blockize", requirement, [&] { s.blockize(l); });
  };
  refused_at(program("RS", "i, 6"), 1, 4);  // the columns follow the reduction
  refused_at(program("RS", "i, i + (6 - i)"), 1, 4);
  refused_at(program("SR", "i"), 1, 4);  // the first row has nothing
  const ir::function f = program("SR", "i + 1");
  schedule s(f);
  s.blockize(s.get_loops(s.block("B"))[1]);
  check_meaning(s, f);
}

TEST_CASE("blockize: what guards and bounds load is read by the new block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), B: T.Buffer((6, 4), "int32")):
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            T.reads(A[vi, 1])
            T.writes(M[vi])
            M[vi] = A[vi, 1] % 4
    for i in range(6):
        for j in range(M[i]):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(4, j)
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  const block_rv made = s.blockize(s.get_loops(s.block("B"))[1]);
  check_meaning(s, f);
  CHECK(ir::print(s.get(made).block->reads[1]) == "M[0:6]");
}

TEST_CASE("blockize: nests below a loop of one iteration that does not start at 0") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 4), "int32"), B: T.Buffer((7, 4), "int32"), C: T.Buffer((7, 4), "int32")):
    for i in range(1, 2):
        for j in range(4):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                vj = T.axis.spatial(4, j)
                B[vi, vj] = A[vi, vj] * 2
        for j in range(4):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                vj = T.axis.spatial(4, j)
                C[vi, vj] = B[vi, vj] + 1
)"));
  const block_rv b = s.block("B"), c = s.block("C");
  const loop_rv j = s.get_loops(b)[1];
  check_refusal(s, "blockize", 3, [&] { s.blockize({b, c}); });
  check_refusal(s, "blockize", 3, [&] { s.blockize(j); });
}

TEST_CASE("blockize: what is loaded once for all inner iterations is not written in them") {
  const auto program = [](const std::string& write) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), Y: T.Buffer((16, 8), "int32")):
    N = T.alloc_buffer((1,), "int32")
    M = T.alloc_buffer((1,), "int32")
    for u in range(1):
        with T.block("N"):
            vu = T.axis.spatial(1, u)
            N[0] = 0
    for i in range(4):
        for j in range(4):
            with T.block("B"):
                vo = T.axis.opaque(8, N[0])
                vi = T.axis.spatial(16, i * 4 + j)
                Y[vi, vo] = A[vi]
                )" + write +
                     "\n");
  };
  schedule s(program("N[0] = vi % 8"));
  const loop_rv j = s.get_loops(s.block("B"))[1];
  check_refusal(s, "blockize", 2, [&] { s.blockize(j); });
  const ir::function f = program("M[0] = vi % 8");
  schedule other(f);
  other.blockize(other.get_loops(other.block("B"))[1]);
  check_meaning(other, f);
}

TEST_CASE("blockize: what a let around the block says does not go inside") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), B: T.Buffer((4, 8), "int32")):
    for i in range(4):
        more: T.int32 = i % 2
        for again in range(more + 1):
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1
)");
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("B"));
  check_refusal(s, "blockize", 3, [&] { s.blockize(loops[1]); });
  s.blockize(loops[2]);
  check_meaning(s, f);
}

TEST_CASE("blockize: sums that one element holds one after the other are started one by one") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 6), "int32"), B: T.Buffer((1,), "int32")):
    for i, j in T.grid(5, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[0] = 0
            B[0] = B[0] + A[vi, vj]
)");
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.block("B"));
  check_refusal(s, "blockize", 4, [&] { s.blockize(loops[0]); });
  s.blockize(loops[1]);
  check_meaning(s, f);
}

TEST_CASE("blockize: a guard of loops of one iteration keeps the outer variable in its domain") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((9, 4), "int32"), B: T.Buffer((9, 4), "int32")):
    for i in range(11):
        with T.block("O"):
            vi = T.axis.spatial(11, i)
            T.reads(A[vi - 1, 0:4])
            T.writes(B[vi - 1, 0:4])
            for u, j in T.grid(1, 4):
                with T.block("B"):
                    vu = T.axis.spatial(9, vi + u - 1)
                    vj = T.axis.spatial(4, j)
                    T.where(vi + u - 1 >= 0 and vi + u - 1 < 9)
                    B[vu, vj] = A[vu, vj] + 1
)");
  for (const bool units : {false, true}) {
    schedule s(f);
    s.blockize(s.get_loops(s.block("B"))[0], units);
    check_meaning(s, f);
  }
}

TEST_CASE("blockize: a reduction that overlaps itself is not initialised once for all") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 6), "int32"), C: T.Buffer((5,), "int32")):
    for i, o, j, k in T.grid(1, 4, 2, 6):
        with T.block("C"):
            vj = T.axis.spatial(5, o + j)
            vk = T.axis.reduce(6, k)
            with T.init():
                C[vj] = 0
            C[vj] = C[vj] + A[vj, vk]
)"));
  const std::vector<loop_rv> l = s.get_loops(s.block("C"));
  check_refusal(s, "blockize", 4, [&] { s.blockize(l[1]); });
}

TEST_CASE("blockize: the init keeps opaque variables, too") {
  const auto program = [](std::string_view place) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), S: T.Buffer((4,), "int32")):
    for i, j in T.grid(4, 6):
        with T.block("S"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.reduce(6, j)
            with T.init():
                S[<place>] = 0
            S[<place>] = S[<place>] + A[vi, vj]
)",
                      {{"<place>", place}});
  };
  const ir::function f = program("3 - vi");
  schedule s(f);
  s.blockize(s.get_loops(s.block("S"))[0]);
  check_schedule(s, f);
  // the second half of the sums starts again where the first has ended
  schedule again(program("vi % 2"));
  const loop_rv all = again.get_loops(again.block("S"))[0];
  check_refusal(again, "blockize", 4, [&] { again.blockize(all); });
}
