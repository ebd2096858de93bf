#include <tilewright/schedule/primitive/reductions/decompose_reduction.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>

#include "../../check_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;
using stages::indices;
using stages::program;

TEST_CASE("decompose_reduction: at every legal loop") {
  const ir::function f = stages::matmul(4, 5, 6);
  for (std::size_t at = 0; at < 3; ++at) {
    schedule s(f);
    const block_rv c = s.block("C");
    const std::vector<loop_rv> l = s.get_loops(c);
    const block_rv init = s.decompose_reduction(c, l[at]);
    CHECK(s.get(init).block->name == "C_init");
    CHECK(s.get(c).block->name == "C_update");
    CHECK_FALSE(s.get(c).block->init);
    CHECK(s.get(c).block->reads.front().buffer->name == "C");
    CHECK(s.get_loops(init).size() == 2);
    if (at < 2) CHECK(s.get(s.get_loops(init)[1]).var->name == "j_init");
    check_meaning(s, f);
  }
}

TEST_CASE("decompose_reduction: guards of spatial loops stay, those of reduce loops go") {
  const ir::function f = stages::matmul(7, 5, 11);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j, k] = s.loops<3>(c);
  const auto [i0, i1] = s.split(i, {infer, 4});
  const auto [k0, k1] = s.split(k, {infer, 3});
  s.reorder(i0, k0, k1, i1, j);
  const block_rv init = s.decompose_reduction(c, k0);
  CHECK(ir::conjuncts(s.get(init).predicate).size() == 1);
  CHECK(ir::conjuncts(s.get(c).predicate).size() == 2);
  check_meaning(s, f);
}

TEST_CASE("decompose_reduction: kinds of loops are kept, and the init can be vectorized") {
  const ir::function f = stages::matmul(4, 8, 6);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j, k] = s.loops<3>(c);
  s.reorder(i, k, j);
  s.parallel(i);
  s.vectorize(j);
  const block_rv init = s.decompose_reduction(c, k);
  CHECK(s.get(s.get_loops(init)[1]).loop == ir::loop_kind::vectorized);
  check_meaning(s, f);

  schedule t(f);
  const block_rv u = t.block("C");
  const block_rv u_init = t.decompose_reduction(u, t.get_loops(u)[0]);
  t.vectorize(t.get_loops(u_init)[1]);
  check_meaning(t, f);
}

TEST_CASE("decompose_reduction: refusals") {
  const ir::function f = stages::matmul_bias_relu(4, 4, 4);
  schedule s(f);
  const block_rv c = s.block("C"), d = s.block("D");
  const auto i_j_k = s.loops<3>(c);
  const loop_rv i = i_j_k[0], j = i_j_k[1], k = i_j_k[2];
  const auto di_dj = s.loops<2>(d);
  const loop_rv di = di_dj[0];
  check_refusal(s, "decompose_reduction", 1, [&] { s.decompose_reduction(c, di); });
  check_refusal(s, "decompose_reduction", 2, [&] { s.decompose_reduction(d, di); });
  s.reorder(i, k, j);
  check_refusal(s, "decompose_reduction", 3, [&] { s.decompose_reduction(c, j); });
  s.decompose_reduction(c, k);
  check_refusal(s, "decompose_reduction", 2, [&] { s.decompose_reduction(c, k); });
  check_schedule(s, f);
}

TEST_CASE("decompose_reduction: rows that tiles recompute are initialised per tile") {
  // C[i] = B[i] + B[i + 1] with B a reduction: tiles of C overlap in B
  program p;
  const ir::buffer a = p.input("A", {9, 5}), b = p.temp("B", {9}), c = p.output("C", {8});
  p.sum(b, {{"i", 9}, {"k", 5}}, 1, [&](const indices& v) { return ir::load(a, v); });
  p.map(c, {{"i", 8}},
        [&](const indices& v) { return ir::load(b, {v[0]}) + ir::load(b, {v[0] + 1}); });
  const ir::function f = p.finish();
  schedule s(f);
  const block_rv b_rv = s.block("B");
  const auto i0_i1 = s.split(s.get_loops(s.block("C"))[0], {infer, 4});
  const loop_rv i0 = i0_i1[0];
  s.compute_at(b_rv, i0);
  check_refusal(s, "decompose_reduction", 5, [&] { s.decompose_reduction(b_rv, i0); });
  s.decompose_reduction(b_rv, s.get_loops(b_rv)[1]);
  check_meaning(s, f);
}

TEST_CASE("decompose_reduction: a reduction that threads share keeps its init") {
  const ir::function f = stages::matmul(4, 5, 6);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto i_j_k = s.loops<3>(c);
  s.bind(i_j_k[2], "threadIdx.x");
  const loop_rv k = i_j_k[2];
  check_refusal(s, "decompose_reduction", 7, [&] { s.decompose_reduction(c, k); });
}

TEST_CASE("decompose_reduction: a domain that follows a loop") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6, 4), "int32"), B: T.Buffer((6,), "int32")):
    C = T.alloc_buffer((6, 6), "int32")
    for i in range(6):
        for j in range(i + 1):
            for k in range(4):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        C[vi, vj] = 0
                    C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = C[vi, vi] + C[vi, 0]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  SUBCASE("decompose_reduction") { s.decompose_reduction(c, s.get_loops(c)[0]); }
  SUBCASE("rfactor") { s.rfactor(s.get_loops(c)[2], 0); }
  check_meaning(s, f);
}

TEST_CASE("decompose_reduction: an if around the block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), F: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        if F[i] < 20:
            for k in range(8):
                with T.block("C"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vi] = 0
                    C[vi] = C[vi] + A[vi, vk]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  const std::vector<loop_rv> loops = s.get_loops(c);
  check_refusal(s, "decompose_reduction", 1, [&] { s.decompose_reduction(c, loops[0]); });
  s.decompose_reduction(c, loops[1]);
  check_meaning(s, f);
}

TEST_CASE("decompose_reduction: a guard that leaves the first iteration out") {
  const auto program =
      [](const std::string& extent, const std::string& domain, const std::string& guard) {
        return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), F: T.Buffer((1,), "int32")):
    for k in range()" + extent +
                         R"():
        with T.block("F"):
            vk = T.axis.reduce()" +
                         domain + R"(, k)
            )" + guard + R"(
            with T.init():
                F[0] = 0
            F[0] = F[0] + A[vk]
)");
      };
  const auto refused = [](const ir::function& f, bool splits) {
    schedule s(f);
    const block_rv b = s.block("F");
    loop_rv k = s.get_loops(b)[0];
    if (splits) k = s.split(k, {1, 4})[0];
    check_refusal(s, "decompose_reduction", 5, [&] { s.decompose_reduction(b, k); });
  };
  refused(program("0", "0", ""), true);  // the split's own guard says that nothing runs
  refused(program("8", "(5, 8)", "T.where(k >= 5)"), false);
  const ir::function f = program("8", "5", "T.where(k < 5)");
  schedule s(f);
  const block_rv b = s.block("F");
  s.decompose_reduction(b, s.get_loops(b)[0]);
  check_meaning(s, f);
}

TEST_CASE("decompose_reduction: loops of the init decide what it runs for") {
  const auto program = [](const std::string& kinds, const std::string& columns) {
    const std::string at = kinds == "SR" ? "vi" : "vj";
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6,), "int32")):
    for i in range(6):
        for j in range()" +
                     columns + R"():
            with T.block("B"):
                vi, vj = T.axis.remap(")" +
                     kinds + R"(", [i, j])
                with T.init():
                    B[)" +
                     at + R"(] = 0
                B[)" +
                     at + "] = B[" + at + R"(] + A[vi, vj]
)");
  };
  const auto decompose = [](schedule& s) {
    const block_rv b = s.block("B");
    s.decompose_reduction(b, s.get_loops(b)[0]);
  };
  const auto refused = [&](const ir::function& f, int requirement) {
    schedule s(f);
    const block_rv b = s.block("B");
    const loop_rv i = s.get_loops(b)[0];
    check_refusal(s, "decompose_reduction", requirement, [&] { s.decompose_reduction(b, i); });
  };
  refused(program("RS", "6 - i"), 4);  // the columns follow the reduction
  refused(program("SR", "i"), 5);      // the first row has nothing
  const ir::function f = program("SR", "i, 6");
  schedule s(f);
  decompose(s);
  check_meaning(s, f);
}

TEST_CASE("decompose_reduction: an init that runs ahead finds what it would have found") {
  SUBCASE("what other instances write") {
    const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((9,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi + 1] = C[vi]
            C[vi + 1] = C[vi + 1] + A[vi, vk]
)");
    schedule s(f);
    const block_rv c = s.block("C");
    const std::vector<loop_rv> loops = s.get_loops(c);
    check_refusal(s, "decompose_reduction", 6, [&] { s.decompose_reduction(c, loops[0]); });
    check_refusal(s, "blockize", 4, [&] { s.blockize(loops[0]); });
    s.decompose_reduction(c, loops[1]);
    check_meaning(s, f);
  }
  SUBCASE("what a later block of the loop reads or writes") {
    const auto program = [](const std::string& user) {
      return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), B: T.Buffer((9,), "int32"), C: T.Buffer((9,), "int32"), Y: T.Buffer((8,), "int32")):
    for i in range(8):
        for k in range(4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = B[vi]
                C[vi] = C[vi] + A[vi, vk]
        with T.block("U"):
            vi = T.axis.spatial(8, i)
            )" + user + "\n");
    };
    for (const char* user : {"Y[vi] = C[vi + 1]", "B[vi + 1] = 3"}) {
      schedule s(program(user));
      const block_rv c = s.block("C");
      const loop_rv i = s.get_loops(c)[0];
      check_refusal(s, "decompose_reduction", 6, [&] { s.decompose_reduction(c, i); });
    }
    const ir::function f = program("Y[vi] = C[vi]");
    schedule s(f);
    const block_rv c = s.block("C");
    s.decompose_reduction(c, s.get_loops(c)[0]);
    check_meaning(s, f);
  }
  SUBCASE("the bounds of its loops") {
    schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16, 4), "int32"), C: T.Buffer((8, 16), "int32")):
    M = T.alloc_buffer((1,), "int32")
    for i in range(8):
        with T.block("M"):
            vi = T.axis.opaque(8, i)
            M[0] = vi % 2 + 3
        for j, k in T.grid(M[0], 4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(16, j)
                vk = T.axis.reduce(4, k)
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
)"));
    const block_rv c = s.block("C");
    const loop_rv i = s.get_loops(c)[0];
    check_refusal(s, "decompose_reduction", 6, [&] { s.decompose_reduction(c, i); });
  }
}

TEST_CASE(
    "decompose_reduction, blockize: what an instance finds of others, and loops in the init") {
  const auto program = [](const std::string& init, const std::string& by) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((9,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk], B[0:8], C[vi:vi + 2])
            T.writes(C[vi])
            with T.init():
                C[vi] = )" +
                     init + R"(
            C[vi] = C[vi] + A[vi, vk] * )" +
                     by + "\n");
  };
  SUBCASE("old elements") {
    schedule s(program("0", "C[vi + 1]"));
    const block_rv c = s.block("C");
    const loop_rv i = s.get_loops(c)[0];
    check_refusal(s, "decompose_reduction", 6, [&] { s.decompose_reduction(c, i); });
    check_refusal(s, "blockize", 4, [&] { s.blockize(i); });
  }
  SUBCASE("loops") {
    const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = B[i]
            C[vi] = C[vi] + A[vi, vk]
)");
    schedule s(f);
    const block_rv c = s.block("C");
    const std::vector<loop_rv> loops = s.get_loops(c);
    check_refusal(s, "blockize", 2, [&] { s.blockize(loops[0]); });
    check_refusal(s, "decompose_reduction", 4, [&] { s.decompose_reduction(c, loops[0]); });
  }
  SUBCASE("shared elements") {
    schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((4,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi // 2] = 0
            C[vi // 2] = C[vi // 2] + A[vi, vk]
)"));
    const loop_rv i = s.get_loops(s.block("C"))[0];
    check_refusal(s, "blockize", 4, [&] { s.blockize(i); });
  }
}

TEST_CASE("decompose_reduction, blockize: a reduction that runs backwards is initialised last") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), C: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(4, 3 - k)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)"));
  const block_rv c = s.block("C");
  const loop_rv k = s.get_loops(c)[1];
  check_refusal(s, "decompose_reduction", 2, [&] { s.decompose_reduction(c, k); });
  check_refusal(s, "blockize", 4, [&] { s.blockize(k); });
}
