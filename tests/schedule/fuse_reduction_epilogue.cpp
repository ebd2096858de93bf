#include <tilewright/schedule/primitive/fuse_reduction_epilogue.hpp>

#include <string>

#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// A reduction over k into C, then D from C.
ir::function program(const std::string& init, const std::string& update, const std::string& value,
                     const std::string& type = "int32", const std::string& rows = "6") {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 7), "int32"), G: T.Buffer((7,), "int32"), D: T.Buffer((6, 7), ")" +
                   type + R"(")):
    C = T.alloc_buffer((6, 7), "int32")
    for i, j, k in T.grid(6, 7, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = )" +
                   init + "\n            C[vi, vj] = " + update + R"(
    for i, j in T.grid()" +
                   rows + R"(, 7):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = )" +
                   value + "\n");
}

constexpr const char* product = "C[vi, vj] + A[vi, vk] * B[vk, vj]";

void fuse(schedule& s) { s.fuse_reduction_epilogue(s.block("C"), s.block("D")); }

void check_refused(schedule s, int requirement) {
  const block_rv c = s.block("C"), d = s.block("D");
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
  const std::pair<const char*, const char*> sums[] = {
      {product, "G[vj] + C[vi, vj]"}, {product, "C[vi, vj] - G[vj]"}, {product, "C[vi, vj]"}};
  for (const auto& [update, value] : sums) {
    const ir::function f = program("0", update, value);
    schedule s(f);
    fuse(s);
    check_meaning(s, f);
  }
  const ir::function largest =
      program("T.min_value(\"int32\")", "T.max(C[vi, vj], A[vi, vk] - B[vk, vj])",
              "T.max(C[vi, vj], G[vj])");
  schedule s(largest);
  fuse(s);
  check_meaning(s, largest);
}

TEST_CASE("fuse_reduction_epilogue: what does not commute is refused") {
  for (const char* value :
       {"T.max(C[vi, vj], 0)", "G[vj] - C[vi, vj]", "C[vi, vj] * G[vj]", "C[vi, vj] + G[vj] + 1"}) {
    CAPTURE(value);
    schedule s(program("0", product, value));
    check_refused(s, 5);
  }
  schedule minimum(
      program("T.min_value(\"int32\")", "T.max(C[vi, vj], A[vi, vk])", "T.min(C[vi, vj], G[vj])"));
  check_refused(minimum, 5);
}

TEST_CASE("fuse_reduction_epilogue: refusals") {
  schedule start(program("5", product, "C[vi, vj] + G[vj]"));  // five is no identity of the sum
  check_refused(start, 2);
  schedule twice(program("0", product, "C[vi, vj] + C[vi, vj]"));
  check_refused(twice, 4);
  schedule part(program("0", product, "C[vi, vj] + G[vj]", "int32", "5"));
  check_refused(part, 4);
  schedule reversed(program("0", product, "C[5 - vi, vj] + G[vj]"));
  check_refused(reversed, 4);
  schedule swapped(program("0", product, "C[vi, vj] + G[vj]"));
  const block_rv c = swapped.block("C"), d = swapped.block("D");
  check_refusal(swapped, "fuse_reduction_epilogue", 2,
                [&] { swapped.fuse_reduction_epilogue(d, c); });
}

TEST_CASE("fuse_reduction_epilogue: the sum as a place or a guard") {
  const auto program = [](const std::string& place, const std::string& guard) {
    return schedule(ir::parse(R"(@T.prim_func
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
            D[)" + place + R"(] = C[vi] + 1
    for i in range(8):
        with T.block("E"):
            vi = T.axis.spatial(8, i)
            T.where()" + guard +
                              R"()
            E[vi] = A[vi, 0]
)"));
  };
  check_refused(program("C[vi] % 8", "i < 7"), 4);
  check_refused(program("vi", "C[i] < 3"), 4);
}

TEST_CASE("fuse_reduction_epilogue: what the loops of the reduction go on writing") {
  schedule s(ir::parse(R"(@T.prim_func
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
)"));
  const block_rv c = s.block("C"), d = s.block("D");
  check_refusal(s, "fuse_reduction_epilogue", 1, [&] { s.fuse_reduction_epilogue(c, d); });
}

TEST_CASE("fuse_reduction_epilogue: an epilogue of a part of its domain") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), D: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((16,), "float32")
    for t in range(16):
        for k in range(16):
            with T.block("C"):
                vt, vk = T.axis.remap("SR", [t, k])
                with T.init():
                    C[vt] = T.float32(0)
                C[vt] = C[vt] + A[vt, vk]
    for t in range(8):
        with T.block("D"):
            vt = T.axis.spatial(16, t)
            D[vt] = C[vt] + T.float32(2)
)"));
  const block_rv c = s.block("C"), d = s.block("D");
  check_refusal(s, "fuse_reduction_epilogue", 3, [&] { s.fuse_reduction_epilogue(c, d); });
}

TEST_CASE("fuse_reduction_epilogue: an epilogue of a triangle") {
  schedule s(ir::parse(R"(@T.prim_func
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
)"));
  const block_rv c = s.block("C"), d = s.block("D");
  check_refusal(s, "fuse_reduction_epilogue", 3, [&] { s.fuse_reduction_epilogue(c, d); });
}

TEST_CASE("fuse_reduction_epilogue: elements that several sums would share") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), D: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((16,), "float32")
    for k in range(16):
        for t in range(16):
            with T.block("C"):
                vt, vk = T.axis.remap("SR", [t, k])
                with T.init():
                    C[vt] = T.float32(0)
                C[vt] = C[vt] + A[vt, vk]
    for t in range(16):
        with T.block("D"):
            vt = T.axis.spatial(16, t)
            D[vt // 2] = C[vt] + T.float32(2)
)"));
  const block_rv c = s.block("C"), d = s.block("D");
  check_refusal(s, "fuse_reduction_epilogue", 3, [&] { s.fuse_reduction_epilogue(c, d); });
}

TEST_CASE("fuse_reduction_epilogue: memory of threads around the epilogue") {
  schedule s(ir::parse(R"(@T.prim_func
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
)"));
  const block_rv c = s.block("C"), d = s.block("D");
  check_refusal(s, "fuse_reduction_epilogue", 1, [&] { s.fuse_reduction_epilogue(c, d); });
}
