#include <tilewright/schedule/term_order.hpp>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/support/error.hpp>

#include "../programs.hpp"
#include "../script_schedule.hpp"

using namespace tilewright;

namespace {

/// The requirement that refuses the schedule; -1 where it is accepted.
int refused_by(const schedule& s, const ir::function& written) {
  try {
    check_term_order(s, written);
    return -1;
  } catch (const schedule_error& e) {
    CHECK(e.primitive() == "term_order");
    return e.requirement();
  }
}

ir::function ordered(const char* script) { return ir::with_term_order(ir::parse(script)); }

const char* const convolution = R"(
@T.prim_func
def main(X: T.Buffer((8, 10, 10), "float32"), F: T.Buffer((4, 8, 3, 3), "float32"), Y: T.Buffer((4, 8, 8), "float32")):
    for o, p, q, c, r, s in T.grid(4, 8, 8, 8, 3, 3):
        with T.block("Y"):
            vo, vp, vq, vc, vr, vs = T.axis.remap("SSSRRR", [o, p, q, c, r, s])
            with T.init():
                Y[vo, vp, vq] = T.float32(0)
            Y[vo, vp, vq] = Y[vo, vp, vq] + X[vc, vp + vr, vq + vs] * F[vo, vc, vr, vs]
)";

}  // namespace

TEST_CASE("term order: nothing is asked of other functions") {
  const ir::function f = programs::matmul(8, 8, 8);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [k0, k1] = s.split(k, {infer, 4});
  s.rfactor(k1, 0);
  CHECK(refused_by(s, f) == -1);
}

TEST_CASE("term order: tiles, copies, vectors and threads along results stay") {
  const ir::function f = ir::with_term_order(programs::matmul(16, 16, 16));
  schedule s(f);
  const block_rv block = s.block("C");
  const auto [i, j, k] = s.loops<3>(block);
  const auto [i0, i1] = s.split(i, {infer, 3});
  const auto [j0, j1] = s.split(j, {infer, 8});
  const auto [k0, k1] = s.split(k, {infer, 5});
  s.reorder(i0, k0, j0, k1, i1, j1);
  s.vectorize(j1);
  s.unroll(i1);
  s.parallel(i0);
  s.decompose_reduction(block, k0);
  CHECK(refused_by(s, f) == -1);
  check_meaning(s, f);
}

TEST_CASE("term order: loops of a reduction keep their order") {
  const ir::function f = ordered(convolution);
  SUBCASE("tiles of one of them alone") {
    schedule s(f);
    const auto [o, p, q, c, r, t] = s.loops<6>(s.block("Y"));
    const auto [c0, c1] = s.split(c, {infer, 4});
    s.reorder(c0, c1, r, t, o, p, q);
    CHECK(refused_by(s, f) == -1);
  }
  SUBCASE("an inner tile behind the others") {
    schedule s(f);
    const auto [o, p, q, c, r, t] = s.loops<6>(s.block("Y"));
    const auto [c0, c1] = s.split(c, {infer, 4});
    s.reorder(c0, r, t, c1);
    CHECK(refused_by(s, f) == 4);
  }
  SUBCASE("fused, and split where no digit ends") {
    schedule s(f);
    const auto [o, p, q, c, r, t] = s.loops<6>(s.block("Y"));
    const auto [all, four] = s.split(s.fuse(c, r, t), {infer, 4});
    s.reorder(all, four, q);
    CHECK(refused_by(s, f) == -1);
  }
  SUBCASE("turned round") {
    schedule s(f);
    const auto [o, p, q, c, r, t] = s.loops<6>(s.block("Y"));
    s.reorder(t, r);
    CHECK(refused_by(s, f) == 4);
  }
}

TEST_CASE("term order: of integers any order will do") {
  const ir::function f = ordered(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)");
  schedule s(f);
  s.rfactor(s.get_loops(s.block("C"))[1], 0);
  CHECK(refused_by(s, f) == -1);
}

TEST_CASE("term order: sums of integers may be taken apart, those of floats may not") {
  const auto sum_of = [](const std::string& type) {
    return ordered(("@T.prim_func\ndef main(X: T.Buffer((8,), \"" + type +
                    "\"), P: T.Buffer((8, 8), \"" + type + "\"), Y: T.Buffer((1,), \"" + type +
                    R"(")):
    for r, s in T.grid(8, 8):
        with T.block("Y"):
            vr, vs = T.axis.remap("RR", [r, s])
            with T.init():
                Y[0] = T.)" +
                    type +
                    R"((0)
            Y[0] = Y[0] + X[vr] * P[vr, vs] * X[vs]
)")
                       .c_str());
  };
  for (const auto& sample :
       std::initializer_list<std::pair<const char*, int>>{{"int32", -1}, {"float32", 2}}) {
    const ir::function f = sum_of(sample.first);
    schedule s(f);
    s.work_on("main.factored");
    CAPTURE(sample.first);
    CHECK(refused_by(s, f) == sample.second);
  }
}

TEST_CASE("term order: partial sums are refused") {
  const ir::function f = ir::with_term_order(programs::matmul(8, 8, 8));
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  const auto [k0, k1] = s.split(k, {infer, 4});
  s.rfactor(k0, 0);
  CHECK(refused_by(s, f) == 1);
}

TEST_CASE("term order: variables of a reduction are split, and not turned") {
  const ir::function f = ir::with_term_order(programs::matmul(8, 8, 8));
  for (const auto& sample : std::initializer_list<std::pair<const char*, int>>{
           {"lambda i, j, k: (i // 4, i % 4, j, k)", -1},
           {"lambda i, j, k: (i, j, k // 2, k % 2)", -1},
           {"lambda i, j, k: (i, j, k % 2, k // 2)", 1},
           {"lambda i, j, k: (j, i, k)", 1}}) {
    const char* map = sample.first;
    schedule s(f);
    s.transform_block_layout(s.block("C"), map);
    CAPTURE(map);
    CHECK(refused_by(s, f) == sample.second);
  }
}

TEST_CASE("term order: the function's own algorithm") {
  ir::function twin = programs::matmul(8, 8, 8);
  twin.name = "twin";
  const ir::function f =
      ir::with_term_order(ir::with_alternatives(programs::matmul(8, 8, 8), {twin}));
  schedule own(f), other(f);
  own.work_on(f.name);
  CHECK(ir::keeps_term_order(own.function()));
  CHECK(refused_by(own, f) == -1);
  other.work_on("twin");
  CHECK(refused_by(other, f) == 2);
}

TEST_CASE("term order: narrow floats stay rounded between blocks") {
  const ir::function f = ordered(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float16"), C: T.Buffer((8,), "float16")):
    B = T.alloc_buffer((8,), "float16")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * A[vi]
)");
  schedule s(f);
  s.compute_inline(s.block("B"));
  CHECK(refused_by(s, f) == 3);
}

TEST_CASE("term order: a program whose own loops are in another order runs as it is written") {
  const ir::function f = ordered(R"(
@T.prim_func
def main(A: T.Buffer((8, 4, 4), "float32"), C: T.Buffer((8,), "float32")):
    for i, k, j in T.grid(8, 4, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.reduce(4, j)
            vk = T.axis.reduce(4, k)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vj, vk]
)");
  schedule s(f);
  CHECK(refused_by(s, f) == -1);
  s.parallel(s.get_loops(s.block("C"))[0]);
  CHECK(refused_by(s, f) == 4);
}
