#include <tilewright/space/cpu.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/target/cpu.hpp>

#include "../schedule/check_schedule.hpp"
#include "members.hpp"
#include "programs.hpp"
#include "trace_text.hpp"

using namespace tilewright;
using traces::mentions;

namespace {

std::vector<schedule> sketches_of(const ir::function& f, int threads = 1) {
  static const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, threads};
  return space::default_cpu().sketches(f, where, 1);
}

}  // namespace

TEST_CASE("a matrix product gets register tiles, staged operands and split reductions") {
  const std::vector<schedule> sketches = sketches_of(programs::matmul(127, 131, 129));
  CHECK(sketches.size() == 6);
  bool staged = false, plain = false, split = false;
  for (const schedule& s : sketches) {
    ir::verify(s.function());
    staged = staged || mentions(s, "cache_read");
    plain = plain || !mentions(s, "cache_read");
    split = split || mentions(s, "sample_tile");
    CHECK(mentions(s, "vectorize"));
    CHECK(mentions(s, "decompose_reduction"));
    CHECK_FALSE(mentions(s, "parallel"));
  }
  CHECK(staged);
  CHECK(plain);
  CHECK(split);
}

TEST_CASE("sketches for several threads run their outer loops in parallel") {
  for (const schedule& s : sketches_of(programs::matmul(256, 256, 64), 2))
    CHECK(mentions(s, "parallel"));
}

TEST_CASE("a sketch replayed without its decisions gives other valid members of its family") {
  const ir::function f = programs::matmul(96, 80, 64);
  for (const schedule& sketch : sketches_of(f)) {
    const trace family = sketch.trace().without_decisions();
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      schedule s(f, seed);
      family.apply_to(s);
      ir::verify(s.function());
      seen.insert(s.show());
    }
    CHECK(seen.size() > 5);
  }
}

TEST_CASE("the first sketch does not depend on the seed") {
  const ir::function f = programs::matmul(64, 64, 64);
  const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  const auto first = [&](std::uint64_t seed) {
    return space::default_cpu().sketches(f, where, seed).front();
  };
  CHECK(ir::equal(first(1).function(), first(2).function()));
}

TEST_CASE("an element-wise consumer is computed with the tile") {
  const std::vector<schedule> sketches = sketches_of(programs::matmul_relu(64, 64, 64));
  REQUIRE_FALSE(sketches.empty());
  for (const schedule& s : sketches) CHECK(mentions(s, "reverse_compute_at"));
}

TEST_CASE("a chain of row operations is fused by groups of rows in the first sketch") {
  const std::vector<schedule> sketches = sketches_of(programs::row_normalization(32, 48));
  // fused; the sum where it is, below the rows: below the elements it would be computed for each
  REQUIRE(sketches.size() == 4);
  CHECK(mentions(sketches[0], "compute_at"));
  CHECK(mentions(sketches[0], "candidates=[2, 4, 8]"));  // rows at a time
  CHECK(mentions(sketches[1], "compute_at"));
  CHECK_FALSE(mentions(sketches[1], "candidates=[2, 4, 8]"));
  CHECK_FALSE(mentions(sketches[2], "compute_at"));
  CHECK(mentions(sketches[3], "compute_at"));
  for (const schedule& s : sketches) ir::verify(s.function());
}

TEST_CASE("a loop of one iteration keeps no chain from being fused") {
  CHECK(mentions(sketches_of(programs::row_normalization(1, 48))[0], "compute_at"));
}

TEST_CASE("no sketch computes a reduction of columns again for every row") {
  const ir::function f = programs::column_normalization(32, 48);
  bool in_strips = false;
  for (const schedule& s : sketches_of(f)) {
    ir::verify(s.function());
    const ir::block_realize_node& sum = space::named_block(s, "S");
    for (const ir::var& loop : primitive::get_loops(s.function(), sum.block->id)) {
      bool used = false;
      for (const ir::expr& value : sum.values) used = used || ir::uses_var(value, loop);
      CHECK(used);
    }
    in_strips = in_strips || mentions(s, "compute_at");
  }
  CHECK(in_strips);
}

TEST_CASE("a border by clamped indices goes into sums, not into the steps of a reduction") {
  const auto inlined = [](bool reduction) {
    const std::vector<schedule> sketches = sketches_of(programs::clamped(40, 5, reduction));
    REQUIRE_FALSE(sketches.empty());
    return mentions(sketches[0], "compute_inline");
  };
  CHECK(inlined(false));
  CHECK_FALSE(inlined(true));
}

TEST_CASE("positions of the maxima of columns are found in vectors of columns") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((40, 48), "float32"), P: T.Buffer((48,), "int32"), V: T.Buffer((48,), "float32")):
    for j, i in T.grid(48, 40):
        with T.block("P"):
            vj, vi = T.axis.remap("SR", [j, i])
            with T.init():
                P[vj] = -1
                V[vj] = T.min_value("float32")
            at: T.int32 = T.Select(V[vj] > X[vi, vj] or (V[vj] == X[vi, vj] and P[vj] < vi), P[vj], vi)
            best: T.float32 = T.Select(V[vj] > X[vi, vj], V[vj], X[vi, vj])
            P[vj] = at
            V[vj] = best
)");
  for (const schedule& s : sketches_of(f)) {
    ir::verify(s.function());
    CHECK(mentions(s, "vectorize"));
  }
}

TEST_CASE(
    "windows that serve one result each are copied with their border or read where they are") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((9, 8, 20), "int32"), F: T.Buffer((3, 3, 20), "int32"), Y: T.Buffer((9, 8, 20), "int32")):
    P = T.alloc_buffer((11, 10, 20), "int32")
    for h, w, c in T.grid(11, 10, 20):
        with T.block("P"):
            vh, vw, vc = T.axis.remap("SSS", [h, w, c])
            P[vh, vw, vc] = T.if_then_else(1 <= vh and vh < 10 and 1 <= vw and vw < 9, X[vh - 1, vw - 1, vc], 0)
    for p, q, c, r, s in T.grid(9, 8, 20, 3, 3):
        with T.block("Y"):
            vp, vq, vc, vr, vs = T.axis.remap("SSSRR", [p, q, c, r, s])
            with T.init():
                Y[vp, vq, vc] = 0
            Y[vp, vq, vc] = Y[vp, vq, vc] + P[vp + vr, vq + vs, vc] * F[vr, vs, vc]
)");
  const std::vector<schedule> all = sketches_of(f);
  int copied = 0;
  for (const schedule& s : all) {
    copied += space::has_block(s, "P");
    check_meaning(s, f);
  }
  CHECK(copied > 0);
  CHECK(copied < static_cast<int>(all.size()));
  // nothing else is shared, so that the first sketch writes the taps out
  CHECK(ir::print(all[0].function()).find("\"pragma_auto_unroll_max_step\": 192") !=
        std::string::npos);
}

TEST_CASE("depthwise windows of bytes decide borders along their lanes, and copy others") {
  const auto depthwise = [](bool channels_last) {
    const std::string c = channels_last ? "(12, 13, 20)" : "(20, 12, 13)",
                      padded = channels_last ? "(14, 15, 20)" : "(20, 14, 15)",
                      y = channels_last ? "(12, 13, 20)" : "(20, 12, 13)";
    const auto at = [&](const std::string& channel, const std::string& row,
                        const std::string& column) {
      return channels_last ? "[" + row + ", " + column + ", " + channel + "]"
                           : "[" + channel + ", " + row + ", " + column + "]";
    };
    return ir::parse("@T.prim_func\ndef main(X: T.Buffer(" + c +
                     ", \"int8\"), F: T.Buffer((3, 3, 20), \"int8\"), Y: T.Buffer(" + y +
                     ", \"int32\")):\n    P = T.alloc_buffer(" + padded +
                     ", \"int8\")\n"
                     "    for c, i, j in T.grid(20, 14, 15):\n"
                     "        with T.block(\"P\"):\n"
                     "            vc, vi, vj = T.axis.remap(\"SSS\", [c, i, j])\n"
                     "            P" +
                     at("vc", "vi", "vj") +
                     " = T.if_then_else(1 <= vi and vi < 13 and 1 <= vj and vj < 14, X" +
                     at("vc", "vi - 1", "vj - 1") +
                     ", T.int8(0))\n"
                     "    for c, p, q, r, s in T.grid(20, 12, 13, 3, 3):\n"
                     "        with T.block(\"Y\"):\n"
                     "            vc, vp, vq, vr, vs = T.axis.remap(\"SSSRR\", [c, p, q, r, s])\n"
                     "            with T.init():\n"
                     "                Y" +
                     at("vc", "vp", "vq") + " = 0\n            Y" + at("vc", "vp", "vq") + " = Y" +
                     at("vc", "vp", "vq") + " + T.cast(P" + at("vc", "vp + vr", "vq + vs") +
                     ", \"int32\") * T.cast(F[vr, vs, vc], \"int32\")\n");
  };
  for (const bool channels_last : {false, true}) {
    const ir::function f = depthwise(channels_last);
    const std::vector<schedule> all = sketches_of(f);
    CHECK(space::has_block(all[0], "P") == channels_last);
    check_meaning(all[0], f);
  }
}

TEST_CASE("results of nests that fill the last cache go past it, others beyond a core's own may") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((3, 2100), "float32"), B: T.Buffer((3, 2100), "float32"), Y: T.Buffer((3, 2100), "float32")):
    for i, j in T.grid(3, 2100):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(A[vi, vj] + B[vi, vj], T.float32(0))
)");
  for (const schedule& s : sketches_of(f)) CHECK_FALSE(mentions(s, "tilewright.stream"));
  target::cpu small = target::named("haswell");
  small.l2_bytes = small.l3_bytes = 3 * 2100 * 4 - 1;
  for (const int threads : {1, 2}) {
    const std::vector<schedule> sketches =
        space::default_cpu().sketches(f, space::context{&small, threads}, 1);
    REQUIRE(sketches.size() > 1);
    CHECK(mentions(sketches.front(), "tilewright.stream"));
    CHECK_FALSE(mentions(sketches.back(), "tilewright.stream"));
    members::check(f, sketches, [](const schedule&) {});
  }
  // what only the last cache holds may pass it, but the first sketch leaves it there
  small.l3_bytes = 4 * 3 * 2100 * 4 + 4;
  const std::vector<schedule> sketches =
      space::default_cpu().sketches(f, space::context{&small, 1}, 1);
  REQUIRE(sketches.size() > 1);
  CHECK_FALSE(mentions(sketches.front(), "tilewright.stream"));
  CHECK(mentions(sketches.back(), "tilewright.stream"));
  members::check(f, sketches, [](const schedule&) {});
}

TEST_CASE("sums of products with factors that stay along an axis are taken apart first") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((64, 32), "float32"), P: T.Buffer((32, 48), "float32"), Z: T.Buffer((64, 48), "float32"), Y: T.Buffer((64,), "float32")):
    for n, r, s in T.grid(64, 32, 48):
        with T.block("Y"):
            vn, vr, vs = T.axis.remap("SRR", [n, r, s])
            with T.init():
                Y[vn] = T.float32(0)
            Y[vn] = Y[vn] + X[vn, vr] * P[vr, vs] * Z[vn, vs]
)");
  const std::vector<schedule> sketches = sketches_of(f);
  REQUIRE(sketches.size() > 1);
  for (const schedule& s : sketches) CHECK(mentions(s, "work_on(func_name=\"main.factored\")"));
  members::check(f, sketches, [](const schedule&) {});

  const auto ordered = [](ir::function out) {
    out.attrs[ir::reductions_attribute] = std::string(ir::in_order_value);
    return out;
  };
  for (const schedule& s : sketches_of(ordered(f))) CHECK_FALSE(mentions(s, "factored"));

  const char* const quotients = R"(@T.prim_func
def main(X: T.Buffer((64, 48), "float32"), Z: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
    for n, r in T.grid(64, 48):
        with T.block("Y"):
            vn, vr = T.axis.remap("SR", [n, r])
            with T.init():
                Y[vn] = T.float32(0)
            Y[vn] = Y[vn] + X[vn, vr] / (Z[vn] * Z[vn] + T.float32(1))
)";
  const std::vector<schedule> divided = sketches_of(ir::parse(quotients));
  for (const schedule& s : divided) CHECK(mentions(s, "work_on(func_name=\"main.factored\")"));
  members::check(ir::parse(quotients), divided, [](const schedule&) {});
  for (const schedule& s : sketches_of(ordered(ir::parse(quotients))))
    CHECK_FALSE(mentions(s, "factored"));

  // integers have no order
  const ir::function whole = ordered(ir::parse(R"(@T.prim_func
def main(X: T.Buffer((64, 32), "int32"), P: T.Buffer((32, 48), "int32"), Z: T.Buffer((64, 48), "int32"), Y: T.Buffer((64,), "int32")):
    for n, r, s in T.grid(64, 32, 48):
        with T.block("Y"):
            vn, vr, vs = T.axis.remap("SRR", [n, r, s])
            with T.init():
                Y[vn] = 0
            Y[vn] = Y[vn] + X[vn, vr] * P[vr, vs] * Z[vn, vs]
)"));
  for (const schedule& s : sketches_of(whole)) CHECK(mentions(s, "main.factored"));
}

namespace {

using variables = std::vector<ir::var>;

programs::axis reduced(programs::axis a) {
  a.kind = ir::iter_kind::reduce;
  return a;
}

/// Short sums over vectors of `rows` and small matrices: x P Q z, or x P z, for each row of X and Z.
struct short_sums {
  explicit short_sums(int rows)
      : n{"n", rows},
        x(programs::tensor("X", {rows, r.extent})),
        z(programs::tensor("Z", {rows, t.extent})),
        y(programs::tensor("Y", {rows})) {}

  programs::axis n, r{"r", 5}, s{"s", 4}, t{"t", 3};
  ir::buffer x, z, y;
  ir::buffer p = programs::tensor("P", {r.extent, s.extent});
  ir::buffer q = programs::tensor("Q", {s.extent, t.extent});

  ir::buffer vectors_of(const char* name, const programs::axis& a) const {
    return programs::tensor(name, {n.extent, a.extent});
  }

  /// Y = A B, A = x P, B = Q z: each element is read once.
  ir::function tree() const {
    const ir::buffer a = vectors_of("A", s), b = vectors_of("B", s);
    return programs::program({x, p, q, z, y},
                             {row_times_matrix(a, {n, s, reduced(r)}, x, p),
                              matrix_times_row(b, {n, s, reduced(t)}, q, z), dot(s, a, b)},
                             {a, b});
  }

  /// Y = x I, I = P J, J = Q z: elements of J are read for each element of I.
  ir::function chain() const {
    const ir::buffer j = vectors_of("J", s), i = vectors_of("I", r);
    return programs::program({x, p, q, z, y},
                             {matrix_times_row(j, {n, s, reduced(t)}, q, z),
                              matrix_times_row(i, {n, r, reduced(s)}, p, j), dot(r, x, i)},
                             {j, i});
  }

 private:
  static ir::stmt row_times_matrix(const ir::buffer& out, const std::vector<programs::axis>& axes,
                                   const ir::buffer& row, const ir::buffer& matrix) {
    return programs::sum(out, axes, [&](const variables& v) {
      return load(row, {v[0], v[2]}) * load(matrix, {v[2], v[1]});
    });
  }
  static ir::stmt matrix_times_row(const ir::buffer& out, const std::vector<programs::axis>& axes,
                                   const ir::buffer& matrix, const ir::buffer& row) {
    return programs::sum(out, axes, [&](const variables& v) {
      return load(matrix, {v[1], v[2]}) * load(row, {v[0], v[2]});
    });
  }
  ir::stmt dot(const programs::axis& along, const ir::buffer& left, const ir::buffer& right) const {
    return programs::sum(y, {n, reduced(along)}, [&](const variables& v) {
      return load(left, {v[0], v[1]}) * load(right, {v[0], v[1]});
    });
  }
};

/// Y[n] = sum over r of 6 and s of 5 of X[n, r] * P[r, s] * Z[n, s], in one block.
ir::function bilinear(int rows) {
  const ir::buffer x = programs::tensor("X", {rows, 6}), p = programs::tensor("P", {6, 5}),
                   z = programs::tensor("Z", {rows, 5}), y = programs::tensor("Y", {rows});
  return programs::program(
      {x, p, z, y},
      {programs::sum(y, {{"n", rows}, reduced({"r", 6}), reduced({"s", 5})},
                     [&](const variables& v) {
                       return load(x, {v[0], v[1]}) * load(p, {v[1], v[2]}) * load(z, {v[0], v[2]});
                     })});
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE("sums of several short sums stay in lanes") {
  const short_sums of(100);
  for (const ir::function& f : {of.tree(), of.chain()})
    for (const int threads : {1, 2}) {
      const std::vector<schedule> sketches = sketches_of(f, threads);
      members::check(f, sketches, [](const schedule&) {});
      CHECK(count(sketches.front().trace().print(), "compute_at(") == 2);
    }
}

TEST_CASE("short sums of short sums stay in lanes") {
  for (const int rows : {256, 100})
    for (const int threads : {1, 2}) {
      const ir::function f = bilinear(rows);
      const std::vector<schedule> sketches = sketches_of(f, threads);
      REQUIRE_FALSE(sketches.empty());
      members::check(f, sketches, [](const schedule&) {});
      const schedule& first = sketches.front();
      CHECK(mentions(first, "compute_at"));
      CHECK(mentions(first, "vectorize"));
    }
}
