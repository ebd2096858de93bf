#include <tilewright/schedule/primitive/reductions/fuse_reduction_epilogue.hpp>

#include <string>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

/// A reduction over k into C, then D from C.
ir::function program(const std::string& init, const std::string& update, const std::string& value,
                     const std::string& rows = "6") {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 7), "int32"), G: T.Buffer((7,), "int32"), D: T.Buffer((6, 7), "int32")):
    C = T.alloc_buffer((6, 7), "int32")
    for i, j, k in T.grid(6, 7, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = <init>
            C[vi, vj] = <update>
    for i, j in T.grid(<rows>, 7):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = <value>
)",
                    {{"<init>", init}, {"<update>", update}, {"<rows>", rows}, {"<value>", value}});
}

constexpr const char* product = "C[vi, vj] + A[vi, vk] * B[vk, vj]";

/// C[t] is the sum of a row of A over `loops`; then D[place] of the first `rows` rows.
ir::function row_sums(const char* loops, const char* rows, const char* place) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), D: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((16,), "float32")
    for <loops> in T.grid(16, 16):
        with T.block("C"):
            vt, vk = T.axis.remap("SR", [t, k])
            with T.init():
                C[vt] = T.float32(0)
            C[vt] = C[vt] + A[vt, vk]
    for t in range(<rows>):
        with T.block("D"):
            vt = T.axis.spatial(16, t)
            D[<place>] = C[vt] + T.float32(2)
)",
                    {{"<loops>", loops}, {"<rows>", rows}, {"<place>", place}});
}

void fuse(schedule& s) { s.fuse_reduction_epilogue(s.block("C"), s.block("D")); }

void check_fused(const ir::function& f) {
  schedule s(f);
  fuse(s);
  check_meaning(s, f);
}

void check_refused(const ir::function& f, int requirement, const char* reduction = "C",
                   const char* epilogue = "D") {
  schedule s(f);
  const block_rv c = s.block(reduction), d = s.block(epilogue);
  check_refusal(s, "fuse_reduction_epilogue", requirement,
                [&] { s.fuse_reduction_epilogue(c, d); });
}

}  // namespace

TEST_CASE("fuse_reduction_epilogue: a bias is where the sum starts") {
  const ir::function f = program("0", product, "C[vi, vj] + G[vj]");
  schedule s(f);
  fuse(s);
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 7), "int32"), G: T.Buffer((7,), "int32"), D: T.Buffer((6, 7), "int32")):
    C = T.alloc_buffer((6, 7), "int32")
    for i, j, k in T.grid(6, 7, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(G[vj], A[vi, vk], B[vk, vj])
            T.writes(D[vi, vj])
            with T.init():
                D[vi, vj] = G[vj]
            D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  check_meaning(s, f);
}

TEST_CASE("fuse_reduction_epilogue: everything that commutes") {
  for (const char* value : {"G[vj] + C[vi, vj]", "C[vi, vj] - G[vj]", "C[vi, vj]"}) {
    CAPTURE(std::string(value));
    check_fused(program("0", product, value));
  }
  check_fused(program("T.min_value(\"int32\")", "T.max(C[vi, vj], A[vi, vk] - B[vk, vj])",
                      "T.max(C[vi, vj], G[vj])"));
}

TEST_CASE("fuse_reduction_epilogue: what does not commute is refused") {
  for (const char* value :
       {"T.max(C[vi, vj], 0)", "G[vj] - C[vi, vj]", "C[vi, vj] * G[vj]", "C[vi, vj] + G[vj] + 1"}) {
    CAPTURE(std::string(value));
    check_refused(program("0", product, value), 5);
  }
  check_refused(
      program("T.min_value(\"int32\")", "T.max(C[vi, vj], A[vi, vk])", "T.min(C[vi, vj], G[vj])"),
      5);
}

TEST_CASE("fuse_reduction_epilogue: refusals") {
  const ir::function f = program("0", product, "C[vi, vj] + G[vj]");
  check_refused(f, 2, "D", "C");
  check_refused(program("5", product, "C[vi, vj] + G[vj]"), 2);  // five is no identity of the sum
  check_refused(program("0", product, "C[vi, vj] + C[vi, vj]"), 4);
  check_refused(program("0", product, "C[vi, vj] + G[vj]", "5"), 4);
  check_refused(program("0", product, "C[5 - vi, vj] + G[vj]"), 4);
}

TEST_CASE("fuse_reduction_epilogue: the sum as a place or a guard") {
  const auto program = [](const char* place, const char* guard) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), D: T.Buffer((8,), "int32"), E: T.Buffer((8,), "int32")):
    C = T.alloc_buffer((8,), "int32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[<place>] = C[vi] + 1
    for i in range(8):
        with T.block("E"):
            vi = T.axis.spatial(8, i)
            T.where(<guard>)
            E[vi] = A[vi, 0]
)",
                      {{"<place>", place}, {"<guard>", guard}});
  };
  check_refused(program("C[vi] % 8", "i < 7"), 4);
  check_refused(program("vi", "C[i] < 3"), 4);
}

TEST_CASE("fuse_reduction_epilogue: what the loops of the reduction go on writing") {
  check_refused(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "float32"), D: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,), "float32")
    bias = T.alloc_buffer((1,), "float32")
    for t in range(8):
        with T.block("W"):
            vt = T.axis.opaque(8, t)
            bias[0] = A[vt, 0]
        for k in range(16):
            with T.block("C"):
                vt, vk = T.axis.remap("SR", [t, k])
                with T.init():
                    C[vt] = T.float32(0)
                C[vt] = C[vt] + A[vt, vk]
    for t in range(8):
        with T.block("D"):
            vt = T.axis.spatial(8, t)
            D[vt] = C[vt] + bias[0]
)"),
                1);
}

TEST_CASE("fuse_reduction_epilogue: an epilogue of a part of its domain") {
  check_refused(row_sums("t, k", "8", "vt"), 3);
}

TEST_CASE("fuse_reduction_epilogue: elements that several sums would share") {
  check_refused(row_sums("k, t", "16", "vt // 2"), 3);
}

TEST_CASE("fuse_reduction_epilogue: an epilogue of a triangle") {
  check_refused(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), D: T.Buffer((16, 16), "float32")):
    C = T.alloc_buffer((16, 16), "float32")
    for t, s in T.grid(16, 16):
        for k in range(16):
            with T.block("C"):
                vt, vs, vk = T.axis.remap("SSR", [t, s, k])
                with T.init():
                    C[vt, vs] = T.float32(0)
                C[vt, vs] = C[vt, vs] + A[vt, vk] * A[vs, vk]
    for t in range(16):
        for s in range(t + 1):
            with T.block("D"):
                vt = T.axis.spatial(16, t)
                vs = T.axis.spatial(16, s)
                D[vt, vs] = C[vt, vs] + T.float32(2)
)"),
                3);
}

TEST_CASE("fuse_reduction_epilogue: memory of threads around the epilogue") {
  check_refused(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "int32"), E: T.Buffer((16,), "int32")):
    D = T.alloc_buffer((16,), "int32", scope="local")
    C = T.alloc_buffer((16,), "int32")
    for t in range(16):
        for k in range(16):
            with T.block("C"):
                vt, vk = T.axis.remap("SR", [t, k])
                with T.init():
                    C[vt] = 0
                C[vt] = C[vt] + A[vt, vk]
    for t in T.thread_binding(16, thread="threadIdx.x"):
        with T.block("D"):
            vt = T.axis.spatial(16, t)
            D[vt] = C[vt] + 2
        with T.block("E"):
            vt = T.axis.spatial(16, t)
            E[vt] = D[vt] + 2
)"),
                1);
}
