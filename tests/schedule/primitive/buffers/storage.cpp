#include <tilewright/schedule/primitive/buffers/storage.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* chain = R"(
@T.prim_func
def main(A: T.Buffer((7, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    B = T.alloc_buffer((7, 9), "float32")
    for i, j in T.grid(7, 9):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(7, 9):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";

constexpr const char* with_parts = R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(2, 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            T.writes(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            part = T.match_buffer(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "float32",
                                  strides=(8, 1), offset_factor=1)
            for y, x in T.grid(4, 4):
                part[y, x] = A[vi * 4 + y, vj * 4 + x] + T.float32(3)
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";

const ir::buffer& written(const schedule& s, block_rv b) {
  return s.get(b).block->writes[0].buffer;
}

}  // namespace

TEST_CASE("set_scope: the buffer moves with all its uses, under a name that tells") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  s.set_scope(s.block("B"), 0, "shared.dyn");
  CHECK(written(s, s.block("B"))->scope == "shared.dyn");
  CHECK(written(s, s.block("B"))->name == "B_shared_dyn");
  CHECK(s.get(s.block("C")).block->reads[0].buffer == written(s, s.block("B")));
  check_meaning(s, f);
}

TEST_CASE("set_scope: the same scope changes nothing, not even for a parameter") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  s.set_scope(s.block("B"), 0, "global");
  s.set_scope(s.block("C"), 0, "global");
  CHECK(s.function().body == f.body);
  check_meaning(s, f);
}

TEST_CASE("set_scope and unsafe_set_dtype: matched parts follow") {
  const ir::function f = ir::parse(with_parts);
  schedule s(f);
  const block_rv b = s.block("B");
  s.set_scope(b, 0, "shared");
  CHECK(s.get(b).block->match_buffers[0].buffer->scope == "shared");
  check_meaning(s, f);
  s.unsafe_set_dtype(b, 0, "int32");  // the values are integers, so nothing is lost
  CHECK(s.get(b).block->match_buffers[0].buffer->type == dtype::i32);
  check_meaning(s, f);
}

TEST_CASE("unsafe_set_dtype: stores and loads convert") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  s.unsafe_set_dtype(s.block("B"), 0, "float16");
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((7, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    B = T.alloc_buffer((7, 9), "float16")
    for i, j in T.grid(7, 9):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast("float16", A[vi, vj] * T.float32(2))
    for i, j in T.grid(7, 9):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.Cast("float32", B[vi, vj]) + T.float32(1)
)");
  check_meaning(s, f);  // small integers fit
}

TEST_CASE("unsafe_set_dtype: a sum that reads its own result") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((5, 6), "int32"), D: T.Buffer((5,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for i, k in T.grid(5, 6):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
    for i in range(5):
        with T.block("D"):
            vi = T.axis.spatial(5, i)
            D[vi] = B[vi]
)");
  schedule s(f);
  s.unsafe_set_dtype(s.block("B"), 0, "int64");
  CHECK(written(s, s.block("B"))->type == dtype::i64);
  check_meaning(s, f);
}

TEST_CASE("storage_align: wishes are kept by buffer and axis") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  const block_rv b = s.block("B");
  const auto wishes = [&] { return s.get(b).block->annotations.at("buffer_dim_align"); };
  const auto wish = [](int axis, int factor, int offset) {
    return ir::attr(ir::attr::list{0, axis, factor, offset});
  };
  s.storage_align(b, 0, -2, 16, 8);
  CHECK(wishes() == ir::attr(ir::attr::list{wish(0, 16, 8)}));
  s.storage_align(b, 0, 1, 4);
  s.storage_align(b, 0, 0, 32, 1);
  CHECK(wishes() == ir::attr(ir::attr::list{wish(0, 32, 1), wish(1, 4, 0)}));
  check_meaning(s, f);
}

TEST_CASE("set_scope: requirements by number") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  check_refusal(s, "set_scope", 1, [&] { s.set_scope(b, 0, "test_scope"); });
  check_refusal(s, "set_scope", 1, [&] { s.set_scope(b, 0, ""); });
  check_refusal(s, "set_scope", 2, [&] { s.set_scope(b, 1, "shared"); });
  check_refusal(s, "set_scope", 2, [&] { s.set_scope(b, -1, "shared"); });
  check_refusal(s, "set_scope", 3, [&] { s.set_scope(c, 0, "shared"); });
  schedule parts(ir::parse(with_parts));
  const block_rv out = parts.block("C");
  check_refusal(parts, "set_scope", 3, [&] { parts.set_scope(out, 0, "local"); });
}

TEST_CASE("set_scope: what threads hand to each other does not become private") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,), "float32", scope="shared")
    for t in T.thread_binding(16, thread="threadIdx.x"):
        with T.block("B"):
            v = T.axis.spatial(16, t)
            B[v] = A[v] * T.float32(2)
    for t in T.thread_binding(16, thread="threadIdx.x"):
        with T.block("C"):
            v = T.axis.spatial(16, t)
            C[v] = B[15 - v] + T.float32(1)
)");
  schedule s(f);
  s.set_scope(s.block("B"), 0, "shared.dyn");
  CHECK(written(s, s.block("B"))->scope == "shared.dyn");
}

TEST_CASE("unsafe_set_dtype and storage_align: requirements by number") {
  const ir::function f = ir::parse(chain);
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  check_refusal(s, "unsafe_set_dtype", 1, [&] { s.unsafe_set_dtype(b, 1, "float16"); });
  check_refusal(s, "unsafe_set_dtype", 2, [&] { s.unsafe_set_dtype(b, 0, "floa"); });
  check_refusal(s, "unsafe_set_dtype", 3, [&] { s.unsafe_set_dtype(c, 0, "float16"); });
  check_refusal(s, "storage_align", 1, [&] { s.storage_align(b, 2, 0, 16); });
  check_refusal(s, "storage_align", 2, [&] { s.storage_align(b, 0, 0, 0); });
  check_refusal(s, "storage_align", 2, [&] { s.storage_align(b, 0, 0, -1); });
  check_refusal(s, "storage_align", 3, [&] { s.storage_align(b, 0, 5, 16); });
  check_refusal(s, "storage_align", 3, [&] { s.storage_align(b, 0, -3, 16); });
  check_refusal(s, "storage_align", 4, [&] { s.storage_align(c, 0, 0, 16); });
  s.annotate(b, "buffer_dim_align", ir::attr::list{ir::attr(ir::attr::list{0, 1})});
  check_refusal(s, "storage_align", 5, [&] { s.storage_align(b, 0, 0, 16); });
}

TEST_CASE("set_scope: what each thread has for itself does not become shared") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((1,), "float32", scope="local")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            B[0] = A[vi] * T.float32(2)
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[0]
)"));
  const block_rv b = s.block("B");
  for (const char* shared : {"shared", "shared.fast", "global.slow"})
    check_refusal(s, "set_scope", 5, [&] { s.set_scope(b, 0, shared); });
}

TEST_CASE("set_scope: elements of one thread each may become shared") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8, 4), "float32")):
    B = T.alloc_buffer((8, 4), "float32", scope="local")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for j in range(4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
)");
  schedule s(f);
  s.set_scope(s.block("B"), 0, "shared");
  check_meaning(s, f);
}

TEST_CASE("set_scope: a part of a memory is shared as the memory is") {
  const ir::function f = ir::parse(chain);
  const auto below_threads = [&](const char* scope) {
    schedule s(f);
    const block_rv b = s.block("B"), c = s.block("C");
    s.set_scope(b, 0, scope);
    const std::vector<loop_rv> l = s.get_loops(c);
    s.bind(l[0], "blockIdx.x");
    s.bind(l[1], "threadIdx.x");
    s.compute_at(b, l[1]);
    CHECK(written(s, b)->scope == scope);
    check_meaning(s, f);
    return s.get_loops(b).size();
  };
  CHECK(below_threads("global") == 2);
  CHECK(below_threads("global.slow") == 2);
  CHECK(below_threads("global2") == 2);
  CHECK(below_threads("shared") == 3);  // each thread computes all that they share
  CHECK(below_threads("shared.fast") == 3);
}
