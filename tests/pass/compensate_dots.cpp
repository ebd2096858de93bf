#include <tilewright/pass/compensate_dots.hpp>

#include <string>
#include <vector>

#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/target/cpu.hpp>

#include "byte_values.hpp"
#include "programs.hpp"

using namespace programs;

namespace {

const target::cpu& vnni() {
  static const target::cpu out = target::named("icelake-server");
  return out;
}

function loops_of(const std::string& body, const std::string& more = "") {
  return pass::simplify_loops(
      pass::lower_blocks(parse("@T.prim_func\ndef main(A: T.Buffer((8, 32), \"int8\"), B: "
                               "T.Buffer((2, 8, 16, 4), \"int8\"), "
                               "C: T.Buffer((8, 32), \"int32\")" +
                               more + "):\n    with T.block(\"root\"):\n" + body)));
}

/// `depth` levels of four spaces in front of the update of C[r, c * 16 + v] by step k.
std::string dot(int depth, const std::string& factor = "B[c, k, v, ") {
  const std::string in(static_cast<std::size_t>(4 * depth), ' ');
  const auto four = [](const std::string& from, const std::string& to) {
    std::string out;
    for (int n = 0; n < 4; ++n) out += ", " + from + std::to_string(n) + to;
    return out;
  };
  return in + "C[r, c * 16 + v] = T.call_extern(\"int32\", \"dot4\", C[r, c * 16 + v]" +
         four("A[r, k * 4 + ", "]") + four(factor, "]") + ")\n";
}

const std::string zeros =
    "        for r, c in T.grid(8, 2):\n            for v in T.vectorized(16):\n"
    "                C[r, c * 16 + v] = 0\n";
const std::string product =
    "        for k, r, c in T.grid(8, 8, 2):\n"
    "            for v in T.vectorized(16):\n" +
    dot(4);

int signed_dots(const function& f) {
  int out = 0;
  for_each_expr(f.body, [&](const expr& e) {
    out += e->op == op::call && e->name == "dot4" && e->args[1].type() == dtype::i8 ? 1 : 0;
  });
  return out;
}
int subtractions(const function& f) {
  int out = 0;
  for_each_stmt(f.body, [&](const stmt& s) {
    out += as_store(s) && as_store(s)->value->op == op::sub ? 1 : 0;
  });
  return out;
}

/// Applies the pass; values stay what they were.
function compensated(const function& f) {
  function out = pass::compensate_dots(f, vnni());
  INFO(print(f));
  INFO(print(out));
  verify(out);
  CHECK(run_bytes(f) == run_bytes(out));
  CHECK(run_bytes(f) == run_bytes(pass::lower(f, vnni())));
  return out;
}
void check_left(const function& f) {
  const function out = pass::compensate_dots(f, vnni());
  CHECK(out.body == f.body);
  CHECK(signed_dots(f) == 1);
}

}  // namespace

TEST_CASE("compensate dots: sums that begin at 0 begin at what the movement takes away") {
  const function f = loops_of(zeros + product), out = compensated(f);
  CHECK(signed_dots(out) == 0);
  CHECK(subtractions(out) == 1);
  CHECK(count(out.body, stmt_kind::store) == 4);  // two of them fill D
}

TEST_CASE("compensate dots: sums that begin elsewhere are corrected behind the reduction") {
  const function f = loops_of(product), out = compensated(f);
  CHECK(signed_dots(out) == 0);
  CHECK(count(out.body, stmt_kind::store) == 4);
  const function split = loops_of(
      "        for k0, r, k1, c in T.grid(4, 8, 2, 2):\n            for v in T.vectorized(16):\n"
      "                C[r, c * 16 + v] = T.call_extern(\"int32\", \"dot4\", C[r, c * 16 + v], "
      "A[r, k0 * 8 + k1 * 4], A[r, k0 * 8 + k1 * 4 + 1], A[r, k0 * 8 + k1 * 4 + 2], "
      "A[r, k0 * 8 + k1 * 4 + 3], B[c, k0 * 2 + k1, v, 0], B[c, k0 * 2 + k1, v, 1], "
      "B[c, k0 * 2 + k1, v, 2], B[c, k0 * 2 + k1, v, 3])\n");
  CHECK(signed_dots(compensated(split)) == 0);
}

TEST_CASE("compensate dots: tiles of rows and columns, with guards of their own") {
  const std::string nest =
      "        for r0, c in T.grid(2, 2):\n"
      "            for r1 in range(5):\n                for v in T.vectorized(16):\n"
      "                    if r0 * 5 + r1 < 8:\n"
      "                        C[r0 * 5 + r1, c * 16 + v] = 0\n"
      "            for k, r1 in T.grid(8, 5):\n                for v in T.vectorized(16):\n"
      "                    if r0 * 5 + r1 < 8 and k < 7:\n"
      "                        C[r0 * 5 + r1, c * 16 + v] = T.call_extern(\"int32\", \"dot4\", "
      "C[r0 * 5 + r1, c * 16 + v], A[r0 * 5 + r1, k * 4], A[r0 * 5 + r1, k * 4 + 1], "
      "A[r0 * 5 + r1, k * 4 + 2], A[r0 * 5 + r1, k * 4 + 3], B[c, k, v, 0], B[c, k, v, 1], "
      "B[c, k, v, 2], B[c, k, v, 3])\n";
  const function out = compensated(loops_of(nest));
  CHECK(signed_dots(out) == 0);
  CHECK(subtractions(out) == 1);
}

TEST_CASE("compensate dots: sums that live as long as a tile is computed") {
  const std::string nest =
      "        S = T.alloc_buffer((4, 16), \"int32\")\n"
      "        for r0, c in T.grid(2, 2):\n"
      "            for r1 in range(4):\n                for v in T.vectorized(16):\n"
      "                    S[r1, v] = 0\n"
      "            for k, r1 in T.grid(8, 4):\n                for v in T.vectorized(16):\n"
      "                    S[r1, v] = T.call_extern(\"int32\", \"dot4\", S[r1, v], "
      "A[r0 * 4 + r1, k * 4], A[r0 * 4 + r1, k * 4 + 1], A[r0 * 4 + r1, k * 4 + 2], "
      "A[r0 * 4 + r1, k * 4 + 3], B[c, k, v, 0], B[c, k, v, 1], B[c, k, v, 2], B[c, k, v, 3])\n"
      "            for r1 in range(4):\n                for v in T.vectorized(16):\n"
      "                    C[r0 * 4 + r1, c * 16 + v] = S[r1, v]\n";
  const function out = compensated(loops_of(nest));
  CHECK(signed_dots(out) == 0);
  CHECK(subtractions(out) == 1);
}

TEST_CASE("compensate dots: a factor that is computed before is read when it is there") {
  const std::string staged =
      "        P = T.alloc_buffer((2, 8, 16, 4), \"int8\")\n"
      "        for c, k, v, n in T.grid(2, 8, 16, 4):\n"
      "            P[c, k, v, n] = B[1 - c, k, v, n]\n" +
      zeros +
      "        for k, r, c in T.grid(8, 8, 2):\n"
      "            for v in T.vectorized(16):\n" +
      dot(4, "P[c, k, v, ");
  CHECK(signed_dots(compensated(loops_of(staged))) == 0);
}

TEST_CASE("compensate dots: of a bound weight the compensation is prepared") {
  function f = loops_of(zeros + product);
  f.attrs[bound_attribute] = attr::list{1};
  const function out = pass::compensate_dots(f, vnni());
  REQUIRE(bound_weights(f).size() == 1);
  const pass::prepared parts = pass::prepare_weights(out);
  CHECK(parts.packed.size() == 1);
  CHECK(count(parts.main.body, stmt_kind::store) == 2);
}

TEST_CASE("compensate dots: what stays as it is") {
  check_left(
      loops_of("        for k in range(8):\n            for v in T.vectorized(16):\n"
               "                C[0, v] = T.call_extern(\"int32\", \"dot4\", C[0, v], "
               "A[0, k * 4], A[0, k * 4 + 1], A[0, k * 4 + 2], A[0, k * 4 + 3], "
               "B[0, k, v, 0], B[0, k, v, 1], B[0, k, v, 2], B[0, k, v, 3])\n"));
  // the sums are read in between
  check_left(
      loops_of("        for k in range(8):\n            for r, c in T.grid(8, 2):\n"
               "                for v in T.vectorized(16):\n" +
                   dot(5) + "            S[k] = C[0, 0]\n",
               ", S: T.Buffer((8,), \"int32\")"));
  // the second factor changes between the steps
  check_left(
      loops_of("        for k in range(8):\n            for r, c in T.grid(8, 2):\n"
               "                for v in T.vectorized(16):\n" +
               dot(5) + "            B[0, 0, 0, 0] = T.int8(3)\n"));
  // which steps a row has differs from row to row
  check_left(
      loops_of("        for k, r, c in T.grid(8, 8, 2):\n"
               "            for v in T.vectorized(16):\n"
               "                if k < r:\n" +
               dot(5)));
  const function f = loops_of(zeros + product);
  CHECK(pass::compensate_dots(f, target::named("haswell")).body == f.body);
}
