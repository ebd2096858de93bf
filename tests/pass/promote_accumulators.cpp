#include <tilewright/pass/promote_accumulators.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>
#include <tilewright/pass/walk.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

function prepared(const function& f) {
  return pass::sink_vectors(
      pass::simplify_loops(pass::compact_buffers(pass::simplify_loops(pass::lower_blocks(f)))));
}

function promoted(const function& f) { return pass::promote_accumulators(prepared(f), {}); }

/// True when no statement under a serial loop named `loop` stores to `buffer_name`.
bool not_stored_under(const function& f, const std::string& loop, const std::string& buffer_name) {
  bool ok = true;
  for_each_stmt(f.body, [&](const stmt& s) {
    if (!as_loop(s) || as_loop(s)->var->name != loop) return;
    for (const buffer& b : pass::stored_buffers(as_loop(s)->body))
      ok = ok && b->name != buffer_name;
  });
  return ok;
}

}  // namespace

TEST_CASE("the tile of a matmul lives in accumulators across all reduction loops") {
  matmul_options o;
  o.m = 12, o.n = 32, o.k = 8;
  for (const bool stage : {false, true}) {
    o.stage_b = stage;
    const function f = matmul(o), g = promoted(f);
    CHECK(not_stored_under(g, "k0", "C"));
    CHECK(count(g.body, stmt_kind::allocate, [](const stmt& s) {
            const buffer& b = as_allocate(s)->buffer;
            return b->name == "C_acc" && is_int(b->shape[0], 6) && is_int(b->shape[1], 16) &&
                   b->scope == "local";
          }) == 1);
    check_same(f, g);
    // the initialization became that of the accumulators: C is only written back
    CHECK(pass::loaded_buffers(g.body).count(f.params[2].buffer) == 0);
  }
}

TEST_CASE("serial loops of a small tile are unrolled") {
  matmul_options o;
  o.m = 12, o.n = 32, o.k = 8, o.tile_m = 2, o.tile_n = 8, o.vectorized = false;
  const function f = matmul(o), g = promoted(f);
  CHECK(not_stored_under(g, "k0", "C"));
  CHECK(count_loops(g.body, loop_kind::unrolled) > 0);
  check_same(f, g);
}

TEST_CASE("guards of the tile guard the copies") {
  const function f = matmul({}), g = promoted(f);
  CHECK(not_stored_under(g, "k1", "C"));
  check_same(f, g);
}

TEST_CASE("row reductions accumulate in a scalar, a convolution in its tile") {
  const function f = softmax(3, 37), g = promoted(f);
  CHECK(count(g.body, stmt_kind::allocate) == 5);
  check_same(f, g);
  const function c = conv2d({}), d = promoted(c);
  CHECK(not_stored_under(d, "r", "Y"));
  check_same(c, d);
}

TEST_CASE("indices that are digits of one number are a tile") {
  const buffer y = make_buffer("Y", dtype::f32, {4, 16, 3}),
               x = make_buffer("X", dtype::f32, {4, 9, 48});
  const var p = make_var("p"), u = make_var("u"), k = make_var("k"), l = make_var("l");
  const auto leaves = [&](const expr& pixel, const expr& channel, bool own) {
    const function f = make_function(
        {y, x}, nest({{p, 4}, {k, 9}, {u, 3, loop_kind::unrolled}, {l, 16, loop_kind::vectorized}},
                     make_store(y, {p, pixel, channel},
                                load(y, {p, pixel, channel}) + load(x, {p, k, u * 16 + l}))));
    const function g = pass::promote_accumulators(f, {});
    if (own) check_same(f, g);
    return not_stored_under(g, "k", "Y");
  };
  const expr at = u * 16 + l;
  CHECK(leaves(floordiv(at, 3), floormod(at, 3), true));
  CHECK_FALSE(leaves(floordiv(at, 4), floormod(at, 3), false));  // lanes share elements
}

TEST_CASE("a running sum whose element changes with the loop is left alone") {
  const buffer y = make_buffer("Y", dtype::f32, {8}), x = make_buffer("X", dtype::f32, {8});
  const var k = make_var("k"), i = make_var("i");
  const function scan = make_function(
      {y, x}, make_loop(k, 1, 7, make_store(y, {k}, load(y, {k - 1}) + load(x, {k}))));
  CHECK(count(promoted(scan).body, stmt_kind::allocate) == 0);
  // two points of the tile share an element
  const function overlap = make_function(
      {y, x},
      make_loop(k, 0, 3,
                nest({{i, 4, loop_kind::unrolled}},
                     make_store(y, {floordiv(i, 2)}, load(y, {floordiv(i, 2)}) + load(x, {k})))));
  CHECK(count(promoted(overlap).body, stmt_kind::allocate) == 0);
  check_same(overlap, promoted(overlap));
}

TEST_CASE("a row whose number is loaded is copied where the loop over it runs") {
  const function f = parse(
      "@T.prim_func\n"
      "def scatter(r: T.Buffer((3,), \"int32\"), n: T.Buffer((3,), \"int32\"), A: T.Buffer((4,), "
      "\"float32\"), C: T.Buffer((5, 8), \"float32\")):\n"
      "    for i in range(3):\n"
      "        for k in range(n[i]):\n"
      "            for j in T.vectorized(8):\n"
      "                C[r[i], j] = C[r[i], j] + A[k]\n");
  const function g = pass::promote_accumulators(f, {});
  CHECK(not_stored_under(g, "k", "C"));
  std::vector<std::int32_t> r{4, 1, 900}, n{2, 3, 0};  // the last row is none, and is not touched
  std::vector<float> a{1, 2, 4, 8};
  std::vector<std::vector<float>> results;
  for (const function* each : {&f, &g}) {
    results.emplace_back(40, 0.5f);
    interpret(*each, {{r.data(), {}}, {n.data(), {}}, {a.data(), {}}, {results.back().data(), {}}});
  }
  CHECK(results[0] == results[1]);
  CHECK(results[1][32] == 3.5f);
}

TEST_CASE("a row that is initialized in front is there, whether the loop over it runs or not") {
  const function f = parse(
      "@T.prim_func\n"
      "def scatter(r: T.Buffer((3,), \"int32\"), n: T.Buffer((3,), \"int32\"), A: T.Buffer((4,), "
      "\"float32\"), C: T.Buffer((5, 8), \"float32\")):\n"
      "    for i in range(3):\n"
      "        for c in T.vectorized(8):\n"
      "            C[r[i], c] = T.float32(0.25)\n"
      "        for k in range(n[i]):\n"
      "            for j in T.vectorized(8):\n"
      "                C[r[i], j] = C[r[i], j] + A[k]\n");
  const function g = pass::promote_accumulators(f, {});
  CHECK(not_stored_under(g, "k", "C"));
  CHECK(count(g.body, stmt_kind::if_else) == 0);
  std::vector<std::int32_t> r{4, 1, 2}, n{2, 3, 0};
  std::vector<float> a{1, 2, 4, 8};
  std::vector<std::vector<float>> results;
  for (const function* each : {&f, &g}) {
    results.emplace_back(40, 0.5f);
    interpret(*each, {{r.data(), {}}, {n.data(), {}}, {a.data(), {}}, {results.back().data(), {}}});
  }
  CHECK(results[0] == results[1]);
  CHECK(results[1][16] == 0.25f);
}

TEST_CASE("a row whose number changes below the loop stays where it is") {
  const function f = parse(
      "@T.prim_func\n"
      "def moving(r: T.Buffer((3,), \"int32\"), A: T.Buffer((4,), \"float32\"), C: T.Buffer((5, "
      "8), "
      "\"float32\")):\n"
      "    for i in range(3):\n"
      "        for k in range(4):\n"
      "            r[i] = k\n"
      "            for j in T.vectorized(8):\n"
      "                C[r[i], j] = C[r[i], j] + A[k]\n");
  CHECK_FALSE(not_stored_under(pass::promote_accumulators(f, {}), "k", "C"));
}

TEST_CASE("a copy that could leave the buffer is not made") {
  const buffer y = make_buffer("Y", dtype::f32, {10}), x = make_buffer("X", dtype::f32, {8});
  const var o = make_var("o"), k = make_var("k"), i = make_var("i");
  const expr at = o * 4 + i;
  const function f = make_function(
      {y, x},
      nest({{o, 4}, {k, 8}, {i, 4, loop_kind::unrolled}},
           make_if(lt(at + k * 16, 10), make_store(y, {at}, load(y, {at}) + load(x, {k})))));
  CHECK(count(promoted(f).body, stmt_kind::allocate) == 0);
  check_same(f, promoted(f));
}

TEST_CASE("parallel iterations copy back no element that they may not have written") {
  const buffer s = make_buffer("S", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {16, 16});
  for (const bool own : {false, true}) {
    const var p = make_var("p"), k = make_var("k");
    const expr at = own ? expr(p) : dim(3);
    const stmt sum =
        make_if(gt(load(x, {p, 0}), f32(2)), make_store(s, {at}, load(s, {at}) + load(x, {p, k})));
    const function f = make_function({s, x}, nest({{p, 16, loop_kind::parallel}, {k, 16}}, sum)),
                   g = promoted(f);
    CHECK(not_stored_under(g, "k", "S") == own);
    check_same(f, g);
  }
}
