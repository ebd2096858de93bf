#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>

#include "../../script_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;
using stages::indices;
using stages::program;
using stages::reading;

namespace {

std::size_t blocks(schedule& s) { return s.get_child_blocks(s.block("root")).size(); }

}  // namespace

TEST_CASE("reverse_compute_inline: epilogue into the copy of a cache_write") {
  const ir::function f = stages::matmul_bias_relu(7, 6, 5);
  schedule s(f);
  const block_rv c = s.block("C"), e = s.block("E"), d = s.block("D");
  check_refusal(s, "reverse_compute_inline", 3,
                [&] { s.reverse_compute_inline(e); });  // a reduction
  const block_rv copy = s.cache_write(c, 0, "local");
  s.reverse_compute_inline(e);
  s.reverse_compute_inline(d);
  CHECK(blocks(s) == 2);
  CHECK(s.get(copy).block->writes[0].buffer->name == "D");
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: a consumer that takes less guards the producer") {
  const ir::function f = reading(12, 9, [](const ir::expr& i) { return i + 2; });
  schedule s(f);
  const block_rv b = s.block("B");
  s.reverse_compute_inline(s.block("C"));
  CHECK_FALSE(ir::is_true(s.get(b).predicate));
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: transposed and flattened consumers") {
  program p;
  const ir::buffer a = p.input("A", {4, 6}), b = p.temp("B", {4, 6}), c = p.output("C", {24});
  p.map(b, {{"i", 4}, {"j", 6}}, [&](const indices& v) { return ir::load(a, v) * stages::f32(2); });
  p.map(c, {{"i", 24}}, [&](const indices& v) {
    return ir::load(b, {ir::floordiv(v[0], 6), ir::floormod(v[0], 6)}) + stages::f32(1);
  });
  const ir::function f = p.finish();
  schedule s(f);
  s.reverse_compute_inline(s.block("C"));
  CHECK(blocks(s) == 1);
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: a consumer that ends inside of a tile") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((13,), "float32")):
    B = T.alloc_buffer((4, 4))
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi * 4 + vj] * 2.0
    for i in range(13):
        with T.block("C"):
            vi = T.axis.spatial(13, i)
            C[vi] = B[vi // 4, vi % 4] + 1.0
)");
  schedule s(f);
  s.reverse_compute_inline(s.block("C"));
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((13,), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i * 4 + j < 13)
            C[vi * 4 + vj] = A[vi * 4 + vj] * 2.0 + 1.0
)");
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: a producer under the guard of the threads that share its rows") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((48, 8), "int32"), P: T.Buffer((2, 4, 6, 8), "int32"), D: T.Buffer((2, 4, 6, 8), "int32")):
    B = T.alloc_buffer((2, 4, 6, 8), "int32")
    for y in T.thread_binding(4, thread="blockIdx.y"):
        for i, a, b, c in T.grid(24, 2, 2, 2):
            with T.block("B"):
                T.where((a * 2 + b) * 2 + c < 4)
                v0 = T.axis.spatial(48, y // 2 * 24 + i)
                v1 = T.axis.spatial(8, y % 2 * 4 + (a * 4 + b * 2 + c))
                B[v0 // 24, v0 % 24 // 6, v0 % 6, v1] = A[v0, v1] * 2
    for n, h, w, k in T.grid(2, 4, 6, 8):
        with T.block("D"):
            vn, vh, vw, vk = T.axis.remap("SSSS", [n, h, w, k])
            D[vn, vh, vw, vk] = B[vn, vh, vw, vk] + P[vn, vh, vw, vk]
)");
  schedule s(f);
  s.reverse_compute_inline(s.block("D"));
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((48, 8), "int32"), P: T.Buffer((2, 4, 6, 8), "int32"), D: T.Buffer((2, 4, 6, 8), "int32")):
    for y in T.thread_binding(4, thread="blockIdx.y"):
        for i, a, b, c in T.grid(24, 2, 2, 2):
            with T.block("B"):
                T.where((a * 2 + b) * 2 + c < 4)
                v0 = T.axis.spatial(48, y // 2 * 24 + i)
                v1 = T.axis.spatial(8, y % 2 * 4 + (a * 4 + b * 2 + c))
                T.reads(A[v0, v1], P[v0 // 24, v0 // 6 % 4, v0 % 6, v1])
                D[v0 // 24, v0 // 6 % 4, v0 % 6, v1] = A[v0, v1] * 2 + P[v0 // 24, v0 % 24 // 6, v0 % 6, v1]
)");
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: a producer that writes digits of its variables") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 6), "float32"), D: T.Buffer((1, 2, 4, 6), "float32")):
    B = T.alloc_buffer((8, 6))
    C = T.alloc_buffer((2, 4, 6))
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, j, k in T.grid(2, 4, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            C[vi, vj, vk] = B[vi * 4 + vj, vk] + 1.0
    for h, i, j, k in T.grid(1, 2, 4, 6):
        with T.block("D"):
            vh, vi, vj, vk = T.axis.remap("SSSS", [h, i, j, k])
            D[vh, vi, vj, vk] = C[vi, vj, vk]
)");
  schedule s(f);
  s.reverse_compute_inline(s.block("C"));
  s.reverse_compute_inline(s.block("D"));
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((8, 6), "float32"), D: T.Buffer((1, 2, 4, 6), "float32")):
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[0, vi // 4, vi % 4, vj] = A[vi, vj] * 2.0 + 1.0
)");
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: quotient and remainder by a symbolic extent") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m, n), "int32")
    C = T.match_buffer(c, (m * n,), "int32")
    B = T.alloc_buffer((m, n), "int32")
    for i, j in T.grid(m, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i in range(m * n):
        with T.block("C"):
            vi = T.axis.spatial(m * n, i)
            C[vi] = B[vi // n, vi % n] + 1
)"));
  s.reverse_compute_inline(s.block("C"));
  check_program(s, R"(
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m, n), "int32")
    C = T.match_buffer(c, (m * n,), "int32")
    for i, j in T.grid(m, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(0 <= i * n + j and i * n + j < m * n)
            C[vi * n + vj] = A[vi, vj] * 2 + 1
)");
}

TEST_CASE("reverse_compute_inline: several loads of one index tuple") {
  program p;
  const ir::buffer a = p.input("A", {8}), b = p.temp("B", {8}), c = p.output("C", {8});
  p.map(b, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v) + stages::f32(2); });
  p.map(c, {{"i", 8}}, [&](const indices& v) { return ir::load(b, v) * ir::load(b, v); });
  const ir::function f = p.finish();
  schedule s(f);
  s.reverse_compute_inline(s.block("C"));
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: refusals") {
  {  // different indices
    program p;
    const ir::buffer a = p.input("A", {8}), b = p.temp("B", {8}), c = p.output("C", {8});
    p.map(b, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); });
    p.map(c, {{"i", 8}},
          [&](const indices& v) { return ir::load(b, v) + ir::load(b, {7 - v[0]}); });
    schedule s(p.finish());
    const block_rv c_rv = s.block("C");
    check_refusal(s, "reverse_compute_inline", 5, [&] { s.reverse_compute_inline(c_rv); });
  }
  {  // not invertible
    schedule s(reading(8, 8, [](const ir::expr& i) { return ir::floordiv(i, 2); }));
    const block_rv c = s.block("C");
    check_refusal(s, "reverse_compute_inline", 5, [&] { s.reverse_compute_inline(c); });
  }
  {  // two producers
    program p;
    const ir::buffer a = p.input("A", {8}), b = p.temp("B", {8}), d = p.temp("D", {8}),
                     c = p.output("C", {8});
    p.map(b, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); });
    p.map(d, {{"i", 8}}, [&](const indices& v) { return ir::load(a, v); });
    p.map(c, {{"i", 8}}, [&](const indices& v) { return ir::load(b, v) + ir::load(d, v); });
    schedule s(p.finish());
    const block_rv c_rv = s.block("C");
    check_refusal(s, "reverse_compute_inline", 3, [&] { s.reverse_compute_inline(c_rv); });
  }
  {  // the producer makes half of it
    program p;
    const ir::buffer a = p.input("A", {8}), b = p.temp("B", {8}), c = p.output("C", {8});
    p.map(b, {{"i", 4}}, [&](const indices& v) { return ir::load(a, v); });
    p.map(c, {{"i", 8}}, [&](const indices& v) { return ir::load(b, v); });
    schedule s(p.finish());
    const block_rv c_rv = s.block("C");
    check_refusal(s, "reverse_compute_inline", 6, [&] { s.reverse_compute_inline(c_rv); });
  }
  {  // the border of a padding reads nothing of the producer
    program p;
    const ir::buffer a = p.input("A", {6}), b = p.temp("B", {6}), c = p.output("C", {8});
    p.map(b, {{"i", 6}}, [&](const indices& v) { return ir::load(a, v); });
    p.map(c, {{"i", 8}}, [&](const indices& v) {
      const ir::expr at = v[0] - 1;
      return ir::if_then_else(ir::logical_and(ir::ge(at, 0), ir::lt(at, 6)), ir::load(b, {at}),
                              stages::f32(0));
    });
    schedule s(p.finish());
    const block_rv c_rv = s.block("C");
    check_refusal(s, "reverse_compute_inline", 6, [&] { s.reverse_compute_inline(c_rv); });
  }
}

TEST_CASE("reverse_compute_inline: a producer that parallel iterations run again and again") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for o in T.parallel(2):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(8, o * 4 + i)
                C[vi] = B[vi] * 2
)");
  schedule s(f);
  const block_rv c = s.block("C");
  check_refusal(s, "reverse_compute_inline", 0, [&] { s.reverse_compute_inline(c); });
}

TEST_CASE("reverse_compute_inline: loops that leave out a part of the consumer's domain") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] + 1
    for i, j in T.grid(2, 2):
        with T.block("C"):
            vi = T.axis.spatial(6, i * 2 + j)
            C[vi] = B[vi] * 2
)");
  schedule s(f);
  const block_rv c = s.block("C");
  check_refusal(s, "reverse_compute_inline", 4, [&] { s.reverse_compute_inline(c); });
}

TEST_CASE("reverse_compute_inline: a consumer that stores where the producer says") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    I = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("I"):
            vi = T.axis.spatial(8, i)
            I[vi] = 7 - vi
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[I[vi]] = A[vi] + I[vi]
)");
  schedule s(f);
  s.reverse_compute_inline(s.block("C"));
  CHECK(blocks(s) == 1);
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: a guard that loads what the producer writes") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + 1
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            T.where(B[i] < 3)
            D[vi] = A[vi]
)"));
  const block_rv c = s.block("C");
  check_refusal(s, "reverse_compute_inline", 3, [&] { s.reverse_compute_inline(c); });
}

TEST_CASE("reverse_compute_inline: a body that uses a loop") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi]
    for j in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, j)
            D[vi] = X[vi] + j
)"));
  const block_rv d = s.block("D");
  check_refusal(s, "reverse_compute_inline", 2, [&] { s.reverse_compute_inline(d); });
}

TEST_CASE("reverse_compute_inline: values that are overwritten become divisors") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for r in range(2):
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                X[vi] = B[vi]
        for i in range(8):
            with T.block("B"):
                vr, vi = T.axis.remap("OS", [r, i])
                B[vi] = vr + 5
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi] // (X[vi] + T.if_then_else(X[vi] < 5, 0 - X[vi], 0))
)"));
  const block_rv d = s.block("D");
  check_refusal(s, "reverse_compute_inline", 6, [&] { s.reverse_compute_inline(d); });
}

TEST_CASE("reverse_compute_inline: places that fall") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((12, 4), "int32"), C: T.Buffer((12, 4), "int32")):
    B = T.alloc_buffer((12, 4), "int32")
    for i, j in T.grid(12, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(12, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[11 - vi, 3 - vj] + vi
)");
  schedule s(f);
  s.reverse_compute_inline(s.block("C"));
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((12, 4), "int32"), C: T.Buffer((12, 4), "int32")):
    for i, j in T.grid(12, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[11 - vi, 3 - vj] = A[vi, vj] * 2 + (11 - vi)
)");
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: a sum along no axis is made where it is copied to") {
  const auto copied = [](std::string_view value) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((5, 3), "int32"), D: T.Buffer((3, 5), "int32")):
    C = T.alloc_buffer((5, 3), "int32")
    for i, j in T.grid(5, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            with T.init():
                C[vi, vj] = 7
            C[vi, vj] = C[vi, vj] + A[vi, vj] * 2
    for j, i in T.grid(3, 5):
        with T.block("D"):
            vj, vi = T.axis.remap("SS", [j, i])
            D[vj, vi] = <value>
)",
                      {{"<value>", value}});
  };
  const ir::function f = copied("C[vi, vj]");
  schedule s(f);
  s.reverse_compute_inline(s.block("D"));
  check_program(s, R"(@T.prim_func
def main(A: T.Buffer((5, 3), "int32"), D: T.Buffer((3, 5), "int32")):
    for i, j in T.grid(5, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            with T.init():
                D[vj, vi] = 7
            D[vj, vi] = D[vj, vi] + A[vi, vj] * 2
)");
  check_meaning(s, f);
  schedule changed(copied("C[vi, vj] + 1"));  // the init would be counted up, too
  const block_rv d = changed.block("D");
  check_refusal(changed, "reverse_compute_inline", 3, [&] { changed.reverse_compute_inline(d); });
}

TEST_CASE("reverse_compute_inline: into the copy of a write_at, tile by tile") {
  for (const int tile : {4, 6}) {
    CAPTURE(tile);
    const ir::function f = stages::matmul_bias_relu(12, 6, 5);
    schedule s(f);
    const block_rv c = s.block("C");
    const auto i = s.split(s.get_loops(c)[0], {infer, tile});
    const block_rv copy = s.write_at(i[0], c, 0, "local");
    s.reverse_compute_inline(s.block("E"));
    s.reverse_compute_inline(s.block("D"));
    CHECK(blocks(s) == 2);
    CHECK(s.get(copy).block->writes[0].buffer->name == "D");
    check_meaning(s, f);
  }
  const ir::function f = stages::matmul_bias_relu(12, 6, 5);
  schedule s(f);
  const block_rv c = s.block("C"), e = s.block("E");
  s.write_at(s.split(s.get_loops(c)[0], {infer, 5})[0], c, 0, "local");
  check_refusal(s, "reverse_compute_inline", 6, [&] { s.reverse_compute_inline(e); });
}

TEST_CASE("reverse_compute_inline: a consumer that takes less of a copied tile guards its store") {
  const ir::function f = reading(12, 9, [](const ir::expr& i) { return i + 2; });
  schedule s(f);
  const block_rv b = s.block("B");
  const auto i = s.split(s.get_loops(b)[0], {3, 4});
  const block_rv copy = s.write_at(i[0], b, 0, "local");
  s.reverse_compute_inline(s.block("C"));
  CHECK(ir::is_true(s.get(copy).predicate));
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_inline: not into a nest that stores an element twice") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 2), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(2):
        with T.block("B"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi * 4:vi * 4 + 4, 0:2])
            T.writes(B[vi * 4:vi * 4 + 4])
            for x, y in T.grid(4, 2):
                B[vi * 4 + x] = A[vi * 4 + x, y]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + T.float32(1)
)");
  schedule s(f);
  const block_rv c = s.block("C");
  check_refusal(s, "reverse_compute_inline", 3, [&] { s.reverse_compute_inline(c); });
}
