#include <tilewright/impl/dependence/binding/domain_inference.hpp>

#include "../loop_extents.hpp"
#include "../script_schedule.hpp"

using namespace tilewright;
using nests::extents;
using nests::guarded;
using nests::sizes;

namespace {

/// B = 2 A, of which each row of C adds up a part that `run` says.
ir::function sums_of(const std::string& run) {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), N: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * 2
    for i in range(8):
        with T.block("N"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(N[vi])
            N[vi] = A[vi] & 7
    for i in range(8):
        for j in )" +
                   run +
                   R"(:
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.reduce(8, j)
                T.reads(B[vj])
                T.writes(C[vi])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[vj]
)");
}

}  // namespace

TEST_CASE("infer_domain: where data says how much is needed, it is no more than there is") {
  struct {
    const char* run;
    std::int64_t computed;
  } const cases[] = {{"range(1 + N[i])", 8},
                     {"range(N[i] // 8, 2 + N[i] // 4)", 8},
                     {"range(1 + N[i] % 4)", 4},
                     {"range(1 + N[i] % 16)", 8}};
  for (const auto& c : cases) {
    INFO(c.run);
    const ir::function f = sums_of(c.run);
    schedule s(f);
    const block_rv b = s.block("B");
    s.compute_at(b, s.get_loops(s.block("C"))[0]);
    CHECK(extents(s, b) == sizes{8, c.computed});
    CHECK_FALSE(guarded(s, b));
    check_meaning(s, f);
  }
}

TEST_CASE(
    "infer_domain: a block that leaves values out moves only where it is known which it runs") {
  const auto program =
      [](int count, const char* value, const char* place) {
        const std::string v = value, p = place;
        return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range()" + std::to_string(count) +
                         R"():
        with T.block("B"):
            vi = T.axis.spatial(8, )" +
                         v + R"()
            T.reads(A[vi])
            T.writes(B[)" +
                         p + R"(])
            B[)" + p + R"(] = A[vi] * 2
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.reads(B[vi * 2])
            T.writes(C[vi])
            C[vi] = B[vi * 2]
)");
      };
  const auto move = [](schedule& s) { s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0]); };
  {
    const ir::function f = program(4, "i * 2", "vi");  // where it is needed tells vi
    schedule s(f);
    move(s);
    CHECK(extents(s, s.block("B")) == sizes{4});
    check_meaning(s, f);
  }
  {
    const ir::function f = program(8, "i", "vi * 3 % 8");  // all of them will do
    schedule s(f);
    move(s);
    CHECK(extents(s, s.block("B")) == sizes{4, 8});
    check_meaning(s, f);
  }
  const ir::function f = program(4, "i * 2", "vi * 3 % 8");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  const loop_rv i = s.get_loops(c)[0];
  check_refusal(s, "compute_at", 1, [&] { s.compute_at(b, i); });
  check_schedule(s, f);
}

TEST_CASE("infer_domain: guards by numbers stay beside symbolic ends of domains") {
  const auto program =
      [](const char* guard, const char* value, const char* of_c) {
        return ir::parse(std::string(R"(@T.prim_func
def main(a: T.handle, c: T.handle, I: T.Buffer((3,), "int32")):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    C = T.match_buffer(c, (n,), "int32")
    B = T.alloc_buffer((n,), "int32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            T.where()") + guard +
                         R"()
            B[vi] = )" + value +
                         R"(
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = )" + of_c +
                         "\n");
      };
  const auto check = [](const ir::function& f) {
    schedule s(f);
    s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0]);
    for (const std::int64_t n : {3, 8, 16}) check_meaning(s, f, {{"n", n}});
  };
  check(program("4 <= i", "A[vi - 4]", "T.if_then_else(4 <= vi, B[vi], 0)"));
  check(program("4 <= i", "A[vi - 4]",
                "T.if_then_else(4 <= vi, B[T.min(4 + (I[0] + 16) % 4, n - 1)], 0)"));
  check(program("i < 10", "A[vi]", "T.if_then_else(vi + 2 < T.min(n, 10), B[vi] + B[vi + 2], 0)"));
}

TEST_CASE("infer_domain: variables of blocks around stand, and say which part runs") {
  const auto program = [](const char* place) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12,), "int32"), C: T.Buffer((10,), "int32")):
    for i in range(5):
        with T.block("O"):
            vo = T.axis.spatial(5, i)
            T.reads(A[vo * 2:vo * 2 + 4])
            T.writes(C[vo * 2:vo * 2 + 2])
            B = T.alloc_buffer((4,), "int32")
            for a in range(4):
                with T.block("B"):
                    va = T.axis.spatial(12, vo * 2 + a)
                    B[)" +
                     std::string(place) +
                     R"(] = A[va] + 1
            for a in range(2):
                with T.block("C"):
                    va = T.axis.spatial(2, a)
                    C[vo * 2 + va] = B[va] * B[va + 1]
)");
  };
  const ir::function f = program("va - vo * 2");
  schedule s(f);
  s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0]);
  CHECK(extents(s, s.block("B")) == sizes{2, 2});
  check_meaning(s, f);
  const ir::function mixed = program("(va - vo * 2) * 3 % 4");  // which are needed is not known
  schedule all(mixed);
  all.compute_at(all.block("B"), all.get_loops(all.block("C"))[0]);
  CHECK(extents(all, all.block("B")) == sizes{2, 4});
  CHECK_FALSE(guarded(all, all.block("B")));
  check_meaning(all, mixed);
}

TEST_CASE("infer_domain: instances that blocks around leave out do not run for a larger box") {
  const auto program = [](const char* reads) {
    return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12,), "int32"), C: T.Buffer((12,), "int32")):
    X = T.alloc_buffer((12,), "int32")
    for i in range(12):
        with T.block("X"):
            vi = T.axis.spatial(12, i)
            X[vi] = A[vi] * 2
    for i in range(3):
        with T.block("O"):
            vo = T.axis.spatial(3, i)
            T.reads(X[vo * 4:vo * 4 + 4])
            T.writes(C[vo * 4:vo * 4 + 4])
            B = T.alloc_buffer((12,), "int32")
            for j in range(4):
                with T.block("B"):
                    vj = T.axis.spatial(12, vo * 4 + j)
                    B[vj] = X[vj] + 1
            for j in range(4):
                with T.block("C"):
                    vj = T.axis.spatial(4, j)
                    T.reads(B[)" +
                     std::string(reads) + R"(])
                    T.writes(C[vo * 4 + vj])
                    C[vo * 4 + vj] = B[vo * 4 + vj] + B[vo * 4 + T.max(vj - 1, 0)]
)");
  };
  const ir::function f = program("vo * 4 - 6:vo * 4 + 10");
  schedule s(f);
  s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0]);
  CHECK(extents(s, s.block("B")) == sizes{4, 4});
  s.compute_at(s.block("X"), s.get_loops(s.block("O"))[0]);
  check_meaning(s, f);
  schedule edge(program("vo * 4 + vj - 1:vo * 4 + vj + 1"));  // B[vo * 4 - 1] is none of the part's
  const block_rv b = edge.block("B"), c = edge.block("C");
  const loop_rv j = edge.get_loops(c)[0];
  check_refusal(edge, "compute_at", 1, [&] { edge.compute_at(b, j); });
}

TEST_CASE("infer_domain: quotients of what is a constant apart are about as far apart") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * 2
    for h, k, s in T.grid(4, 4, 2):
        with T.block("C"):
            vh = T.axis.spatial(8, h * 2 + s)
            vk = T.axis.reduce(4, k)
            with T.init():
                C[vh] = 0
            C[vh] = C[vh] + B[(vh + vk) // 2]
)");
  schedule s(f);
  s.compute_at(s.block("B"), s.get_loops(s.block("C"))[1]);
  CHECK(extents(s, s.block("B")) == sizes{4, 4, 2});  // B[h + k // 2] and B[h + (k + 1) // 2]
  CHECK_FALSE(guarded(s, s.block("B")));
  check_meaning(s, f);
}

TEST_CASE("infer_domain: a guard at the last of the parts that blocks around say stays") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((10,), "int32"), C: T.Buffer((10,), "int32")):
    for i in range(3):
        with T.block("O"):
            vo = T.axis.spatial(3, i)
            T.reads(A[vo * 4:vo * 4 + 4])
            T.writes(C[vo * 4:vo * 4 + 4])
            B = T.alloc_buffer((10,), "int32")
            for a in range(4):
                with T.block("B"):
                    va = T.axis.spatial(10, vo * 4 + a)
                    T.where(vo * 4 + a < 10)
                    B[va] = A[va] + 1
            for a in range(4):
                with T.block("C"):
                    va = T.axis.spatial(10, vo * 4 + a)
                    T.where(vo * 4 + a < 10)
                    C[va] = B[va] * 2
)");
  schedule s(f);
  s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0]);
  CHECK(guarded(s, s.block("B")));
  check_meaning(s, f);
}

TEST_CASE("infer_domain: a quotient by a symbolic extent stays in a domain of constant length") {
  schedule s(ir::parse(R"(@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (6, n), "int32")
    C = T.match_buffer(c, (6, n), "int32")
    B = T.alloc_buffer((6, n), "int32")
    for i, j in T.grid(6, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for f in range(6 * n):
        with T.block("C"):
            vi = T.axis.spatial(6, f // n)
            vj = T.axis.spatial(n, f % n)
            C[vi, vj] = B[vi, vj] + 1
)"));
  const block_rv b = s.block("B");
  s.compute_at(b, s.get_loops(s.block("C"))[0]);
  CHECK_FALSE(guarded(s, b));
}
