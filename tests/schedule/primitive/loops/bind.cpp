// bind: loops become thread axes.
#include <tilewright/schedule/primitive/loops/loop_kind.hpp>

#include "../../programs.hpp"
#include "../../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("bind: spatial loops to any axis, reduce loops to threadIdx only") {
  const ir::function f = programs::matmul(4, 6, 8);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  s.bind(i, "blockIdx.x");
  s.bind(j, "vthread.y");
  CHECK(s.get(i).loop == ir::loop_kind::thread_binding);
  CHECK(s.get(i).thread_tag == "blockIdx.x");
  check_meaning(s, f);

  const loop_rv reduce = k;
  check_refusal(s, "bind", 2, [&] { s.bind(reduce, "blockIdx.y"); });
  check_refusal(s, "bind", 2, [&] { s.bind(reduce, "vthread"); });
  s.bind(k, "threadIdx.x");
  CHECK(s.get(k).thread_tag == "threadIdx.x");
  check_schedule(s, f);
}

TEST_CASE("bind: parts of a fused loop that cut across what was fused") {
  // 48 instances of two rows in parts of 5, 32 and 64: quotients by 6 and 8 of the sum of both
  const ir::function f = programs::matmul(8, 6, 5);
  for (const int part : {5, 32, 64}) {
    CAPTURE(part);
    schedule s(f);
    const auto [i, j, k] = s.loops<3>(s.block("C"));
    const auto [block, thread] = s.split(s.fuse(i, j), {infer, part});
    s.bind(block, "blockIdx.x");
    s.bind(thread, "threadIdx.x");
    check_meaning(s, f);
  }
}

TEST_CASE("bind: the last word counts") {
  schedule s(programs::matmul(4, 6, 8));
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  s.bind(i, "blockIdx.x");
  s.bind(i, "threadIdx.z");
  CHECK(s.get(i).thread_tag == "threadIdx.z");
  s.parallel(i);
  CHECK(s.get(i).loop == ir::loop_kind::parallel);
  CHECK(s.get(i).thread_tag.empty());
}

TEST_CASE("bind: what names no axis is refused") {
  schedule s(programs::matmul(4, 6, 8));
  const auto loops = s.loops<3>(s.block("C"));
  for (const char* axis :
       {"", "threadIdx", "threadIdx.w", "blockidx.x", "gridIdx.x", "vthread.", "threadIdx.xy"})
    check_refusal(s, "bind", 3, [&] { s.bind(loops[0], axis); });
}

TEST_CASE("bind: instances that add to one element are no updates in place of own elements") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((1,), "int32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[0] = C[0] + A[vi]
)"));
  const loop_rv i = s.get_loops(s.block("C"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
  check_refusal(s, "bind", 1, [&] { s.bind(i, "threadIdx.x"); });
}

TEST_CASE("bind: threads that fill a tile unevenly, below a loop that the copy does not use") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), Y: T.Buffer((8, 4), "int32")):
    X = T.alloc_buffer((8, 8), "int32", scope="shared")
    for i0, j in T.grid(2, 4):
        for f in range(32):
            with T.block("X"):
                v0 = T.axis.spatial(8, i0 * 4 + f // 8)
                v1 = T.axis.spatial(8, f % 8)
                X[v0, v1] = A[v0, v1]
        for i1 in range(4):
            with T.block("Y"):
                v0 = T.axis.spatial(8, i0 * 4 + i1)
                v1 = T.axis.spatial(4, j)
                Y[v0, v1] = X[v0, v1] + X[v0, v1 + 4]
)");
  schedule s(f);
  const block_rv x = s.block("X");
  const auto parts = s.split(s.get_loops(x)[2], {infer, 3, 5});
  s.bind(parts[1], "threadIdx.y");
  s.bind(parts[2], "threadIdx.x");
  check_meaning(s, f);
}

TEST_CASE("bind: a fused loop over a symbolic extent") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 768), "float32")
    C = T.match_buffer(c, (n, 768), "float32")
    for i, j in T.grid(n, 768):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + T.float32(1)
)"));
  const std::vector<loop_rv> l = s.get_loops(s.block("C"));
  const auto [blocks, threads] = s.split(s.fuse(l[0], l[1]), {infer, 256});
  s.bind(blocks, "blockIdx.x");
  s.bind(threads, "threadIdx.x");
  schedule t(ir::parse(R"(
@T.prim_func
def main(c: T.handle):
    n = T.int32()
    C = T.match_buffer(c, (n + 4096,), "int32")
    for i, j in T.grid(4, n):
        with T.block("C"):
            vi = T.axis.spatial(n + 4096, i * 1024 + j)
            C[vi] = vi
)"));
  const loop_rv i = t.get_loops(t.block("C"))[0];
  check_refusal(t, "bind", 1, [&] { t.bind(i, "blockIdx.x"); });  // n may be longer than 1024
}

TEST_CASE("bind: a reader of a sum below the loop that adds it up sees parts of it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), D: T.Buffer((8, 16), "int32")):
    C = T.alloc_buffer((8,), "int32")
    for i, k in T.grid(8, 16):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
        with T.block("D"):
            vi, vk = T.axis.remap("SS", [i, k])
            D[vi, vk] = C[vi]
)");
  schedule s(f);
  const auto [i, k] = s.loops<2>(s.block("C"));
  const loop_rv inner = k;
  check_refusal(s, "bind", 1, [&] { s.bind(inner, "threadIdx.x"); });
  s.bind(i, "threadIdx.x");
  check_meaning(s, f);
}

TEST_CASE("bind: threads that copy tiles which do not divide") {
  const auto copied = [](const char* by) {
    return schedule(program_of(R"(@T.prim_func
def main(A: T.Buffer((40, 23), "int32"), C: T.Buffer((40, 23), "int32")):
    S = T.alloc_buffer((40, 23), "int32", scope="shared")
    for o in T.thread_binding(5, thread="blockIdx.x"):
        for x, y in T.grid(8, 7):
            with T.block("S"):
                vi = T.axis.spatial(40, o * 8 + (x * 7 + y) // <by>)
                vj = T.axis.spatial(23, o * 4 + (x * 7 + y) % 6)
                T.where(x * 7 + y < 48 and o * 4 + (x * 7 + y) % 6 < 23)
                S[vi, vj] = A[vi, vj]
        for i, j in T.grid(8, 4):
            with T.block("C"):
                vi = T.axis.spatial(40, o * 8 + i)
                vj = T.axis.spatial(23, o * 4 + j)
                C[vi, vj] = S[vi, vj] + 1
)",
                               {{"<by>", by}}));
  };
  schedule s = copied("6"), other = copied("7");  // two elements of a row in one place
  s.bind(s.get_loops(s.block("S"))[1], "threadIdx.x");
  const loop_rv y = other.get_loops(other.block("S"))[2];
  check_refusal(other, "bind", 1, [&] { other.bind(y, "threadIdx.x"); });
}
