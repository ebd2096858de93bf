#include "corpus.hpp"

#include <cmath>
#include <utility>

#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "attention_workloads.hpp"

namespace gpu_corpus {
namespace {

using namespace tilewright;

/// The text with each "{name}" replaced by its value.
ir::function parse(std::string text, const std::vector<std::pair<std::string, int>>& extents) {
  for (const auto& [name, value] : extents) {
    const std::string mark = "{" + name + "}";
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at))
      text.replace(at, mark.size(), std::to_string(value));
  }
  return ir::parse(text);
}

entry make(std::string name, const ir::function& f, const schedule& s) {
  entry out;
  out.name = std::move(name);
  out.written = f;
  out.scheduled = s.function();
  return out;
}

/// Spreads a copy over 256 threads, `lanes` elements each at once.
void fetch(schedule& s, block_rv copy, int lanes) {
  const std::vector<loop_rv> loops = s.get_loops(copy);
  const loop_rv fused = s.fuse(std::vector<loop_rv>(loops.end() - 2, loops.end()));
  const std::vector<loop_rv> parts =
      s.split(fused, std::vector<factor>{infer, factor(16), factor(16), factor(lanes)});
  s.bind(parts[1], "threadIdx.y");
  s.bind(parts[2], "threadIdx.x");
  if (lanes > 1) s.vectorize(parts[3]);
}

/// Blocks of 64 x 64 elements of a product, made by 16 x 16 threads from tiles in shared memory.
void tile_product(schedule& s, const char* name, int lanes) {
  const block_rv product = s.get_block(name);
  const auto loops = s.get_loops(product);
  const auto [i0, i1, i2] = s.split(loops[0], {infer, 16, 4});
  const auto [j0, j1, j2] = s.split(loops[1], {infer, 16, 4});
  const auto [k0, k1] = s.split(loops[2], {infer, 8});
  s.reorder(i0, j0, i1, j1, k0, k1, i2, j2);
  s.bind(i0, "blockIdx.y");
  s.bind(j0, "blockIdx.x");
  s.bind(i1, "threadIdx.y");
  s.bind(j1, "threadIdx.x");
  const block_rv result = s.cache_write(product, 0, "local");
  s.reverse_compute_at(result, j1, true);
  for (int operand : {0, 1}) {
    const block_rv copy = s.cache_read(product, operand, "shared");
    s.compute_at(copy, k0, true);
    fetch(s, copy, operand == 0 ? 1 : lanes);
  }
  s.decompose_reduction(product, k0);
}

/// A reduction of the rows of a matrix over the threads of a block; `at`: the loop that it goes under.
void reduce_row(schedule& s, const char* name, const loop_rv* at, int threads, const char* scope) {
  const block_rv block = s.get_block(name);
  if (at) s.compute_at(block, *at, true);
  if (scope) s.set_scope(block, 0, scope);
  const auto loops = s.get_loops(block);
  const auto [outer, inner] = s.split(loops.back(), {infer, factor(threads)});
  s.bind(inner, "threadIdx.x");
  (void)outer;
}

}  // namespace

entry chain(int n) {
  const ir::function f = parse(R"(
@T.prim_func
def chain(A: T.Buffer(({n},), "float32"), B: T.Buffer(({n},), "float32")):
    for i in range({n}):
        with T.block("B"):
            vi = T.axis.spatial({n}, i)
            B[vi] = T.exp(A[vi]) * T.float32(2) + A[vi]
)",
                               {{"n", n}});
  schedule s(f);
  const auto loops = s.get_loops(s.get_block("B"));
  const auto [i0, i1, i2] = s.split(loops[0], {infer, 256, 4});
  s.bind(i0, "blockIdx.x");
  s.bind(i1, "threadIdx.x");
  s.vectorize(i2);
  entry out = make("chain", f, s);
  out.registers = 32;
  out.operations = 3.0 * n;
  out.bytes = 8.0 * n;
  return out;
}

entry matmul(int m, int n, int k) {
  const ir::function f = parse(R"(
@T.prim_func
def matmul(A: T.Buffer(({m}, {k}), "float32"), B: T.Buffer(({k}, {n}), "float32"), C: T.Buffer(({m}, {n}), "float32")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                               {{"m", m}, {"n", n}, {"k", k}});
  schedule s(f);
  tile_product(s, "C", 2);
  entry out = make("matmul", f, s);
  out.registers = 128;
  out.tolerance = 1e-4;
  out.operations = 2.0 * m * n * k;
  out.bytes = 4.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
  return out;
}

entry matmul_tails(int m, int n, int k) {
  const ir::function f = parse(R"(
@T.prim_func
def matmul_tails(A: T.Buffer(({m}, {k}), "float32"), B: T.Buffer(({k}, {n}), "float32"), D: T.Buffer(({n},), "float32"), C: T.Buffer(({m}, {n}), "float32")):
    P = T.alloc_buffer(({m}, {n}), "float32")
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("P"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                P[vi, vj] = T.float32(0)
            P[vi, vj] = P[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid({m}, {n}):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(P[vi, vj] + D[vj], T.float32(0))
)",
                               {{"m", m}, {"n", n}, {"k", k}});
  schedule s(f);
  tile_product(s, "P", 1);
  s.reverse_compute_inline(s.get_block("C"));
  entry out = make("matmul_tails", f, s);
  out.registers = 168;
  out.tolerance = 1e-4;
  out.operations = 2.0 * m * n * k;
  out.bytes = 4.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
  return out;
}

namespace {

/// A product on tensor cores: blocks of 128 x 256, warps of 64 x 64, 64 bytes of each row a step, three steps
/// copied ahead. A step begins with the last products of the one before it, but of 4 bytes, whose fragments
/// would not fit into registers twice. `rows`: the second operand lies as [k, n], else as [n, k]. `boxes`: blocks of
/// 128 x 128 and 128 bytes of each row, which the device's copy engine brings.
entry by_warps(std::string name, const std::string& in, const std::string& sum, bool rows, int m,
               int n, int k, bool boxes = false) {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer(({m}, {k}), "{in}"), B: T.Buffer({b}, "{in}"), C: T.Buffer(({m}, {n}), "{sum}")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = {zero}
            C[vi, vj] = C[vi, vj] + {left} * {right}
)";
  const auto put = [&](const std::string& mark, const std::string& value) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  };
  const auto wide = [&](const std::string& e) {
    return in == sum ? e : "T.cast(" + e + ", \"" + sum + "\")";
  };
  put("{b}", rows ? "({k}, {n})" : "({n}, {k})");
  put("{left}", wide("A[vi, vk]"));
  put("{right}", wide(rows ? "B[vk, vj]" : "B[vj, vk]"));
  put("{zero}", sum == "int32" ? "0" : "T.float32(0)");
  put("{in}", in);
  put("{sum}", sum);
  put("def main", "def " + name);
  const ir::function f = parse(text, {{"m", m}, {"n", n}, {"k", k}});
  const int bytes = in == "int8" ? 1 : in == "float32" ? 4 : 2;
  const int step = bytes == 1 ? 32 : 16, steps = (boxes ? 128 : 64) / bytes / step;
  schedule s(f);
  const block_rv c = s.get_block("C");
  const auto loops = s.get_loops(c);
  const auto [i0, i1, i2, i3] = s.split(loops[0], {infer, 2, 4, 16});
  const auto [j0, j1, j2, j3] = s.split(loops[1], {infer, boxes ? 2 : 4, 4, 16});
  const auto [k0, k1, k2] = s.split(loops[2], {infer, factor(steps), factor(step)});
  // blocks that begin one after the other stand above each other, and share columns
  const auto [i00, i01] = s.split(i0, {infer, m % 1024 == 0 ? 8 : 1});
  s.reorder(i00, j0, i01, i1, j1, k0, k1, i2, j2, i3, j3, k2);
  s.annotate(s.get_block("root"), "warp_execution", 1);
  s.bind(s.fuse(i00, j0, i01), "blockIdx.x");
  const loop_rv warps = s.fuse(i1, j1);
  s.bind(warps, "threadIdx.y");
  s.write_at(warps, c, 0, "wmma.accumulator");
  for (const int operand : {0, 1}) {
    const block_rv copy = s.read_at(k0, c, operand, "shared.dyn");
    s.annotate(copy, "vector_bytes", 16);
    if (boxes) s.annotate(copy, ir::tensor_copy_note, 1);
  }
  s.read_at(k1, c, 0, "wmma.matrix_a");
  s.read_at(k1, c, 1, "wmma.matrix_b");
  using list = ir::attr::list;
  s.annotate(k1, "software_pipeline_stage", list{0, 0, 1});
  s.annotate(k1, "software_pipeline_order", list{0, 1, 2});
  const bool carried = bytes < 4;
  s.annotate(k0, "software_pipeline_stage", list{0, 0, 3, 3, carried ? 4 : 3});
  s.annotate(k0, "software_pipeline_order", carried ? list{2, 3, 0, 4, 1} : list{0, 1, 2, 3, 4});
  s.annotate(k0, "software_pipeline_async_stages", list{0});
  entry out = make(std::move(name), f, s);
  out.registers = bytes == 4 ? 224 : 248;
  out.tolerance = 1e-4;
  out.operations = 2.0 * m * n * k;
  out.bytes = bytes * (1.0 * m * k + 1.0 * k * n) + 4.0 * m * n;
  return out;
}

}  // namespace

entry tensor_matmul(int m, int n, int k) {
  return by_warps("tensor_matmul", "float16", "float32", true, m, n, k);
}

entry boxed_matmul(int m, int n, int k) {
  return by_warps("boxed_matmul", "float16", "float32", true, m, n, k, true);
}

entry tensor_matmul_tf32(int m, int n, int k) {
  entry out = by_warps("tensor_matmul_tf32", "float32", "float32", false, m, n, k);
  // factors lose the last 13 bits of 24, which adds up like a random walk
  out.tolerance += 2 * 0x1p-11 * std::sqrt(k);
  return out;
}

entry tensor_matmul_s8(int m, int n, int k) {
  return by_warps("tensor_matmul_s8", "int8", "int32", false, m, n, k);
}

entry softmax(int rows, int columns) {
  const ir::function f = parse(R"(
@T.prim_func
def softmax(X: T.Buffer(({m}, {n}), "float32"), Y: T.Buffer(({m}, {n}), "float32")):
    M = T.alloc_buffer(({m},), "float32")
    E = T.alloc_buffer(({m}, {n}), "float32")
    S = T.alloc_buffer(({m},), "float32")
    for i, j in T.grid({m}, {n}):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], X[vi, vj])
    for i, j in T.grid({m}, {n}):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(X[vi, vj] - M[vi])
    for i, j in T.grid({m}, {n}):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vj]
    for i, j in T.grid({m}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = E[vi, vj] / S[vi]
)",
                               {{"m", rows}, {"n", columns}});
  const int threads = columns >= 256 ? 256 : 64;
  schedule s(f);
  s.compute_inline(s.get_block("E"));
  const auto loops = s.get_loops(s.get_block("Y"));
  const auto [outer, inner] = s.split(loops[1], {infer, factor(threads)});
  s.bind(loops[0], "blockIdx.x");
  s.bind(inner, "threadIdx.x");
  reduce_row(s, "S", &loops[0], threads, "shared");
  reduce_row(s, "M", &loops[0], threads, "shared");
  (void)outer;
  entry out = make("softmax", f, s);
  out.registers = 64;
  out.operations = 5.0 * rows * columns;
  out.bytes = 8.0 * rows * columns;
  return out;
}

entry online_softmax(int rows, int columns) {
  const ir::function f = parse(R"script(
@T.prim_func
def online_softmax(X: T.Buffer(({m}, {n}), "float32"), Y: T.Buffer(({m}, {n}), "float32")):
    M = T.alloc_buffer(({m},), "float32")
    S = T.alloc_buffer(({m},), "float32")
    for i, j in T.grid({m}, {n}):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.block_attr({"tilewright.reducer": "T.comm_reducer(lambda m0, s0, m1, s1: (T.max(m0, m1), s0 * T.exp(m0 - T.max(m0, m1)) + s1 * T.exp(m1 - T.max(m0, m1))), [T.float32(-1e38), T.float32(0)])"})
            with T.init():
                M[vi] = T.float32(-1e38)
                S[vi] = T.float32(0)
            m: T.float32 = T.max(M[vi], X[vi, vj])
            s: T.float32 = S[vi] * T.exp(M[vi] - T.max(M[vi], X[vi, vj])) + T.exp(X[vi, vj] - T.max(M[vi], X[vi, vj]))
            M[vi] = m
            S[vi] = s
    for i, j in T.grid({m}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.exp(X[vi, vj] - M[vi]) / S[vi]
)script",
                               {{"m", rows}, {"n", columns}});
  const int threads = columns >= 256 ? 256 : 32;
  schedule s(f);
  const auto loops = s.get_loops(s.get_block("Y"));
  const auto [outer, inner] = s.split(loops[1], {infer, factor(threads)});
  s.bind(loops[0], "blockIdx.x");
  s.bind(inner, "threadIdx.x");
  reduce_row(s, "M", &loops[0], threads, "shared");
  s.set_scope(s.get_block("M"), 1, "shared");
  (void)outer;
  entry out = make("online_softmax", f, s);
  out.registers = 48;
  out.operations = 7.0 * rows * columns;
  out.bytes = 8.0 * rows * columns;
  return out;
}

entry layer_norm(int rows, int columns) {
  const ir::function f = parse(R"(
@T.prim_func
def layer_norm(X: T.Buffer(({m}, {n}), "float32"), G: T.Buffer(({n},), "float32"), B: T.Buffer(({n},), "float32"), Y: T.Buffer(({m}, {n}), "float32")):
    S = T.alloc_buffer(({m},), "float32")
    V = T.alloc_buffer(({m},), "float32")
    for i, j in T.grid({m}, {n}):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vj]
    for i, j in T.grid({m}, {n}):
        with T.block("V"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                V[vi] = T.float32(0)
            V[vi] = V[vi] + (X[vi, vj] - S[vi] / T.float32({n})) * (X[vi, vj] - S[vi] / T.float32({n}))
    for i, j in T.grid({m}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = (X[vi, vj] - S[vi] / T.float32({n})) * T.rsqrt(V[vi] / T.float32({n}) + T.float32(0.00001)) * G[vj] + B[vj]
)",
                               {{"m", rows}, {"n", columns}});
  const int threads = columns >= 256 ? 256 : 64;
  schedule s(f);
  const auto loops = s.get_loops(s.get_block("Y"));
  const auto [outer, inner] = s.split(loops[1], {infer, factor(threads)});
  s.bind(loops[0], "blockIdx.x");
  s.bind(inner, "threadIdx.x");
  reduce_row(s, "V", &loops[0], threads, "shared");
  reduce_row(s, "S", &loops[0], threads, "shared");
  (void)outer;
  entry out = make("layer_norm", f, s);
  out.registers = 64;
  out.operations = 8.0 * rows * columns;
  out.bytes = 8.0 * rows * columns;
  return out;
}

entry row_sums(int rows, int columns) {
  const ir::function f = parse(R"(
@T.prim_func
def row_sums(X: T.Buffer(({m}, {n}), "float32"), Y: T.Buffer(({m},), "float32")):
    for i, j in T.grid({m}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vj]
)",
                               {{"m", rows}, {"n", columns}});
  schedule s(f);
  const block_rv y = s.get_block("Y");
  const auto loops = s.get_loops(y);
  const auto [i0, i1] = s.split(loops[0], {infer, 8});
  s.bind(i0, "blockIdx.x");
  s.bind(i1, "threadIdx.y");
  s.bind(s.split(loops[1], {infer, 32})[1], "threadIdx.x");
  entry out = make("row_sums", f, s);
  out.registers = 48;
  out.operations = 1.0 * rows * columns;
  out.bytes = 4.0 * rows * columns;
  return out;
}

entry column_sums(int rows, int columns) {
  const ir::function f = parse(R"(
@T.prim_func
def column_sums(X: T.Buffer(({m}, {n}), "float32"), Y: T.Buffer(({n},), "float32")):
    for j, i in T.grid({n}, {m}):
        with T.block("Y"):
            vj, vi = T.axis.remap("SR", [j, i])
            with T.init():
                Y[vj] = T.float32(0)
            Y[vj] = Y[vj] + X[vi, vj]
)",
                               {{"m", rows}, {"n", columns}});
  schedule s(f);
  const block_rv y = s.get_block("Y");
  const auto loops = s.get_loops(y);
  const auto [j0, j1] = s.split(loops[0], {infer, 32});
  const auto [i0, i1] = s.split(loops[1], {infer, 8});
  (void)i0;
  s.bind(j0, "blockIdx.x");
  s.bind(j1, "threadIdx.x");
  s.bind(i1, "threadIdx.y");
  entry out = make("column_sums", f, s);
  out.registers = 48;
  out.operations = 1.0 * rows * columns;
  out.bytes = 4.0 * rows * columns;
  return out;
}

entry row_argmax(int rows, int columns) {
  const ir::function f = parse(R"(
@T.prim_func
def row_argmax(X: T.Buffer(({m}, {n}), "float32"), P: T.Buffer(({m},), "int32"), Y: T.Buffer(({m},), "float32")):
    for i, j in T.grid({m}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                P[vi] = -1
                Y[vi] = T.min_value("float32")
            p: T.int32 = T.Select(Y[vi] > X[vi, vj] or Y[vi] == X[vi, vj] and P[vi] < vj, P[vi], vj)
            y: T.float32 = T.Select(Y[vi] > X[vi, vj], Y[vi], X[vi, vj])
            P[vi] = p
            Y[vi] = y
)",
                               {{"m", rows}, {"n", columns}});
  schedule s(f);
  reduce_row(s, "Y", nullptr, 64, nullptr);
  s.bind(s.get_loops(s.get_block("Y"))[0], "blockIdx.x");
  entry out = make("row_argmax", f, s);
  out.registers = 48;
  out.operations = 1.0 * rows * columns;
  out.bytes = 4.0 * rows * columns;
  return out;
}

entry attention(const char* name, int heads, int queries, int keys, int depth) {
  const target::gpu device = target::named_gpu("sm_80");
  entry out{name, gpu_workloads::attention_function({"float16", heads, queries, keys, depth}), {}};
  out.scheduled =
      search::default_schedule(out.written, space::default_gpu(), {&device, 1}, 1).function();
  out.tolerance = 2e-3;  // weights are rounded to 11 bits
  out.operations = 4.0 * heads * queries * keys * depth;
  out.bytes = 2.0 * heads * depth * (3.0 * queries + 2.0 * keys);
  return out;
}

std::vector<entry> small() {
  return {chain(4096),
          matmul(128, 64, 32),
          matmul_tails(70, 50, 37),
          softmax(3, 300),
          online_softmax(3, 300),
          layer_norm(3, 300),
          row_sums(12, 100),
          column_sums(50, 70),
          row_argmax(4, 150),
          tensor_matmul(128, 256, 288),
          tensor_matmul_tf32(128, 256, 80),
          tensor_matmul_s8(128, 256, 576),
          attention("attention", 1, 64, 256, 32),
          attention("attention_tails", 1, 50, 150, 32)};
}

std::vector<entry> large() {
  return {chain(1 << 26),
          matmul(4096, 4096, 4096),
          matmul_tails(1000, 1000, 1000),
          softmax(16384, 4096),
          online_softmax(16384, 4096),
          layer_norm(16384, 4096),
          row_sums(16384, 4096),
          column_sums(16384, 4096),
          row_argmax(16384, 4096),
          tensor_matmul(4096, 4096, 4096),
          tensor_matmul_tf32(4096, 4096, 4096),
          tensor_matmul_s8(4096, 4096, 4096),
          attention("attention", 128, 1024, 1024, 64),
          attention("attention_tails", 128, 1000, 1000, 64)};
}

}  // namespace gpu_corpus
