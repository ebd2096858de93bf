// Inits that get a block of their own: decompose_reduction, blockize.
#include <string>

#include <doctest/doctest.h>

#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// A reduction with a buffer of its own, L, besides what it reads and writes.
ir::function reduction(std::string_view own, std::string_view init) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), E: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 3):
        with T.block("E"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(E[vi])
            <own>
            with T.init():
                <init>
            L[0] = E[vi] + A[vi, vk]
            E[vi] = L[0]
)",
                    {{"<own>", own}, {"<init>", init}});
}

constexpr const char* view = R"(L = T.match_buffer(E[vi], (1,), "int32", offset_factor=1))";
constexpr const char* allocated = R"(L = T.alloc_buffer((1,), "int32"))";

}  // namespace

TEST_CASE("decomposed_init: an init uses no buffer that its block alone knows") {
  for (const char* own : {view, allocated})
    for (const char* init : {"L[0] = 0", "E[vi] = 0\nL[0] = E[vi]"}) {
      CAPTURE(own);
      CAPTURE(init);
      schedule s(reduction(own, init));
      const block_rv b = s.block("E");
      const loop_rv k = s.get_loops(b)[1];
      check_refusal(s, "decompose_reduction", 4, [&] { s.decompose_reduction(b, k); });
      check_refusal(s, "blockize", 4, [&] { s.blockize(k); });
    }
}

TEST_CASE("decomposed_init: a reduction over nothing initialises nothing") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), F: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 0):
        with T.block("F"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(0, k)
            with T.init():
                F[vi] = 0
            F[vi] = F[vi] + A[vk]
)"));
  const block_rv f = s.block("F");
  const loop_rv k = s.get_loops(f)[1];
  check_refusal(s, "decompose_reduction", 5, [&] { s.decompose_reduction(f, k); });
  check_refusal(s, "blockize", 4, [&] { s.blockize(k); });
  check_refusal(s, "reindex", 6, [&] { s.reindex(f, written_buffer(0)); });
  check_refusal(s, "reindex_cache_write", 8,
                [&] { s.reindex_cache_write(f, 0, "global", "lambda i, k: (i,)"); });
}

TEST_CASE("decomposed_init: the updates may") {
  for (const char* own : {view, allocated}) {
    CAPTURE(own);
    const ir::function f = reduction(own, "E[vi] = 0");
    schedule s(f);
    s.decompose_reduction(s.block("E"), s.get_loops(s.block("E"))[1]);
    check_meaning(s, f);
    schedule t(f);
    t.blockize(t.get_loops(t.block("E"))[1]);
    check_meaning(t, f);
  }
}

TEST_CASE("decomposed_init: the updates read all that the reduction says to read of its result") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), X: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(X[vi], A[vi, vj], C[0:4])
            T.writes(C[vi])
            with T.init():
                C[vi] = X[vi]
            C[vi] = C[vi] - T.if_then_else(vj < vi, A[vi, vj] * C[vj], 0, dtype="int32")
)");
  const auto check = [&](schedule& s, const char* update) {
    const ir::buffer_region& r = s.get(s.block(update)).block->reads.at(0);
    CHECK(r.buffer->name == "C");
    CHECK(ir::is_int(r.box.at(0).min, 0));
    CHECK(ir::is_int(r.box.at(0).extent, 4));
    check_meaning(s, f);
  };
  schedule s(f);
  s.decompose_reduction(s.block("C"), s.get_loops(s.block("C"))[1]);
  check(s, "C_update");
  schedule t(f);
  t.blockize(t.get_loops(t.block("C"))[1]);
  check(t, "C");
}
