// Estimates for GPUs: orders that anybody who has programmed one would give.
#include <tilewright/impl/cost/gpu_estimate.hpp>

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
    const bool warps = s.trace().print().find("wmma") != std::string::npos;
    double& least = warps ? with : without;
    least = std::min(least, seconds(s.function()));
  }
  CHECK(with < 0.5 * without);
  CHECK(with > 0);
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
