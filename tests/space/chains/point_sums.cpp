#include <tilewright/impl/space/chains/point_sums.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// J[n, i] = P[n, i] * Q[n, 3 - i] and E[n] = sum_k P[n, k] * Q[n, k] of each point, H[i, j] = sum_n J[n, i] * J[n, j] and
/// G[i] = sum_n J[n, i] * E[n] of all.
std::string normal_equations(int points) {
  const std::string n = std::to_string(points);
  return "@T.prim_func\ndef main(P: T.Buffer((" + n + ", 4), \"float32\"), Q: T.Buffer((" + n +
         ", 4), \"float32\"), H: T.Buffer((4, 4), \"float32\"), G: T.Buffer((4,), \"float32\")):\n"
         "    J = T.alloc_buffer((" +
         n + ", 4), \"float32\")\n    E = T.alloc_buffer((" + n +
         ",), \"float32\")\n"
         "    for n, i in T.grid(" +
         n +
         ", 4):\n        with T.block(\"J\"):\n"
         "            vn, vi = T.axis.remap(\"SS\", [n, i])\n"
         "            J[vn, vi] = P[vn, vi] * Q[vn, 3 - vi]\n"
         "    for n, k in T.grid(" +
         n +
         ", 4):\n        with T.block(\"E\"):\n"
         "            vn, vk = T.axis.remap(\"SR\", [n, k])\n"
         "            with T.init():\n                E[vn] = T.float32(0)\n"
         "            E[vn] = E[vn] + P[vn, vk] * Q[vn, vk]\n"
         "    for i, j, n in T.grid(4, 4, " +
         n +
         "):\n        with T.block(\"H\"):\n"
         "            vi, vj, vn = T.axis.remap(\"SSR\", [i, j, n])\n"
         "            with T.init():\n                H[vi, vj] = T.float32(0)\n"
         "            H[vi, vj] = H[vi, vj] + J[vn, vi] * J[vn, vj]\n"
         "    for i, n in T.grid(4, " +
         n +
         "):\n        with T.block(\"G\"):\n"
         "            vi, vn = T.axis.remap(\"SR\", [i, n])\n"
         "            with T.init():\n                G[vi] = T.float32(0)\n"
         "            G[vi] = G[vi] + J[vn, vi] * E[vn]\n";
}

/// Whether one nest has so many blocks or more, and vectors.
bool in_strips(const schedule& s, std::size_t least_nests) {
  std::size_t vectorized = 0, nests = 0;
  for (const ir::stmt& nest : ir::as_seq(ir::root_block(s.function())->body)->stmts) {
    std::size_t here = 0;
    ir::for_each_stmt(nest, [&](const ir::stmt& at) {
      const ir::block_realize_node* realize = ir::as_realize(at);
      if (realize) ++here;
      const ir::loop_node* loop = ir::as_loop(at);
      if (loop && loop->loop == ir::loop_kind::vectorized) ++vectorized;
    });
    nests = std::max(nests, here);
  }
  return nests >= least_nests && vectorized >= 2;
}

std::vector<schedule> first_sketches(const ir::function& f, int threads = 1) {
  return space::default_cpu().sketches(f, draws::haswell(threads), 4);
}

}  // namespace

TEST_CASE("sums over points and what is computed for each of them share strips of points") {
  for (const int points : {1024, 1000, 1023}) {  // whole strips in lanes, strips with a rest
    const ir::function f = ir::parse(normal_equations(points));
    const std::vector<schedule> sketches = first_sketches(f);
    CAPTURE(points);
    INFO(sketches.front().show());
    CHECK(in_strips(sketches.front(), 4));  // J, E, H and G
    draws::check(f, sketches, 8);
  }
}

TEST_CASE("on several threads each takes strips of its own part of the points") {
  for (const int points : {4096, 4001}) {
    const ir::function f = ir::parse(normal_equations(points));
    const std::vector<schedule> sketches = first_sketches(f, 4);
    INFO(sketches.front().show());
    CHECK(in_strips(sketches.front(), 4));
    std::size_t parallel = 0;  // nests in parts with all of the blocks
    for (const ir::stmt& nest :
         ir::as_seq(ir::root_block(sketches.front().function())->body)->stmts) {
      const ir::loop_node* outer = ir::as_loop(nest);
      std::size_t blocks = 0;
      ir::for_each_stmt(nest, [&](const ir::stmt& at) { blocks += ir::as_realize(at) != nullptr; });
      if (outer && outer->loop == ir::loop_kind::parallel && blocks >= 4) ++parallel;
    }
    CHECK(parallel == 1);
    draws::check(f, sketches, 4);
  }
}

TEST_CASE("on several threads strips that follow each other do not come first") {
  const ir::function f = ir::parse(normal_equations(1024));  // too few for parts
  const std::vector<schedule> sketches = first_sketches(f, 4);
  CHECK_FALSE(in_strips(sketches.front(), 4));
  draws::check(f, sketches, 4);
}

TEST_CASE("few points, and values that something else reads, are not taken in strips") {
  CHECK_FALSE(in_strips(first_sketches(ir::parse(normal_equations(256))).front(), 4));
  std::string text = normal_equations(1024);
  // the Jacobian is a result as well
  text.replace(text.find("G: T.Buffer((4,)"), 16,
               "J: T.Buffer((1024, 4), \"float32\"), G: T.Buffer((4,)");
  text.erase(text.find("    J = T.alloc"),
             text.find("    E = T.alloc") - text.find("    J = T.alloc"));
  const ir::function f = ir::parse(text);
  CHECK_FALSE(in_strips(first_sketches(f).front(), 4));
}
