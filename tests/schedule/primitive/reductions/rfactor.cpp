#include <tilewright/schedule/primitive/reductions/rfactor.hpp>

#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/ir/visit.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* row_sum = R"(@T.prim_func
def main(A: T.Buffer((7, 12), "float32"), B: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 12):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)";

/// row_sum with another init value and another update.
std::string reduction(const std::string& init, const std::string& update) {
  return R"(@T.prim_func
def main(A: T.Buffer((7, 12), "float32"), B: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 12):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = )" +
         init + "\n            B[vi] = " + update + "\n";
}

/// Index and value of an extreme; `lines` are temporaries and stores, `init` the stores of the
/// init.
std::string arg_reduction(const std::string& init, const std::string& lines) {
  return R"(@T.prim_func
def main(I: T.Buffer((5, 12), "int32"), V: T.Buffer((5, 12), "int32"), X: T.Buffer((5,), "int32"),
         Y: T.Buffer((5,), "int32")):
    for i, k0, k1 in T.grid(5, 4, 3):
        with T.block("arg"):
            vi = T.axis.spatial(5, i)
            vk = T.axis.reduce(12, k0 * 3 + k1)
            with T.init():
)" + init +
         lines;
}

constexpr const char* arg_init = R"(                X[vi] = -1
                Y[vi] = T.min_value("int32")
)";
constexpr const char* arg_init_turned = R"(                Y[vi] = T.min_value("int32")
                X[vi] = -1
)";
constexpr const char* plain_lets =
    R"(            vx: T.int32 = T.Select(Y[vi] >= V[vi, vk], X[vi], I[vi, vk])
            vy: T.int32 = T.Select(Y[vi] >= V[vi, vk], Y[vi], V[vi, vk])
)";
constexpr const char* first_lets =
    R"(            vx: T.int32 = T.Select(Y[vi] > V[vi, vk] or (Y[vi] == V[vi, vk] and X[vi] < I[vi, vk]), X[vi], I[vi, vk])
            vy: T.int32 = T.Select(Y[vi] > V[vi, vk], Y[vi], V[vi, vk])
)";
constexpr const char* stores = R"(            X[vi] = vx
            Y[vi] = vy
)";
constexpr const char* stores_turned = R"(            Y[vi] = vy
            X[vi] = vx
)";

void check_refused(const std::string& text, const char* block, std::size_t loop, int axis,
                   int requirement) {
  INFO(text);
  schedule s(ir::parse(text));
  const std::vector<loop_rv> l = s.get_loops(s.block(block));
  check_refusal(s, "rfactor", requirement, [&] { s.rfactor(l[loop], axis); });
}

}  // namespace

TEST_CASE("rfactor: partial sums along an inner loop") {
  const ir::function f = ir::parse(row_sum);
  for (const int axis : {1, -1}) {
    schedule s(f);
    const block_rv b = s.block("B");
    const auto parts = s.split(s.get_loops(b)[1], {infer, 4});
    const block_rv rf = s.rfactor(parts[1], axis);
    CHECK(s.get(rf).block->name == "B_rf");
    CHECK(s.get(b).block->name == "B");
    CHECK(s.get(rf).block->writes[0].buffer->name == "B.rf");
    CHECK(s.get(rf).block->iters[0].var->name == "vk_1");
    CHECK(s.get(parts[1]).var->name == "k_1");  // the old loop is around the original block
    CHECK(s.get_loops(b).size() == 2);
    check_program(s, R"(@T.prim_func
def main(A: T.Buffer((7, 12), "float32"), B: T.Buffer((7,), "float32")):
    B_rf = T.alloc_buffer((7, 4), "float32")
    for i, k_0, k_1 in T.grid(7, 3, 4):
        with T.block("B_rf"):
            vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
            T.reads(A[vi, vk_0 * 4 + vk_1])
            T.writes(B_rf[vi, vk_1])
            with T.init():
                B_rf[vi, vk_1] = T.float32(0)
            B_rf[vi, vk_1] = B_rf[vi, vk_1] + A[vi, vk_0 * 4 + vk_1]
    for i, k_1 in T.grid(7, 4):
        with T.block("B"):
            vk_1, vi = T.axis.remap("RS", [k_1, i])
            T.reads(B_rf[vi, vk_1])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + B_rf[vi, vk_1]
)");
    check_meaning(s, f);
  }
}

TEST_CASE("rfactor: without a remaining reduction the block only stores; rank 0") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((), "float32")):
    for k in range(16):
        with T.block("B"):
            vk = T.axis.reduce(16, k)
            with T.init():
                B[()] = T.float32(0)
            B[()] = B[()] + A[vk]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const block_rv rf = s.rfactor(s.get_loops(b)[0], 0);
  CHECK_FALSE(s.get(rf).block->init);
  CHECK(s.get(rf).block->writes[0].buffer->shape.size() == 1);
  check_meaning(s, f);
}

TEST_CASE("rfactor: guards of the reduction stay with the partial results") {
  const ir::function f = ir::parse(row_sum);
  schedule s(f);
  const block_rv b = s.block("B");
  const auto parts = s.split(s.get_loops(b)[1], {infer, 5});
  const block_rv rf = s.rfactor(parts[0], 1);
  CHECK(ir::conjuncts(s.get(rf).predicate).size() == 1);
  CHECK(ir::is_true(s.get(b).predicate));
  check_meaning(s, f);

  // 16 * 1 > 12: the partial results of four iterations would never be written
  schedule t(f);
  const auto over = t.split(t.get_loops(t.block("B"))[1], {16, 1});
  check_refusal(t, "rfactor", 7, [&] { t.rfactor(over[0], 0); });
}

TEST_CASE("rfactor: guards of spatial loops stay with both blocks") {
  const ir::function f = ir::parse(row_sum);
  schedule s(f);
  const block_rv b = s.block("B");
  const std::vector<loop_rv> l = s.get_loops(b);
  s.split(l[0], {infer, 4});
  const block_rv rf = s.rfactor(l[1], 0);
  CHECK(ir::conjuncts(s.get(rf).predicate).size() == 1);
  CHECK(ir::conjuncts(s.get(b).predicate).size() == 1);
  check_meaning(s, f);
}

TEST_CASE("rfactor: unit loops that drive nothing, kinds and annotations are kept") {
  const ir::function f = ir::parse(row_sum);
  schedule s(f);
  const block_rv b = s.block("B");
  const std::vector<loop_rv> l = s.get_loops(b);
  s.annotate(b, "note", 1);
  s.parallel(l[0]);
  const auto parts = s.split(l[1], {infer, 1}, false);
  const block_rv rf = s.rfactor(parts[1], 0);
  CHECK(s.get(rf).block->annotations.count("note") == 1);
  CHECK(s.get(b).block->annotations.count("note") == 1);
  CHECK(s.get(s.get_loops(rf)[0]).loop == ir::loop_kind::parallel);
  CHECK(s.get(s.get_loops(b)[0]).loop == ir::loop_kind::parallel);
  check_meaning(s, f);
}

TEST_CASE("rfactor: a let around the value, and all reducers of one value") {
  for (const std::string& text :
       {reduction("T.float32(1)", "B[vi] * A[vi, vk]"),
        reduction("T.max_value(\"float32\")", "T.min(B[vi], A[vi, vk])"),
        reduction("T.infinity(\"float32\")", "T.min(B[vi], A[vi, vk])"),
        reduction("T.min_value(\"float32\")", "T.max(B[vi], A[vi, vk] * A[vi, vk])"),
        std::string(row_sum).replace(std::string(row_sum).rfind("B[vi] = "), 8,
                                     "total: T.float32 = ") +
            "            B[vi] = total\n"}) {
    INFO(text);
    const ir::function f = ir::parse(text);
    for (const std::size_t at : {std::size_t{1}, std::size_t{2}}) {
      schedule s(f);
      const block_rv b = s.block("B");
      s.split(s.get_loops(b)[1], {infer, 3});
      s.rfactor(s.get_loops(b)[at], 0);
      check_meaning(s, f);
    }
  }
}

TEST_CASE("rfactor: argmax in both forms, init and stores in any order") {
  for (const char* init : {arg_init, arg_init_turned})
    for (const char* order : {stores, stores_turned}) {
      // the lowest index wins, so the result does not depend on the order: distinct indices
      const ir::function first = ir::parse(arg_reduction(init, std::string(first_lets) + order));
      schedule s(first);
      const block_rv b = s.block("arg");
      const block_rv rf = s.rfactor(s.get_loops(b)[2], 1);
      CHECK(s.get(rf).block->writes.size() == 2);
      const ir::let_node* let = ir::as_let(s.get(rf).block->body);
      REQUIRE(let);
      CHECK(let->var->name == "v_X.rf");
      check_meaning(s, first);

      const ir::function plain = ir::parse(arg_reduction(init, std::string(plain_lets) + order));
      schedule t(plain);
      t.rfactor(t.get_loops(t.block("arg"))[1], 0);
      check_schedule(t, plain);
      // values agree, and so do the indices' values; which of several equal ones is open
      CHECK(results_of(t.function())[3] == results_of(plain)[3]);
    }
}

TEST_CASE("rfactor: a reducer that a user registers") {
  const std::string text = reduction("T.float32(0)", "T.max(B[vi], T.abs(A[vi, vk]))");
  check_refused(text, "B", 1, 0, 5);
  commutative_reducer r;
  r.name = "largest_magnitude";
  r.combine = [](const std::vector<ir::expr>& l, const std::vector<ir::expr>& x) {
    return std::vector<ir::expr>{ir::max(l[0], ir::call(x[0].type(), "abs", {x[0]}))};
  };
  r.identities = [](const std::vector<dtype>& t) {
    return std::vector<std::vector<ir::expr>>{{ir::literal(t[0], 0)}};
  };
  register_reducer(r);
  const ir::function f = ir::parse(text);
  schedule s(f);
  s.split(s.get_loops(s.block("B"))[1], {infer, 3});
  s.rfactor(s.get_loops(s.block("B"))[2], 0);
  check_meaning(s, f);
  CHECK_THROWS_AS(register_reducer({}), argument_error);
}

TEST_CASE("rfactor: the reducer that a block declares") {
  // the largest value and how often it occurs
  const auto program = [](const std::string& note) {
    return R"(@T.prim_func
def f(A: T.Buffer((4, 24), "int32"), P: T.Buffer((4,), "int32"), S: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 24):
        with T.block("P"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.block_attr({"tilewright.reducer": ")" +
           note + R"("})
            with T.init():
                P[vi] = -1000
                S[vi] = 0
            v_P: T.int32 = T.max(P[vi], A[vi, vk] // 4)
            v_S: T.int32 = T.Select(P[vi] > A[vi, vk] // 4, S[vi], T.Select(P[vi] < A[vi, vk] // 4, 1, S[vi] + 1))
            P[vi] = v_P
            S[vi] = v_S
)";
  };
  const std::string both = "T.max(x0, y0), T.Select(x0 > y0, x1, T.Select(x0 < y0, y1, x1 + y1))";
  const auto reducer = [](const std::string& results, const std::string& identity) {
    return "T.comm_reducer(lambda x0, x1, y0, y1: (" + results + "), [" + identity + "])";
  };
  const ir::function f = ir::parse(program(reducer(both, "-1000, 0")));
  schedule s(f);
  s.split(s.get_loops(s.block("P"))[1], {infer, 5});
  s.rfactor(s.get_loops(s.block("P"))[1], 0);
  check_meaning(s, f);
  for (const std::string& note :
       {std::string("none"), reducer("T.max(x0, y0), x1 + y1", "-1000, 0"), reducer(both, "0, 0"),
        reducer(both, "-1000, T.int64(0)")})
    check_refused(program(note), "P", 1, 0, 5);
}

TEST_CASE("rfactor: among several reductions in one nest only the first") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4, 8), "float32"), D: T.Buffer((4, 4), "float32")):
    C = T.alloc_buffer((4, 4), "float32")
    for i, j in T.grid(4, 4):
        for k in range(8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vj, vk]
        for k in range(8):
            with T.block("D"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    D[vi, vj] = T.float32(0)
                D[vi, vj] = D[vi, vj] + A[vi, vj, vk] + C[vi, vj]
)");
  schedule s(f);
  const block_rv d = s.block("D"), c = s.block("C");
  const loop_rv d_k = s.get_loops(d)[2];
  check_refusal(s, "rfactor", 3, [&] { s.rfactor(d_k, 0); });
  s.rfactor(s.get_loops(c)[2], 2);
  CHECK(s.get_loops(d).size() == 3);
  check_meaning(s, f);
}

TEST_CASE("rfactor: refusals") {
  const std::string f = row_sum;
  check_refused(f, "B", 0, 0, 2);  // a spatial loop
  check_refused(f, "B", 1, 2, 6);  // [-2, 1]
  check_refused(f, "B", 1, -3, 6);
  check_refused(reduction("T.float32(1)", "B[vi] + A[vi, vk]"), "B", 1, 0, 5);
  check_refused(reduction("T.float32(0)", "B[vi] - A[vi, vk]"), "B", 1, 0, 5);
  check_refused(reduction("T.float32(0)", "A[vi, vk] + B[vi]"), "B", 1, 0, 5);
  check_refused(reduction("T.float32(0)", "B[vi] + A[vi, vk] * B[vi]"), "B", 1, 0, 5);
  const auto arg = [](const std::string& init, const std::string& lines) {
    check_refused(arg_reduction(init, lines), "arg", 2, 0, 4);
  };
  const std::string lets = plain_lets;
  arg("                X[vi] = -1\n", lets + stores);
  arg("                X[vi] = -1\n                X[vi] = -1\n", lets + stores);
  arg(arg_init, lets + "            X[vi] = vx\n");
  arg(arg_init, lets + "            X[vi] = vx\n            Y[vi] = vx\n");
  arg(arg_init, lets + "            X[vi] = vx\n            X[vi] = vy\n");
  arg(arg_init, lets + "            X[vi] = vx\n            Y[4 - vi] = vy\n");
  arg(arg_init, lets + "            X[vi] = vx\n            Y[vi] = V[vi, vk]\n");
  arg("                X[vi] = -1\n                Y[4 - vi] = T.min_value(\"int32\")\n",
      lets + stores);

  schedule s(ir::parse(row_sum));
  const block_rv b = s.block("B");
  const auto fused = s.fuse(s.get_loops(b));
  check_refusal(s, "rfactor", 2, [&] { s.rfactor(fused, 0); });
  schedule t(ir::parse(row_sum));
  const loop_rv k = t.get_loops(t.block("B"))[1];
  t.unroll(k);
  check_refusal(t, "rfactor", 1, [&] { t.rfactor(k, 0); });
}

TEST_CASE("rfactor: what is added to another tensor is no sum") {
  check_refused(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), D: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 16):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = D[vi] + A[vi, vk]
)",
                "B", 1, 0, 5);
}

TEST_CASE("rfactor: the index by which results are placed is read by both blocks") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(I: T.Buffer((6,), "int32"), A: T.Buffer((6, 8), "float32"), B: T.Buffer((16,), "float32")):
    P = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("P"):
            vi = T.axis.spatial(6, i)
            P[vi] = vi * 2 + I[vi] % 2
    for i, k in T.grid(6, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[P[vi]] = T.float32(0)
            B[P[vi]] = B[P[vi]] + A[vi, vk]
)");
  schedule s(f);
  s.rfactor(s.get_loops(s.block("B"))[1], 0);
  check_schedule(s, f);
}

TEST_CASE("rfactor: a guard that leaves out the first iteration") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), D: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((16,), "float32")
    for i in range(16):
        for k in range(8):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                vk = T.axis.reduce((2, 8), k)
                T.where(2 <= k)
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
    for i in range(16):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = C[vi]
)"));
  const loop_rv k = s.get_loops(s.block("C"))[1];
  check_refusal(s, "rfactor", 7, [&] { s.rfactor(k, 0); });
}

TEST_CASE("rfactor: memory of the threads around") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 32), "float32"), D: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((16,), "float32", scope="shared")
    for i in T.thread_binding(16, thread="blockIdx.x"):
        for k in range(32):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = C[vi] * T.float32(2)
)"));
  const loop_rv k = s.get_loops(s.block("C"))[1];
  check_refusal(s, "rfactor", 9, [&] { s.rfactor(k, 0); });
}

TEST_CASE("rfactor: an extent that is loaded") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8,), "int32")):
    N = T.alloc_buffer((1,), "int32")
    with T.block("N"):
        N[0] = 4
    for i in range(8):
        for k in range(N[0]):
            with T.block("D"):
                vi = T.axis.spatial(8, i)
                vk = T.axis.reduce(N[0], k)
                with T.init():
                    D[vi] = 0
                D[vi] = D[vi] + A[vi, vk]
)"));
  const loop_rv k = s.get_loops(s.block("D"))[1];
  check_refusal(s, "rfactor", 8, [&] { s.rfactor(k, 0); });
}

TEST_CASE("rfactor: a body that uses a loop") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk] * i
)"));
  const loop_rv k = s.get_loops(s.block("C"))[1];
  check_refusal(s, "rfactor", 1, [&] { s.rfactor(k, 0); });
}

TEST_CASE("rfactor: a variable that shares a loop with the factor's is taken apart too") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((1,), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("RR", [i, j])
            with T.init():
                C[0] = 0.0
            C[0] = C[0] + A[vi, vj]
)"));
  const auto loops = s.get_loops(s.block("C"));
  const loop_rv fused = s.fuse({loops[0], loops[1]});
  const auto parts = s.split(fused, {16, 4});
  const block_rv partial = s.rfactor(parts[1], 0);
  CHECK(s.get(partial).block->iters.size() == 2);
  s.vectorize(s.get_loops(partial)[1]);
}

TEST_CASE("rfactor: a reduction without instances starts no partial results") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), F: T.Buffer((1,), "int32")):
    for k in range(0):
        with T.block("F"):
            vk = T.axis.reduce(0, k)
            with T.init():
                F[0] = 0
            F[0] = F[0] + A[vk]
)"));
  const auto parts = s.split(s.get_loops(s.block("F"))[0], {infer, 2});
  check_refusal(s, "rfactor", 8, [&] { s.rfactor(parts[1], 0); });
}
