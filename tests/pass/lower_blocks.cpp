#include <tilewright/pass/lower_blocks.hpp>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/text/parse.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

bool has_block(const function& f) { return count(f.body, stmt_kind::block_realize) != 0; }

/// The loops around the allocation of the buffer with that name, joined by spaces.
std::string loops_around(const stmt& s, const std::string& name, const std::string& so_far = "") {
  if (const loop_node* l = as_loop(s))
    return loops_around(l->body, name, so_far + (so_far.empty() ? "" : " ") + l->var->name);
  if (const allocate_node* n = as_allocate(s))
    return n->buffer->name == name ? so_far : loops_around(n->body, name, so_far);
  if (const if_node* n = as_if(s)) return loops_around(n->then_body, name, so_far);
  if (const seq_node* n = as_seq(s))
    for (const stmt& part : n->stmts)
      if (std::string found = loops_around(part, name, so_far); found != "none") return found;
  return "none";
}

/// Where the buffer T of the program lives; the program without blocks computes the same.
std::string home_of_t(const std::string& body, const std::string& shape_of_t) {
  const function f = parse(
      "@T.prim_func\ndef main(A: T.Buffer((12, 12), \"float32\"), "
      "B: T.Buffer((12, 12), \"float32\")):\n"
      "    T_ = T.alloc_buffer(" +
      shape_of_t + ", \"float32\")\n" + body);
  const function g = pass::lower_blocks(f);
  check_same(f, g);
  return loops_around(g.body, "T_");
}

}  // namespace

TEST_CASE("a tiled matmul without blocks computes the same bits") {
  for (const bool stage : {false, true})
    for (const bool local : {false, true}) {
      matmul_options o;
      o.stage_b = stage;
      o.local_c = local;
      const function f = matmul(o), g = pass::lower_blocks(f);
      CHECK_FALSE(has_block(g));
      check_same(f, g);
    }
}

TEST_CASE("the initialization stands in front of the outermost reduction loop") {
  const function g = pass::lower_blocks(matmul({}));
  const int ifs_on_k = count(g.body, stmt_kind::if_else, [](const stmt& s) {
    bool compares = false;
    for_each_expr(as_if(s)->condition,
                  [&](const expr& e) { compares = compares || e->op == op::eq; });
    return compares;
  });
  CHECK(ifs_on_k == 0);
}

TEST_CASE("temporaries are allocated in the loop that uses them, outside their reduction loops") {
  const function g = pass::lower_blocks(softmax(3, 5));
  CHECK(count(g.body, stmt_kind::allocate) == 3);
  const loop_node* rows = as_loop(g.body);
  REQUIRE(rows);
  CHECK(rows->loop == loop_kind::parallel);
  CHECK(count(rows->body, stmt_kind::allocate) == 3);
  check_same(softmax(3, 5), g);
  matmul_options o;
  o.local_c = true;
  const function h = pass::lower_blocks(matmul(o));
  // the accumulator lives across k0, the panel within one iteration of it
  for_each_stmt(h.body, [&](const stmt& s) {
    const allocate_node* n = as_allocate(s);
    if (!n) return;
    const bool holds_k0 = count(n->body, stmt_kind::loop,
                                [](const stmt& x) { return as_loop(x)->var->name == "k0"; }) > 0;
    CHECK(holds_k0 == (n->buffer->name == "C_local"));
  });
}

TEST_CASE("padding conditions of a convolution survive") {
  const function f = conv2d({});
  check_same(f, pass::lower_blocks(f));
}

TEST_CASE("an initialization that another block sees stays under a condition") {
  // B reads the running sum C inside the reduction loop
  const buffer a = make_buffer("A", dtype::f32, {4}), c = make_buffer("C", dtype::f32, {1}),
               b = make_buffer("B", dtype::f32, {4});
  const var k = make_var("k"), vk = make_var("vk"), vi = make_var("vi");
  block_node sum;
  sum.name = "C";
  sum.iters = {{vk, {0, 4}, iter_kind::reduce}};
  sum.init = make_store(c, {0}, f32(1));
  sum.body = make_store(c, {0}, load(c, {0}) + load(a, {vk}));
  block_node copy;
  copy.name = "B";
  copy.iters = {{vi, {0, 4}, iter_kind::spatial}};
  copy.body = make_store(b, {vi}, load(c, {0}));
  const function f = make_function(
      {a, b, c},
      make_root(make_loop(k, 0, 4,
                          make_seq({make_realize({k}, boolean(true), make_block(sum)),
                                    make_realize({k}, boolean(true), make_block(copy))}))));
  const function g = pass::lower_blocks(f);
  CHECK(count(g.body, stmt_kind::if_else) == 1);
  check_same(f, g);
}

TEST_CASE("match buffers become accesses of their source") {
  const buffer y = make_buffer("Y", dtype::f32, {4, 4}),
               part = make_buffer("part", dtype::f32, {2});
  const var i = make_var("i"), vi = make_var("vi"), j = make_var("j");
  block_node b;
  b.name = "B";
  b.iters = {{vi, {0, 4}, iter_kind::spatial}};
  b.match_buffers = {{part, {y, {{vi, 1}, {1, 2}}}}};
  b.body = make_loop(j, 0, 2, make_store(part, {j}, cast(dtype::f32, vi * 10 + j)));
  const function f = make_function(
      {y}, make_root(make_loop(i, 0, 4, make_realize({i}, boolean(true), make_block(b)))));
  check_same(f, pass::lower_blocks(f));
}

TEST_CASE("what a spatial loop carries lives outside of it") {
  CHECK(home_of_t(R"(
    for i, j in T.grid(12, 12):
        with T.block("t"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_[vi, vj] = A[vi, vj] * T.float32(2)
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T_[vi, vj] + T.if_then_else(vj >= 1, T_[vi, vj - 1], T.float32(0))
)",
                  "(12, 12)") == "i");
  CHECK(home_of_t(R"(
    for i, j in T.grid(12, 12):
        with T.block("t"):
            vi, vj = T.axis.remap("SS", [i, j])
            T_[vj] = A[vi, vj] + T.if_then_else(vi >= 1, T_[vj], T.float32(0))
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T_[vj]
)",
                  "(12,)") == "");
}

TEST_CASE("what is written before it is read lives in the loop that does both") {
  CHECK(home_of_t(R"(
    for i in range(12):
        for x in range(4):
            for y in T.vectorized(4):
                with T.block("t"):
                    vj = T.axis.spatial(12, x * 4 + y)
                    vi = T.axis.spatial(12, i)
                    T.where(x * 4 + y < 12)
                    T_[vj] = A[vi, vj] + T.float32(1)
        for j in range(12):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T_[vj] * T_[T.max(vj - 1, 0)]
)",
                  "(12,)") == "i");
  CHECK(home_of_t(R"(
    for i in range(4):
        for x_y_fused in range(36):
            with T.block("t"):
                vi = T.axis.spatial(12, i * 3 + x_y_fused // 12)
                vj = T.axis.spatial(12, x_y_fused % 12)
                T_[vi - i * 3, vj] = A[vi, vj] + T.float32(1)
        for x, y in T.grid(3, 12):
            with T.block("b"):
                vi = T.axis.spatial(12, i * 3 + x)
                vj = T.axis.spatial(12, y)
                B[vi, vj] = T_[vi - i * 3, vj]
)",
                  "(3, 12)") == "i");
}

TEST_CASE("a recomputed sum lives in the loop that recomputes it, guards at the edge included") {
  CHECK(home_of_t(R"(
    for i in range(3):
        for j in range(5):
            for x, k in T.grid(5, 12):
                with T.block("t"):
                    vx = T.axis.spatial(12, i * 5 + x)
                    vk = T.axis.reduce(12, k)
                    T.where(i * 5 + x < 12)
                    with T.init():
                        T_[vx] = T.float32(0)
                    T_[vx] = T_[vx] + A[vx, vk]
            for x, y in T.grid(5, 3):
                with T.block("b"):
                    vi = T.axis.spatial(12, i * 5 + x)
                    vj = T.axis.spatial(12, j * 3 + y)
                    T.where(i * 5 + x < 12 and j * 3 + y < 12)
                    B[vi, vj] = T_[vi]
)",
                  "(12,)") == "i j");
}

TEST_CASE("no value leaves an iteration of a parallel loop that shares its elements") {
  CHECK(home_of_t(R"(
    for t in range(2):
        for i in T.parallel(12):
            for j in range(12):
                with T.block("t"):
                    vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                    T_[vj] = A[vi, vj] + T.cast(vt, "float32")
            for j in range(12):
                with T.block("b"):
                    vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                    B[vi, vj] = T_[vj] + T.if_then_else(vj >= 1, T_[vj - 1], T.float32(0))
)",
                  "(12,)") == "t i");
  CHECK(home_of_t(R"(
    for t in range(2):
        for i in T.parallel(12):
            for j in range(12):
                with T.block("t"):
                    vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                    T_[vi, vj] = A[vi, vj] + T.if_then_else(vt >= 1, T_[vi, vj], T.float32(0))
            for j in range(12):
                with T.block("b"):
                    vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                    B[vi, vj] = T_[vi, vj]
)",
                  "(12, 12)") == "");
}

TEST_CASE("elements of a parallel loop are its own in other layouts, too") {
  const auto home = [](const std::string& at, const char* shape) {
    std::string text = R"(
    for t in range(2):
        for i in T.parallel(12):
            for j in range(4):
                with T.block("t"):
                    vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                    T_[<at>] = A[vi, vj] + T.if_then_else(vt >= 1, T_[<at>], T.float32(0))
            for j in range(4):
                with T.block("b"):
                    vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                    B[vi, vj] = T_[<at>]
)";
    for (std::size_t p = 0; (p = text.find("<at>")) != text.npos;) text.replace(p, 4, at);
    return home_of_t(text, shape);
  };
  CHECK(home("vi // 4, vj, vi % 4", "(3, 4, 4)") == "");                 // digits
  CHECK(home("vi % 4, vj, vi // 4", "(4, 4, 3)") == "");                 // in any order
  CHECK(home("(vi * 4 + vj) // 8, (vi * 4 + vj) % 8", "(6, 8)") == "");  // of the position
}

TEST_CASE("lanes have for themselves what they use alone") {
  const auto lowered = [](const std::string& body, const char* shape) {
    const function f = parse(
        "@T.prim_func\ndef main(A: T.Buffer((12, 12), \"float32\"), "
        "B: T.Buffer((12, 12), \"float32\")):\n    T_ = T.alloc_buffer(" +
        std::string(shape) + ", \"float32\")\n" + body);
    const function g = pass::lower_blocks(f);
    check_same(f, g);
    std::string shape_of_t;
    for_each_stmt(g.body, [&](const stmt& s) {
      if (const allocate_node* n = as_allocate(s))
        for (const expr& e : n->buffer->shape) shape_of_t += std::to_string(as_int(e)) + " ";
    });
    return shape_of_t;
  };
  const std::string overlapping = R"(
    for i in T.vectorized(12):
        for j in range(10):
            with T.block("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                T_[<at>] = A[vi, vj] * T.float32(2)
        for j in range(8):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T_[<at>] + A[vi, vj + 1]
)";
  const auto at = [&](const char* place) {
    std::string text = overlapping;
    for (std::size_t p = 0; (p = text.find("<at>")) != text.npos;) text.replace(p, 4, place);
    return text;
  };
  CHECK(lowered(at("vi + vj"), "(21,)") == "21 12 ");
  CHECK(lowered(at("vj"), "(10,)") == "10 12 ");
  CHECK(lowered(at("vi, vj"), "(12, 10)") == "12 10 ");  // other elements in each
  CHECK(lowered(R"(
    for i in T.vectorized(2, 12):
        for k in range(12):
            with T.block("t"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    T_[()] = T.float32(0)
                T_[()] = T_[()] + A[vi, vk]
        with T.block("b"):
            vi = T.axis.spatial(12, i)
            B[vi, 0] = T_[()]
)",
                "()") == "10 ");
}

TEST_CASE("what iterations that run beside each other leave to the next loop around them is one") {
  const auto home = [](const char* kind, const char* place, const char* reads) {
    CAPTURE(kind);
    CAPTURE(place);
    std::string text = R"(
    for t in range(3):
        for i in T.<kind>(12):
            with T.block("t"):
                vt, vi = T.axis.remap("SS", [t, i])
                T_[<at>] = A[vt, vi] + T.if_then_else(<reads>, T_[<at>], T.float32(0))
            with T.block("b"):
                vt, vi = T.axis.remap("SS", [t, i])
                B[vt, vi] = T_[<at>]
)";
    for (const auto& [hole, filling] :
         {std::pair{"<kind>", kind}, {"<at>", place}, {"<reads>", reads}})
      for (std::size_t p = 0; (p = text.find(hole)) != text.npos;)
        text.replace(p, std::string(hole).size(), filling);
    return home_of_t(text, "(12,)");
  };
  for (const char* kind : {"parallel", "vectorized"}) {
    CHECK(home(kind, "(vi * 5 + vt) % 12", "vt >= 1") ==
          "");                                                // a permutation, not proved to be one
    CHECK(home(kind, "vi % 4", "vt >= 1 and vi < 4") == "");  // what the last ones leave there
  }
}

TEST_CASE("rows that a loop leaves out are not initialized") {
  const function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(16):
        for j in range(7 - i):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.reduce(8, j)
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vj]
)");
  check_same(f, pass::lower_blocks(f));
}

TEST_CASE("a reduction over nothing initializes nothing") {
  const function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i, j in T.grid(8, 0):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.reduce(0, j)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vj]
)");
  check_same(f, pass::lower_blocks(f));
}

namespace {

/// The program, which writes all of Y (and, inside, the indices of N), computes the same without
/// blocks.
void check_reads_once(const std::string& body) {
  const function f = parse(
      "@T.prim_func\ndef main(Y: T.Buffer((10,), \"float32\")):\n"
      "    N = T.alloc_buffer((10,), \"int32\")\n"
      "    for i in range(10):\n"
      "        N[i] = i // 2\n"
      "        Y[i] = T.float32(100)\n" +
      body);
  const function g = pass::lower_blocks(f);
  CHECK_FALSE(has_block(g));
  check_same(f, g);
}

}  // namespace

TEST_CASE("iteration variables that load what the block writes are read once") {
  check_reads_once(
      "    for i in range(10):\n"
      "        with T.block(\"b\"):\n"
      "            v = T.axis.opaque(10, N[0])\n"
      "            N[0] = (v * 7 + 3) % 10\n"
      "            Y[v] = Y[v] + T.Cast(\"float32\", v)\n");
}

TEST_CASE("offsets of views that load what the block writes are read once") {
  check_reads_once(
      "    with T.block(\"b\"):\n"
      "        T.reads(N[0:10])\n"
      "        T.writes(N[0:10], Y[0:10])\n"
      "        P = T.match_buffer(N[2:5], (3,), \"int32\", offset_factor=1)\n"
      "        M = T.match_buffer(Y[N[3]:N[3] + 2], (2,), \"float32\", offset_factor=1)\n"
      "        P[1] = 7\n"
      "        M[1] = T.float32(6)\n");
}

TEST_CASE("bounds of loops that load what the loop writes are read once") {
  for (const char* kind : {"serial", "vectorized"}) {
    check_reads_once("    for j in T." + std::string(kind) +
                     "(N[4], N[4] + N[9]):\n"
                     "        N[j + 2] = 0\n"
                     "        Y[j] = T.float32(3)\n");
    const function g = pass::lower_blocks(
        parse("@T.prim_func\ndef main(N: T.Buffer((10,), \"int32\")):\n"
              "    for j in T." +
              std::string(kind) + "(N[4], N[4] + N[9]):\n        N[j + 2] = 0\n"));
    for_each_stmt(g.body, [](const stmt& s) {
      if (const loop_node* l = as_loop(s))
        CHECK_FALSE((reads_memory(l->min) || reads_memory(l->extent)));
    });
  }
}

TEST_CASE("the initialization stays behind what its guards and loops read") {
  const auto sum = [](const std::string& extent, const std::string& guard) {
    return "    for k in range(5):\n"
           "        N[0] = 5\n"
           "        for j in range(" +
           extent +
           "):\n"
           "            with T.block(\"b\"):\n"
           "                vj, vk = T.axis.remap(\"SR\", [j, k])\n" +
           guard +
           "                with T.init():\n"
           "                    Y[vj] = T.float32(0)\n"
           "                Y[vj] = Y[vj] + T.float32(1)\n";
  };
  check_reads_once(sum("N[0]", ""));
  check_reads_once(sum("10", "                T.where(j < N[0])\n"));
}

TEST_CASE("nothing is initialized where an extent from a let leaves no iteration") {
  check_reads_once(
      "    for j in range(10):\n"
      "        n: T.int32 = N[j] - 2\n"
      "        for k in range(n):\n"
      "            with T.block(\"b\"):\n"
      "                vj, vk = T.axis.remap(\"SR\", [j, k])\n"
      "                with T.init():\n"
      "                    Y[vj] = T.float32(0)\n"
      "                Y[vj] = Y[vj] + T.float32(1)\n");
}

TEST_CASE("a reduction of one step stores once, what it starts from in the value") {
  const auto stores = [](int steps) {
    const std::string n = std::to_string(steps);
    const function f =
        parse("@T.prim_func\ndef main(X: T.Buffer((6, 9), \"float32\"), F: T.Buffer((6, " + n +
              "), \"float32\"), Y: T.Buffer((6, 4), \"float32\")):\n"
              "    for i, j, r, s in T.grid(6, 4, 1, " +
              n +
              "):\n"
              "        with T.block(\"Y\"):\n"
              "            vi, vj, vr, vs = T.axis.remap(\"SSRR\", [i, j, r, s])\n"
              "            with T.init():\n"
              "                Y[vi, vj] = T.float32(2.5)\n"
              "            Y[vi, vj] = Y[vi, vj] + X[vi, vj * 2 + vr + vs] * F[vi, vs]\n");
    const function g = pass::lower_blocks(f);
    check_same(f, g);
    return count(g.body, stmt_kind::store);
  };
  CHECK(stores(1) == 1);
  CHECK(stores(2) == 2);
}
