// Estimates for GPUs: orders that anybody who has programmed one would give.
#include <tilewright/impl/cost/gpu/gpu_estimate.hpp>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <string>
#include <vector>

using namespace tilewright;

namespace {

const target::gpu& hopper() {
  static const target::gpu out = target::named_gpu("sm_90a");
  return out;
}

double seconds(const ir::function& f) { return cost::detail::gpu_seconds(f, hopper()); }

/// A copy of 4096 x 4096 elements.
/// @param loops over bx, tx and possibly r, which `row` and `column` are made of
ir::function copy(const std::string& loops, const std::string& row, const std::string& column) {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((4096, 4096), "float32"), B: T.Buffer((4096, 4096), "float32")):
)";
  std::string indent = "    ";
  for (std::size_t at = 0; at < loops.size();) {
    const std::size_t end = loops.find('\n', at);
    text += indent + loops.substr(at, end - at) + "\n";
    indent += "    ";
    at = end == loops.npos ? loops.size() : end + 1;
  }
  return ir::parse(text + indent + "B[" + row + ", " + column + "] = A[" + row + ", " + column +
                   "]\n");
}

std::string bound(const char* name, int extent, const char* axis) {
  return std::string("for ") + name + " in T.thread_binding(" + std::to_string(extent) +
         ", thread=\"" + axis + "\"):";
}

ir::function product(int extent) {
  const std::string n = std::to_string(extent);
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer(()" +
                   n + ", " + n + R"(), "float32"), B: T.Buffer(()" + n + ", " + n +
                   R"(), "float32"), C: T.Buffer(()" + n + ", " + n + R"(), "float32")):
    for i, j, k in T.grid()" +
                   n + ", " + n + ", " + n + R"():
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

/// A thread to each element of the result.
schedule plain(const ir::function& f, int threads) {
  schedule s(f);
  const std::vector<loop_rv> l = s.get_loops(s.get_block("C"));
  const auto [block, thread] = s.split(s.fuse(l[0], l[1]), {infer, threads});
  s.bind(block, "blockIdx.x");
  s.bind(thread, "threadIdx.x");
  return s;
}

}  // namespace

TEST_CASE("gpu_estimate: lanes that read next to each other are faster, and so are many blocks") {
  const std::string rows = bound("bx", 4096, "blockIdx.x") + "\n" +
                           bound("tx", 256, "threadIdx.x") + "\nfor r in range(16):";
  const ir::function beside = copy(rows, "bx", "r * 256 + tx");
  const ir::function apart = copy(rows, "bx", "tx * 16 + r");
  const ir::function down = copy(rows, "r * 256 + tx", "bx");
  const ir::function few =
      copy(bound("bx", 8, "blockIdx.x") + "\n" + bound("tx", 256, "threadIdx.x") +
               "\nfor q in range(512):\nfor r in range(16):",
           "bx * 512 + q", "r * 256 + tx");
  const ir::function lonely = copy(bound("bx", 4096, "blockIdx.x") + "\n" +
                                       bound("tx", 1, "threadIdx.x") + "\nfor r in range(4096):",
                                   "bx + tx", "r");
  CHECK(seconds(beside) < seconds(apart));
  CHECK(seconds(beside) < 0.5 * seconds(down));
  CHECK(seconds(beside) < 0.2 * seconds(few));
  CHECK(seconds(beside) < 0.2 * seconds(lonely));
  // an H200 copies 128 MiB in 32 us
  CHECK(seconds(beside) > 16e-6);
  CHECK(seconds(beside) < 96e-6);
}

TEST_CASE(
    "gpu_estimate: products gain from tiles, and lose by too many registers or too few threads") {
  const ir::function f = product(2048);
  const schedule tiled = search::default_schedule(f, space::default_gpu(), {&hopper(), 1}, 1);
  const double fast = seconds(tiled.function());
  CHECK(fast < 0.3 * seconds(plain(f, 256).function()));
  CHECK(seconds(plain(f, 256).function()) < seconds(plain(f, 8).function()));
  // 2 * 2048^3 operations, of which the device does 6e13 a second
  CHECK(fast > 0.2e-3);
  CHECK(fast < 2e-3);
  schedule greedy(f);  // 32 x 32 results to a thread
  const std::vector<loop_rv> l = greedy.get_loops(greedy.get_block("C"));
  const auto [i0, i1] = greedy.split(l[0], {infer, 32});
  const auto [j0, j1] = greedy.split(l[1], {infer, 32});
  greedy.reorder(i0, j0, l[2], i1, j1);
  greedy.bind(i0, "blockIdx.x");
  greedy.bind(j0, "threadIdx.x");
  greedy.reverse_compute_at(greedy.cache_write(greedy.get_block("C"), 0, "local"), j0, true);
  CHECK(fast < 0.5 * seconds(greedy.function()));
}

TEST_CASE("gpu_estimate: tensor cores are faster than what does the same without them") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((2048, 2048), "float16"), B: T.Buffer((2048, 2048), "float16"), C: T.Buffer((2048, 2048), "float32")):
    for i, j, k in T.grid(2048, 2048, 2048):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])
)");
  const space::context where{&hopper(), 1};
  double with = 1, without = 1;
  for (const schedule& s : space::default_gpu().sketches(f, where, 3)) {
    const std::string trace = s.trace().print();
    if (trace.find("wgmma") != std::string::npos) continue;  // a family of its own
    double& least = trace.find("wmma") != std::string::npos ? with : without;
    least = std::min(least, seconds(s.function()));
  }
  CHECK(with < 0.5 * without);
  // an H200 takes 345 us for 4096, an eighth of it in a product of half the extents
  CHECK(with > 0.3 * 345e-6 / 8);
  CHECK(with < 3 * 345e-6 / 8);
}

TEST_CASE("gpu_estimate: a model that scores by the time, and learns nothing") {
  cost::gpu_estimate model(hopper());
  const ir::function f = product(512);
  const ir::function slow = plain(f, 8).function(), fast = plain(f, 256).function();
  const std::vector<cost::sample> both{{&slow, ir::workload_key(slow), {}},
                                       {&fast, ir::workload_key(fast), {}}};
  const std::vector<double> scores = model.predict(both);
  CHECK(scores[0] == 0);
  CHECK(scores[1] == doctest::Approx(std::log(seconds(slow) / seconds(fast))));
  model.update(both);
  CHECK(model.predict(both) == scores);
  cost::gpu_estimate other(hopper());
  other.load(model.save());
  CHECK(other.predict(both) == scores);
  CHECK_THROWS_AS(other.load("trees"), argument_error);
}

namespace {

/// Sums of the rows of a matrix; `parts`: 0 for a block to a row, else so many blocks add to each.
schedule row_sums(int rows, int columns, int parts, int threads = 256) {
  const std::string m = std::to_string(rows), n = std::to_string(columns);
  schedule s(ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + m + ", " + n +
                       "), \"float32\"), C: T.Buffer((" + m +
                       ",), \"float32\")):\n    for i, k in T.grid(" + m + ", " + n + R"():
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)"));
  const block_rv sums = s.get_block("C");
  if (parts == 0) {
    const std::vector<loop_rv> loops = s.get_loops(sums);
    const auto [outer, inner] = s.split(loops[1], {infer, threads});
    (void)outer;
    s.bind(loops[0], "blockIdx.x");
    s.bind(inner, "threadIdx.x");
    return s;
  }
  s.decompose_reduction(sums, s.get_loops(sums)[0]);
  s.add_atomically(sums);
  const std::vector<loop_rv> loops = s.get_loops(sums);
  const auto [part, rest, inner] = s.split(loops[1], {parts, infer, threads});
  s.reorder({part, loops[0], rest, inner});
  s.bind(part, "blockIdx.y");
  s.bind(loops[0], "blockIdx.x");
  s.bind(inner, "threadIdx.x");
  return s;
}

/// Counts of what falls into each of so many elements; a thread to each value, or to so many of them.
ir::function counts(int elements, int each) {
  const std::string whole = std::to_string(each * 65536 * 256), many = std::to_string(elements);
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + whole +
                   ",), \"float32\"), C: T.Buffer((" + many +
                   R"(,), "float32")):
    for b in T.thread_binding(65536, thread="blockIdx.x"):
        for t in T.thread_binding(256, thread="threadIdx.x"):
            for r in range()" +
                   std::to_string(each) + R"():
                with T.block("C"):
                    vi = T.axis.spatial()" +
                   many + ", (b * 256 + t) % " + many + R"()
                    vr = T.axis.reduce()" +
                   whole + ", (b * 256 + t) * " + std::to_string(each) + R"( + r)
                    T.block_attr({"tilewright.atomic": 1})
                    C[vi] = C[vi] + A[vr]
)");
}

/// Two kernels of so many blocks that do not wait for each other.
ir::function two(int blocks, int other, bool fused) {
  const auto copy = [](const std::string& to, const std::string& from, int many) {
    const std::string n = std::to_string(many * 256);
    return "    for i in T.thread_binding(" + std::to_string(many) +
           ", thread=\"blockIdx.x\"):\n        for j in T.thread_binding(256, "
           "thread=\"threadIdx.x\"):\n"
           "            with T.block(\"" +
           to + "\"):\n                vi = T.axis.spatial(" + n +
           ", i * 256 + j)\n                " + to + "[vi] = T.exp(" + from + "[vi])\n";
  };
  const auto buffer = [](const char* name, int many) {
    return std::string(name) + ": T.Buffer((" + std::to_string(many * 256) + ",), \"float32\")";
  };
  return ir::parse(
      "@T.prim_func\ndef main(" + buffer("A", blocks) + ", " + buffer("B", blocks) + ", " +
      buffer("C", other) + ", " + buffer("D", other) +
      "):\n    with T.block(\"root\"):\n        T.block_attr({\"tilewright.horizontal_fuse\": " +
      (fused ? "1" : "0") + "})\n" + [&] {
        std::string out;
        const std::string text = copy("B", "A", blocks) + copy("D", "C", other);
        for (std::size_t at = 0; at < text.size();) {
          const std::size_t end = text.find('\n', at) + 1;
          out += "    " + text.substr(at, end - at);
          at = end;
        }
        return out;
      }());
}

}  // namespace

TEST_CASE("gpu_estimate: additions to few elements wait for each other, those to many do not") {
  CHECK(seconds(counts(1, 1)) > 20 * seconds(counts(1 << 20, 1)));
  CHECK(seconds(counts(64, 1)) > 2 * seconds(counts(1 << 20, 1)));
  CHECK(seconds(counts(64, 1)) < seconds(counts(1, 1)));
  // what a thread sums up first is added once: sixteen times the values, as many additions
  CHECK(seconds(counts(64, 16)) < 4 * seconds(counts(64, 1)));
}

TEST_CASE("gpu_estimate: few long rows are shared by blocks, many short ones are not") {
  const auto of = [](int rows, int columns, int parts, int threads = 256) {
    return seconds(row_sums(rows, columns, parts, threads).function());
  };
  CHECK(of(4, 1 << 22, 64) < 0.5 * of(4, 1 << 22, 0));
  CHECK(of(65536, 1024, 0, 32) < of(65536, 1024, 32, 32));
}

TEST_CASE(
    "gpu_estimate: two small kernels are faster as one launch, and two large ones no slower") {
  CHECK(seconds(two(40, 60, true)) < 0.8 * seconds(two(40, 60, false)));
  CHECK(seconds(two(1 << 16, 1 << 16, true)) < 1.05 * seconds(two(1 << 16, 1 << 16, false)));
}
