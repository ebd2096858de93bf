#include <tilewright/space/modules/cross_thread_reduction.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>

#include "../kernels.hpp"
#include "../members.hpp"

using namespace tilewright;

namespace {

/// Loops of the block that are bound to threadIdx.x.
int thread_loops(schedule& s, const std::string& block) {
  int out = 0;
  for (const loop_rv l : s.get_loops(s.get_block(block)))
    out += s.get(l).thread_tag == "threadIdx.x" ? 1 : 0;
  return out;
}

bool across_threads(schedule& s, const std::string& block) {
  const loop_rv last = s.get_loops(s.get_block(block)).back();
  return s.get(last).thread_tag == "threadIdx.x";
}

}  // namespace

TEST_CASE("what is reduced by threads: long reductions, products only when they give little") {
  CHECK(space::needs_cross_thread_reduction(schedule(kernels::softmax()), "M", 1024));
  CHECK(space::needs_cross_thread_reduction(schedule(kernels::softmax()), "S", 1024));
  CHECK_FALSE(space::needs_cross_thread_reduction(schedule(kernels::softmax()), "E", 1024));
  CHECK_FALSE(space::needs_cross_thread_reduction(schedule(kernels::dense_relu()), "P", 1024));
  CHECK_FALSE(space::needs_cross_thread_reduction(schedule(kernels::conv2d()), "Y", 1024));
  const auto product = [](int m, int n, int k) {
    const std::string a = std::to_string(m) + ", " + std::to_string(k),
                      b = std::to_string(k) + ", " + std::to_string(n),
                      c = std::to_string(m) + ", " + std::to_string(n);
    return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + a + "), \"float32\"), B: T.Buffer((" +
                     b + "), \"float32\"), C: T.Buffer((" + c +
                     "), \"float32\")):\n"
                     "    for i, j, k in T.grid(" +
                     c + ", " + std::to_string(k) +
                     "):\n"
                     "        with T.block(\"C\"):\n"
                     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                     "            with T.init():\n"
                     "                C[vi, vj] = T.float32(0)\n"
                     "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n");
  };
  CHECK(space::needs_cross_thread_reduction(schedule(product(4, 4, 32)), "C", 1024));
  CHECK_FALSE(space::needs_cross_thread_reduction(schedule(product(4, 4, 32)), "C", 8));
  CHECK_FALSE(space::needs_cross_thread_reduction(schedule(product(8, 4, 32)), "C", 1024));

  const ir::function f = product(4, 4, 32);
  const std::vector<schedule> all = members::sketches(f, {space::cross_thread_reduction{}});
  REQUIRE(all.size() == 2);
  members::check(f, {all[0]}, [](schedule& s) { CHECK(across_threads(s, "C")); }, {.device = true});
}

TEST_CASE("softmax: each of its reductions across threads, in shared memory, or not") {
  const ir::function f = kernels::softmax();
  const std::vector<schedule> all =
      members::sketches(f, {space::cross_thread_reduction{}, space::auto_bind{}});
  REQUIRE(all.size() == 4);
  int both = 0;
  const std::size_t different =
      members::check(f, all,
                     [&](schedule& s) {
                       const bool m = across_threads(s, "M"), sum = across_threads(s, "S");
                       both += m && sum ? 1 : 0;
                       for (const char* name : {"M", "S"}) {
                         const bool wanted = name[0] == 'M' ? m : sum;
                         if (!wanted) continue;
                         CHECK(s.get(s.get_block(name)).block->writes[0].buffer->scope == "shared");
                       }
                       for (const std::string& name : space::root_block_names(s)) {
                         CHECK(thread_loops(s, name) == 1);
                         CHECK(s.get(s.get_loops(s.get_block(name))[0]).thread_tag == "blockIdx.x");
                       }
                     },
                     {.device = true});
  CHECK(different > 20);
  CHECK(both > 5);
}

TEST_CASE("two reductions with one consumer use the same threads") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((6, 24), "float32"), Y: T.Buffer((6, 24), "float32")):
    A = T.alloc_buffer((6,), "float32")
    B = T.alloc_buffer((6,), "float32")
    for i, j in T.grid(6, 24):
        with T.block("A"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                A[vi] = T.float32(0)
            A[vi] = A[vi] + X[vi, vj]
    for i, j in T.grid(6, 24):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + X[vi, vj] * X[vi, vj]
    for i, j in T.grid(6, 24):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * B[vi] - A[vi]
)");
  const std::vector<schedule> all =
      members::sketches(f, {space::cross_thread_reduction{}, space::auto_bind{}});
  REQUIRE(all.size() == 4);
  std::size_t draws = 0;
  for (const trace::step& step : all[0].trace().steps())
    draws += step.what->kind->name == "sample_categorical" ? 1 : 0;
  CHECK(draws == 1);
  members::check(f, {all[0]},
                 [](schedule& s) {
                   std::set<std::int64_t> threads;
                   for (const char* name : {"A", "B", "Y"})
                     for (const loop_rv l : s.get_loops(s.get_block(name)))
                       if (s.get(l).thread_tag == "threadIdx.x")
                         threads.insert(s.get(l).extent->integer);
                   CHECK(threads.size() == 1);
                 },
                 {.device = true});
}

TEST_CASE("a reduction without a consumer to move to, and a relu behind it") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((5, 6, 7), "float32"), Y: T.Buffer((5,), "float32")):
    S = T.alloc_buffer((5,), "float32")
    for i, j, k in T.grid(5, 6, 7):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vj, vk]
    for i in range(5):
        with T.block("Y"):
            vi = T.axis.spatial(5, i)
            Y[vi] = T.max(S[vi], T.float32(0))
)");
  const std::vector<schedule> all = members::sketches(f, {space::cross_thread_reduction{}});
  REQUIRE(all.size() == 2);
  members::check(f, {all[0]}, [](schedule& s) { CHECK(across_threads(s, "S")); }, {.device = true});
  const std::vector<schedule> whole =
      members::sketches(f, {space::gpu_tiling(), space::auto_inline{},
                            space::cross_thread_reduction{}, space::auto_bind{}});
  members::check(f, whole,
                 [](schedule& s) {
                   for (const std::string& name : space::root_block_names(s))
                     CHECK(thread_loops(s, name) == 1);
                 },
                 {.device = true});
}

TEST_CASE("rows: a warp to each of several rows is a third choice, with and without a consumer") {
  const auto reduces = [](schedule& s, const std::string& block, const char* axis) {
    for (const loop_rv l : s.get_loops(s.get_block(block)))
      if (s.get(l).thread_tag == axis) return true;
    return false;
  };
  space::cross_thread_reduction rule;
  rule.rows = {2, 4};
  const ir::function f = kernels::softmax();
  const std::vector<schedule> all = members::sketches(f, {rule, space::auto_bind{}});
  CHECK(all.size() > 4);
  int warps = 0;
  members::check(f, all,
                 [&](schedule& s) {
                   if (!reduces(s, "M", "threadIdx.y") && !reduces(s, "S", "threadIdx.y")) return;
                   ++warps;
                   for (const std::string& name : space::root_block_names(s))
                     CHECK(s.get(s.get_loops(s.get_block(name))[0]).thread_tag == "blockIdx.x");
                 },
                 {.device = true});
  CHECK(warps > 10);
  // without rows nothing is another
  CHECK(members::sketches(f, {space::cross_thread_reduction{}, space::auto_bind{}}).size() == 4);
  // of one row there are no several
  const ir::function one = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((1, 24), "float32"), S: T.Buffer((1,), "float32")):
    for i, j in T.grid(1, 24):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vj]
)");
  CHECK(members::sketches(one, {rule}).size() == 2);
}

TEST_CASE("columns: results side by side have a warp, and each a column of threads") {
  const auto text = [](const char* shape, const char* kinds, const char* read) {
    return ir::parse(std::string("@T.prim_func\ndef main(X: T.Buffer(") + shape +
                     ", \"float32\"), S: T.Buffer((40,), \"float32\")):\n"
                     "    for i, j in T.grid(" +
                     (kinds[0] == 'R' ? "24, 40" : "40, 24") +
                     "):\n"
                     "        with T.block(\"S\"):\n"
                     "            vi, vj = T.axis.remap(\"" +
                     kinds +
                     "\", [i, j])\n"
                     "            with T.init():\n"
                     "                S[" +
                     (kinds[0] == 'R' ? "vj" : "vi") + "] = T.float32(0)\n            S[" +
                     (kinds[0] == 'R' ? "vj" : "vi") + "] = S[" + (kinds[0] == 'R' ? "vj" : "vi") +
                     "] + X[" + read + "]\n");
  };
  const ir::function f = text("(24, 40)", "RS", "vi, vj");
  space::cross_thread_reduction rule;
  CHECK(members::sketches(f, {rule, space::auto_bind{}}).size() == 2);
  rule.columns = {8, 2};
  const std::vector<schedule> all = members::sketches(f, {rule, space::auto_bind{}});
  REQUIRE(all.size() == 3);
  members::check(f, {all[0]},
                 [](schedule& s) {
                   const std::vector<loop_rv> loops = s.get_loops(s.get_block("S"));
                   REQUIRE(loops.size() == 4);
                   CHECK(s.get(loops[0]).thread_tag == "blockIdx.x");
                   CHECK(s.get(loops[1]).thread_tag == "threadIdx.x");
                   CHECK(s.get(loops[1]).extent->integer == 32);
                   CHECK(s.get(loops[3]).thread_tag == "threadIdx.y");
                 },
                 {.device = true});
  // the same with the loops the other way round
  CHECK(members::sketches(text("(24, 40)", "SR", "vj, vi"), {rule}).size() == 3);
  // rows are none, and neither is what has fewer results than a warp has lanes
  CHECK(members::sketches(text("(40, 24)", "SR", "vi, vj"), {rule}).size() == 2);
  rule.warp_size = 64;
  CHECK(members::sketches(f, {rule}).size() == 2);
}

TEST_CASE("a reduction of pairs moves to its consumer where tuples are asked for") {
  const ir::function f = ir::parse(R"script(
@T.prim_func
def main(X: T.Buffer((6, 24), "float32"), Y: T.Buffer((6, 24), "float32")):
    A = T.alloc_buffer((6,), "float32")
    B = T.alloc_buffer((6,), "float32")
    for i, j in T.grid(6, 24):
        with T.block("A"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.block_attr({"tilewright.reducer": "T.comm_reducer(lambda x0, x1, y0, y1: (x0 + y0, x1 + y1), [T.float32(0), T.float32(0)])"})
            with T.init():
                A[vi] = T.float32(0)
                B[vi] = T.float32(0)
            a: T.float32 = A[vi] + X[vi, vj]
            b: T.float32 = B[vi] + X[vi, vj] * X[vi, vj]
            A[vi] = a
            B[vi] = b
    for i, j in T.grid(6, 24):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * B[vi] - A[vi]
)script");
  for (const bool tuples : {false, true}) {
    space::cross_thread_reduction rule;
    rule.tuples = tuples;
    const std::vector<schedule> all = members::sketches(f, {rule, space::auto_bind{}});
    REQUIRE(all.size() == 2);
    members::check(f, {all[0]},
                   [&](schedule& s) {
                     for (const ir::buffer_region& r : s.get(s.get_block("A")).block->writes)
                       CHECK(r.buffer->scope == (tuples ? "shared" : "global"));
                   },
                   {.device = true});
  }
}
