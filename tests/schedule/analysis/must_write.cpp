// What a block certainly writes, declared in footprint.hpp, where its place is made of several variables
// or not all threads run it.
#include <string>
#include <vector>

#include "../script_schedule.hpp"

using namespace tilewright;

TEST_CASE("write_at: domains that follow a loop, in a place of several variables") {
  const auto refused = [](const char* shape, const char* place) {
    schedule s(program_of(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer(<shape>, "int32")):
    for i in range(4):
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[<place>] = A[vi, vj] * 2
        for j_0, j_1 in T.grid(2, 2):
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(T.max(2 - i, 0), j_0 * 2 + j_1)
                T.where(j_0 * 2 + j_1 < T.max(2 - i, 0))
                C[<place>] = 1
)",
                          {{"<shape>", shape}, {"<place>", place}}));
    const block_rv z = s.block("Z");
    const std::vector<loop_rv> l = s.get_loops(z);
    for (const loop_rv& at : {l[1], l[2]})
      check_refusal(s, "write_at", 5, [&] { s.write_at(at, z, 0, "global"); });
  };
  refused("(16,)", "vi * 4 + vj");
  refused("(4, 4)", "vi, vj");
  refused("(4, 2, 2)", "vi, vj // 2, vj % 2");
}

TEST_CASE("write_at: a guard at the end of a domain that begins where a loop says") {
  const auto refused = [](const char* shape, const char* place) {
    CAPTURE(place);
    schedule s(program_of(R"(@T.prim_func
def main(C: T.Buffer(<shape>, "int32")):
    for i in range(4):
        for j_0, j_1 in T.grid(2, 2):
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial((i, i + 3), i + j_0 * 2 + j_1)
                T.where(j_0 * 2 + j_1 < 3)
                C[<place>] = 1
)",
                          {{"<shape>", shape}, {"<place>", place}}));
    const block_rv z = s.block("Z");
    const loop_rv j = s.get_loops(z)[1];
    check_refusal(s, "write_at", 5, [&] { s.write_at(j, z, 0, "global"); });
  };
  refused("(4, 8)", "vi, vj");
  refused("(32,)", "vi * 8 + vj");
  refused("(4, 4, 2)", "vi, vj // 2, vj % 2");
}

TEST_CASE("write_at: a domain that follows a loop, and that no index tells") {
  for (const char* place : {"vi, 0", "vi // 2, vi % 2"}) {
    CAPTURE(place);
    schedule s(program_of(R"(@T.prim_func
def main(C: T.Buffer((4, 2), "int32")):
    for i in range(4):
        for j_0, j_1 in T.grid(2, 2):
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(T.max(2 - i, 0), j_0 * 2 + j_1)
                T.where(j_0 * 2 + j_1 < T.max(2 - i, 0))
                C[<place>] = 1
)",
                          {{"<place>", place}}));
    const block_rv z = s.block("Z");
    const loop_rv i = s.get_loops(z)[0];
    check_refusal(s, "write_at", 5, [&] { s.write_at(i, z, 0, "global"); });
  }
}

TEST_CASE("write_at: a symbolic domain that ends before the buffer does") {
  const auto accepted = [](const char* rest, const char* place) {
    CAPTURE(place);
    const ir::function f = program_of(R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, 4), "int32")
    C = T.match_buffer(c, (m, <rest>), "int32")
    for i, j in T.grid(n, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi + 1, <place>] = A[vi, vj] * 2
)",
                                      {{"<rest>", rest}, {"<place>", place}});
    schedule s(f);
    const block_rv b = s.block("B");
    s.write_at(s.get_loops(b)[0], b, 0, "global");
    check_meaning(s, f, {{"n", 3}, {"m", 4}});
  };
  accepted("4", "vj");
  accepted("2, 2", "vj // 2, vj % 2");
}

TEST_CASE("write_at: a loop that not all threads run as far") {
  for (const char* place : {"vi, vj // 2, vj % 2", "vi, 0, vj"}) {
    CAPTURE(place);
    schedule s(program_of(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), C: T.Buffer((4, 2, 4), "int32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for j in range(T.max(2 - i, 0), 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[<place>] = A[vi, vj] * 2
)",
                          {{"<place>", place}}));
    const block_rv b = s.block("B");
    const loop_rv j = s.get_loops(b)[1];
    check_refusal(s, "write_at", 5, [&] { s.write_at(j, b, 0, "shared"); });
  }
}

TEST_CASE("write_at: what stands in a loop of no iteration writes nothing") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        for z in range(0):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] * 2
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  check_refusal(s, "write_at", 5, [&] { s.write_at(i, b, 0, "global"); });
}

TEST_CASE("write_at: parts of a sum that a loop around the scope adds up") {
  const auto refused = [](const char* domain, const char* place) {
    CAPTURE(domain);
    CAPTURE(place);
    schedule s(program_of(R"(@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((4, 2), "int32")):
    for o, k in T.grid(1, 3):
        with T.block("O"):
            T.reads(A[k, 0:4])
            T.writes(B[0:4, 0:2])
            for i in range(4):
                with T.block("B"):
                    vk = T.axis.reduce(<domain>)
                    vi = T.axis.spatial(4, i)
                    with T.init():
                        B[<place>] = 0
                    B[<place>] = B[<place>] + A[vk, vi]
)",
                          {{"<domain>", domain}, {"<place>", place}}));
    const block_rv b = s.block("B");
    const loop_rv i = s.get_loops(b)[0];
    check_refusal(s, "write_at", 5, [&] { s.write_at(i, b, 0, "global"); });
  };
  for (const char* domain : {"3, k", "(o, o + 3), o + k"})
    for (const char* place : {"vi // 2, vi % 2", "vi, 0"}) refused(domain, place);
}

TEST_CASE("written: wide steps that a guard takes off the end reach back into the box") {
  // the last iteration writes nothing, and A_copy[8] is another one's
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((9,), "int32"), E: T.Buffer((4, 2), "int32")):
    A_copy = T.alloc_buffer((9,), "int32")
    for i_0 in T.parallel(3):
        for i_1 in range(2):
            with T.block("A_copy"):
                v0 = T.axis.spatial(4, i_0 * 2 + i_1)
                T.where(i_0 * 2 + i_1 < 4)
                T.reads(A[v0 * 2:v0 * 2 + 3])
                T.writes(A_copy[v0 * 2:v0 * 2 + 3])
                for ax0 in range(3):
                    A_copy[v0 * 2 + ax0] = A[v0 * 2 + ax0]
            for j in range(2):
                with T.block("E"):
                    vi = T.axis.spatial(4, i_0 * 2 + i_1)
                    vj = T.axis.spatial(2, j)
                    T.where(i_0 * 2 + i_1 < 4)
                    T.reads(A_copy[vi * 2 + vj:vi * 2 + vj + 2])
                    T.writes(E[vi, vj])
                    E[vi, vj] = A_copy[vi * 2 + vj] + A_copy[vi * 2 + 1 + vj]
)"));
  const block_rv e = s.block("E");
  const loop_rv j = s.get_loops(e)[2];
  check_refusal(s, "read_at", 5, [&] { s.read_at(j, e, 0, "global"); });
}

TEST_CASE("written: a place of several variables begins where their loops do") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), C: T.Buffer((6, 4), "int32")):
    B = T.alloc_buffer((24,), "int32")
    for i in range(1, 4):
        for x, y in T.grid(3, 4):
            with T.block("B"):
                vx = T.axis.spatial(6, i + x)
                vy = T.axis.spatial(4, y)
                B[vx * 4 + vy] = A[vx, vy] * 2
        for j in range(4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi * 4 + vj]
)");
  schedule s(f);
  const block_rv copy = s.cache_write(s.block("B"), 0, "global", {s.block("C")});
  CHECK(ir::print(s.get(s.get_loops(copy)[0]).extent) == "20");
  check_meaning(s, f);
}

TEST_CASE("write_at: of a loop whose steps leave holes a guard keeps one step") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
    for i_1 in range(4):
        for i_0 in range(3):
            with T.block("C"):
                vi = T.axis.spatial(3, i_0 * 4 + i_1)
                T.where(i_0 * 4 + i_1 < 3 and i_0 < 1)
                C[vi] = A[vi]
)"));
  const block_rv c = s.block("C");
  const loop_rv i_1 = s.get_loops(c)[0];
  check_refusal(s, "write_at", 5, [&] { s.write_at(i_1, c, 0, "local"); });
}
