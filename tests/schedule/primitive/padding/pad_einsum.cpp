#include <tilewright/schedule/primitive/padding/pad_einsum.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

#include <string>
#include <vector>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

/// C[i, j] combines A[i, k] and B[k, j] over k.
ir::function program(const std::string& init, const std::string& update) {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 5), "int32"), B: T.Buffer((5, 3), "int32"), C: T.Buffer((7, 3), "int32")):
    for i, j, k in T.grid(7, 3, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = )" +
                   init + "\n            C[vi, vj] = " + update + "\n");
}

ir::function matmul() { return program("0", "C[vi, vj] + A[vi, vk] * B[vk, vj]"); }

void check_refused(schedule s, int requirement, std::vector<std::int64_t> padding) {
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", requirement, [&] { s.pad_einsum(c, padding); });
}

}  // namespace

TEST_CASE("pad_einsum: operands before, the result behind") {
  const ir::function f = matmul();
  schedule s(f);
  s.pad_einsum(s.block("C"), {4, 1, 2});
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((7, 5), "int32"), B: T.Buffer((5, 3), "int32"), C: T.Buffer((7, 3), "int32")):
    A_pad = T.alloc_buffer((8, 6), "int32")
    B_pad = T.alloc_buffer((6, 3), "int32")
    C_pad = T.alloc_buffer((8, 3), "int32")
    for i0, i1 in T.grid(8, 6):
        with T.block("A_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(A[v0, v1])
            A_pad[v0, v1] = T.if_then_else(v0 < 7 and v1 < 5, A[v0, v1], 0)
    for i0, i1 in T.grid(6, 3):
        with T.block("B_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(B[v0, v1])
            B_pad[v0, v1] = T.if_then_else(v0 < 5, B[v0, v1], 0)
    for i, j, k in T.grid(8, 3, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C_pad[vi, vj] = 0
            C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]
    for i0, i1 in T.grid(7, 3):
        with T.block("C_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            C[v0, v1] = C_pad[v0, v1]
)");
  check_meaning(s, f);
}

TEST_CASE("pad_einsum: only what is padded is copied") {
  const ir::function f = matmul();
  for (const std::vector<std::int64_t>& padding :
       {std::vector<std::int64_t>{1, 1, 1}, {7, 3, 5}, {1, 2, 1}, {4, 4, 4}, {1, 1, 8}}) {
    schedule s(f);
    s.pad_einsum(s.block("C"), padding);
    check_meaning(s, f);
  }
  schedule same(f);
  same.pad_einsum(same.block("C"), {7, 1, 5});
  CHECK(ir::equal(same.function(), f));
}

TEST_CASE("pad_einsum: the padding leaves other reducers as they are") {
  const ir::function largest = program("T.min_value(\"int32\")", "T.max(C[vi, vj], A[vi, vk])");
  schedule s(largest);
  s.pad_einsum(s.block("C"), {2, 2, 4});
  check_meaning(s, largest);
  CHECK(s.show().find("-2147483648") != std::string::npos);

  // a sum of differences has no padding that adds nothing on both sides but zero
  const ir::function sums = program("0", "C[vi, vj] + (A[vi, vk] - B[vk, vj])");
  schedule t(sums);
  t.pad_einsum(t.block("C"), {2, 2, 4});
  check_meaning(t, sums);
  // counting steps notices padded ones
  check_refused(schedule(program("0", "C[vi, vj] + (A[vi, vk] + 1)")), 5, {1, 1, 4});
}

TEST_CASE("pad_einsum: channels of windows, which stay as they are") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((11, 5), "int32"), F: T.Buffer((3, 5, 6), "int32"), Y: T.Buffer((5, 6), "int32")):
    for h, k, r, c in T.grid(5, 6, 3, 5):
        with T.block("Y"):
            vh, vk, vr, vc = T.axis.remap("SSRR", [h, k, r, c])
            with T.init():
                Y[vh, vk] = 0
            Y[vh, vk] = Y[vh, vk] + X[vh * 2 + vr, vc] * F[vr, vc, vk]
)");
  schedule s(f);
  const block_rv y = s.block("Y");
  check_refusal(s, "pad_einsum", 2, [&] { s.pad_einsum(y, {4, 1, 1, 1}); });
  const schedule before = s;
  s.pad_einsum(y, {1, 4, 1, 4});
  CHECK(s.get(y).block->iters[1].dom.extent->integer == 8);
  CHECK(s.get(y).block->iters[3].dom.extent->integer == 8);
  check_schedule(s, f);
  const std::optional<schedule_error> tvm =
      primitive::tvm_refusal(before.state(), *s.trace().steps().back().what);
  REQUIRE(tvm);
  CHECK(tvm->requirement() == 2);
}

TEST_CASE("pad_einsum: windows that a guard keeps inside may leave it in the padding") {
  schedule s(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((10, 5), "int32"), Y: T.Buffer((9, 5), "int32")):
    for h, c in T.grid(9, 5):
        with T.block("Y"):
            vh, vc = T.axis.remap("SS", [h, c])
            Y[vh, vc] = T.if_then_else(vh + vc < 8, X[vh + 2, vc], 0)
)"));
  const block_rv y = s.block("Y");
  check_refusal(s, "pad_einsum", 2, [&] { s.pad_einsum(y, {1, 4}); });
}

TEST_CASE("pad_einsum: symbolic extents") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(a: T.handle, B: T.Buffer((5, 3), "int32"), c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 5), "int32")
    C = T.match_buffer(c, (n, 3), "int32")
    for i, j, k in T.grid(n, 3, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  schedule s(f);
  s.pad_einsum(s.block("C"), {4, 1, 2});
  check_program(s, R"(@T.prim_func
def main(a: T.handle, B: T.Buffer((5, 3), "int32"), c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 5), "int32")
    C = T.match_buffer(c, (n, 3), "int32")
    A_pad = T.alloc_buffer(((n + 3) // 4 * 4, 6), "int32")
    B_pad = T.alloc_buffer((6, 3), "int32")
    C_pad = T.alloc_buffer(((n + 3) // 4 * 4, 3), "int32")
    for i0, i1 in T.grid((n + 3) // 4 * 4, 6):
        with T.block("A_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(A[v0, v1])
            A_pad[v0, v1] = T.if_then_else(v0 < n and v1 < 5, A[v0, v1], 0)
    for i0, i1 in T.grid(6, 3):
        with T.block("B_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(B[v0, v1])
            B_pad[v0, v1] = T.if_then_else(v0 < 5, B[v0, v1], 0)
    for i, j, k in T.grid((n + 3) // 4 * 4, 3, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C_pad[vi, vj] = 0
            C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]
    for i0, i1 in T.grid(n, 3):
        with T.block("C_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            C[v0, v1] = C_pad[v0, v1]
)");
  for (const std::int64_t n : {1, 4, 7}) check_meaning(s, f, {{"n", n}});
  // a tail that a guard cuts is not all visited
  schedule split(f);
  const block_rv c = split.block("C");
  split.split(split.get_loops(c)[0], {infer, 4});
  check_refusal(split, "pad_einsum", 4, [&] { split.pad_einsum(c, {4, 1, 1}); });
}

TEST_CASE("pad_einsum: loops that do not drive a variable alone stay") {
  const ir::function f = matmul();
  schedule s(f);
  const block_rv c = s.block("C");
  s.split(s.get_loops(c)[0], {infer, 2});
  s.pad_einsum(c, {4, 2, 1});
  check_meaning(s, f);
}

TEST_CASE("pad_einsum: refusals") {
  // the start of a sum is read beside the buffer's end where the result is padded
  check_refused(schedule(program("A[vi, 0]", "C[vi, vj] + A[vi, vk] * B[vk, vj]")), 2, {4, 1, 1});
  check_refused(schedule(matmul()), 1, {4, 4});
  check_refused(schedule(matmul()), 1, {4, 0, 1});
  check_refused(schedule(program("0", "C[vi, vj] + A[vi, vk] * A[vi, 4 - vk]")), 2, {1, 1, 2});
  check_refused(schedule(program("0", "C[vi, vj] + A[vi, vk] // B[vk, vj]")), 5, {4, 1, 1});
  schedule moved(matmul());
  const block_rv copy = moved.cache_write(moved.block("C"), 0, "global");
  moved.reverse_compute_at(copy, moved.get_loops(moved.block("C"))[0]);
  check_refused(std::move(moved), 4, {1, 2, 1});
}

TEST_CASE("pad_einsum: a block has the name of the padded result") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 6), "int32"), B: T.Buffer((6, 7), "int32"), C: T.Buffer((5, 7), "int32"), D: T.Buffer((5,), "int32")):
    for i, j, k in T.grid(5, 7, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i in range(5):
        with T.block("C_pad"):
            vi = T.axis.spatial(5, i)
            D[vi] = A[vi, 0]
)");
  schedule s(f);
  s.apply(*find_instruction_kind("pad_einsum"),
          {rv(s.block("C")), std::vector<std::int64_t>{4, 4, 4}});
  check_meaning(s, f);
}

TEST_CASE("pad_einsum: a buffer with a dot in its name") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 6), "int32"), C: T.Buffer((5,), "int32")):
    for i, k in T.grid(5, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  s.apply(*find_instruction_kind("rfactor"), {rv(s.get_loops(c)[1]), std::int64_t{0}});
  try {
    s.apply(*find_instruction_kind("pad_einsum"), {rv(c), std::vector<std::int64_t>{4, 4}});
  } catch (const schedule_error&) {
    return;  // refusing is fine; what counts is that the search for a name ends
  }
  check_meaning(s, f);
  // padding that loops do not visit cannot be padded again
  schedule split(matmul());
  split.split(split.get_loops(split.block("C"))[0], {infer, 7});
  split.pad_einsum(split.block("C"), {4, 1, 1});
  check_refused(std::move(split), 4, {3, 1, 1});
}

TEST_CASE("pad_einsum: an operand that occurs twice at one place is padded once") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((5, 11), "float32"), C: T.Buffer((5,), "float32")):
    for i, k in T.grid(5, 11):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk] * A[vi, vk]
)");
  schedule s(f);
  s.pad_einsum(s.block("C"), {4, 8});
  CHECK(s.show().find("A_pad = T.alloc_buffer((8, 16)") != std::string::npos);
  CHECK(s.show().find("A_pad_1") == std::string::npos);
  check_meaning(s, f);
}

TEST_CASE("pad_einsum: padding that a guard hides cannot be padded again") {
  schedule s(matmul());
  s.split(s.get_loops(s.block("C"))[0], {infer, 4});
  s.pad_einsum(s.block("C"), {2, 1, 1});
  check_refused(std::move(s), 4, {3, 1, 1});
}

TEST_CASE("pad_einsum: two buffers of one name get two names") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5, 6), "int32"), C: T.Buffer((5,), "int32")):
    for i, k in T.grid(5, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)");
  schedule s(f);
  s.rfactor(s.get_loops(s.block("C"))[1], 0);
  s.rfactor(s.get_loops(s.block("C"))[1], 0);  // its partial results are of the same name
  const block_rv c = s.block("C_rf_1");
  s.pad_einsum(c, std::vector<std::int64_t>(s.get(c).block->iters.size(), 4));
  check_meaning(s, f);
}

TEST_CASE("pad_einsum: a result whose padding no loop visits cannot be an operand as a whole") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 6), "int32"), B: T.Buffer((4, 6), "int32"), C: T.Buffer((8, 4), "int32")):
    for i, outer, inner, k in T.grid(8, 1, 4, 6):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.spatial(4, outer * 4 + inner)
            vk = T.axis.reduce(6, k)
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
)"));
  s.pad_einsum(s.block("C"), {4, 3, 2});
  const block_rv out = s.block("C_pad");
  check_refusal(s, "pad_einsum", 5, [&] { s.pad_einsum(out, {3, 2}); });
}

TEST_CASE("pad_einsum: steps of a reduction that read nothing padded are not repeated") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi]
)"));
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", 5, [&] { s.pad_einsum(c, {1, 2}); });
}

TEST_CASE("pad_einsum: one of two reduce variables may be in its padding alone") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 3), "int32"), B: T.Buffer((5,), "int32"), C: T.Buffer((8,), "int32"),
         D: T.Buffer((8,), "int32")):
    for i, k, l in T.grid(8, 3, 5):
        with T.block("C"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + (A[vi, vk] + B[vl])
    for i, k, l in T.grid(8, 3, 5):
        with T.block("D"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            with T.init():
                D[vi] = 0
            D[vi] = D[vi] + A[vi, vk] * B[vl]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", 5, [&] { s.pad_einsum(c, {1, 2, 4}); });
  s.pad_einsum(s.block("D"), {1, 2, 4});
  check_meaning(s, f);
}

TEST_CASE("pad_einsum: what a guard keeps from being read is not read in the padding either") {
  // as the layout of a buffer of one element leaves the read before it
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((1, 1), "float32"), C: T.Buffer((1,), "float32")):
    for i in range(1):
        with T.block("C"):
            vi = T.axis.spatial(1, i)
            C[vi] = T.if_then_else(vi - 1 >= 0, A[-1, 0], T.float32(0))
)"));
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", 2, [&] { s.pad_einsum(c, {2}); });
}

TEST_CASE("pad_einsum: a triangle is no einsum") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), B: T.Buffer((6, 6), "int32")):
    C = T.alloc_buffer((6, 6), "int32")
    for i in range(6):
        for j in range(i + 1):
            with T.block("C"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                C[vi, vj] = A[vi, vj]
    for i in range(6):
        for j in range(i + 1):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = C[vi, vj]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", 4, [&] { s.pad_einsum(c, {4, 4}); });
}

TEST_CASE("pad_einsum: 0 times what the padding makes of other factors must be 0") {
  for (const std::string factor :
       {"(T.float32(1) / B[vk, vj])", "T.float32(\"inf\")", "T.exp(B[vk, vj] + T.float32(100))",
        "T.sqrt(B[vk, vj] - T.float32(1))"}) {
    CAPTURE(factor);
    schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 9), "float32"), B: T.Buffer((9, 5), "float32"), C: T.Buffer((7, 5), "float32")):
    for i, j, k in T.grid(7, 5, 9):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * )" +
                         factor));
    const block_rv c = s.block("C");
    check_refusal(s, "pad_einsum", 5, [&] { s.pad_einsum(c, {4, 4, 4}); });
  }
}

TEST_CASE("pad_einsum: memory of the threads of the nest") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((7, 9), "int32"), B: T.Buffer((9, 5), "int32"), D: T.Buffer((7, 5), "int32")):
    C = T.alloc_buffer((7, 5), "int32", scope="local")
    for i in T.thread_binding(7, thread="threadIdx.x"):
        for j, k in T.grid(5, 9):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i in T.thread_binding(7, thread="threadIdx.x"):
        for j in range(5):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vi, vj]
)"));
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", 4, [&] { s.pad_einsum(c, {4, 4, 4}); });
}

TEST_CASE("pad_einsum: a result of which the block writes a part") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((10, 8), "int32"), B: T.Buffer((8, 20), "int32"), C: T.Buffer((10, 20), "int32")):
    for i, j, k in T.grid(10, 10, 8):
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            vj = T.axis.spatial(10, j)
            vk = T.axis.reduce(8, k)
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"));
  const block_rv c = s.block("C");
  check_refusal(s, "pad_einsum", 4, [&] { s.pad_einsum(c, {4, 1, 1}); });
}

TEST_CASE("pad_einsum: padded loops load no value beyond the end") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((1, 5), "int32"), I: T.Buffer((3,), "int32"), B: T.Buffer((3, 5), "int32")):
    for i, j in T.grid(3, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            vm = T.axis.spatial(1, I[i])
            T.reads(A[vm, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vm, vj]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  check_refusal(s, "pad_einsum", 4, [&] { s.pad_einsum(b, {2, 1, 1}); });
}

TEST_CASE("pad_einsum: padded steps of operands in a narrower type") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3, 7), "float16"), B: T.Buffer((7, 5), "float16"), C: T.Buffer((3, 5), "float32")):
    for i, j, k in T.grid(3, 5, 7):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])
)");
  schedule s(f);
  s.pad_einsum(s.block("C"), {1, 1, 4});
  CHECK(s.get(s.block("C")).block->iters[2].dom.extent->integer == 8);
  check_schedule(s, f);
}
