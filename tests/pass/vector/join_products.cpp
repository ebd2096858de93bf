#include <tilewright/pass/vector/join_products.hpp>

#include <string>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/target/cpu.hpp>

#include "../byte_values.hpp"
#include "../programs.hpp"

using namespace programs;

namespace {

const target::cpu& vnni() {
  static const target::cpu out = target::named("icelake-server");
  return out;
}
const target::cpu& avx2() {
  static const target::cpu out = target::named("haswell");
  return out;
}

/// Windows of `taps` bytes in steps of `step` along the rows of an image; `x` and `f` are the factors.
function windows(int taps, int step, const std::string& x, const std::string& f,
                 const std::string& nest = "for s in range(TAPS)", const std::string& types = "") {
  const std::string a = types.substr(0, types.find(' ')),
                    b = types.empty() ? "" : types.substr(types.find(' ') + 1);
  const auto filled = [&](std::string text) {
    for (std::size_t at; (at = text.find("TAPS")) != std::string::npos;)
      text.replace(at, 4, std::to_string(taps));
    for (std::size_t at; (at = text.find("STEP")) != std::string::npos;)
      text.replace(at, 4, std::to_string(step));
    return text;
  };
  return pass::simplify_loops(pass::lower_blocks(
      parse(filled("@T.prim_func\ndef main(X: T.Buffer((4, 80), \"" + (a.empty() ? "int8" : a) +
                   "\"), F: T.Buffer((4, 12), \"" + (b.empty() ? "int8" : b) +
                   "\"), Y: T.Buffer((4, 16), \"int32\")):\n"
                   "    with T.block(\"root\"):\n"
                   "        for i in range(4):\n"
                   "            for q in T.vectorized(16):\n"
                   "                Y[i, q] = 0\n"
                   "            " +
                   nest +
                   ":\n"
                   "                for q in T.vectorized(16):\n"
                   "                    Y[i, q] = Y[i, q] + T.cast(" +
                   x + ", \"int32\") * T.cast(" + f + ", \"int32\")\n"))));
}

int calls(const function& f) {
  int out = 0;
  for_each_expr(f.body, [&](const expr& e) { out += e->op == op::call && e->name == "dot4"; });
  return out;
}

/// Dot products after the pass; values stay what they were, and so they do by all passes.
int joined(const function& f, const target::cpu& of = vnni()) {
  const function out = pass::join_products(f, of);
  INFO(print(f));
  INFO(print(out));
  verify(out);
  CHECK(run_bytes(f) == run_bytes(out));
  CHECK(run_bytes(f) == run_bytes(pass::lower(f, of)));
  return calls(out);
}

}  // namespace

TEST_CASE("join_products: taps of a window along a row are dot products of four") {
  const std::string x = "X[i, q * STEP + s]", f = "F[i, s]";
  CHECK(joined(windows(2, 1, x, f)) == 1);
  CHECK(joined(windows(3, 3, x, f)) == 1);
  CHECK(joined(windows(4, 2, x, f)) == 1);
  CHECK(joined(windows(5, 3, x, f)) == 1);  // and one product
  CHECK(joined(windows(6, 2, x, f)) == 2);
  CHECK(joined(windows(8, 4, x, f)) == 2);
  CHECK(joined(windows(4, 3, f, x)) == 1);
  CHECK(joined(windows(3, 3, "X[i, q * STEP + s * 2]", f)) == 1);
  for (const char* types : {"uint8 int8", "int8 uint8", "int8 int8"})
    CHECK(joined(windows(3, 3, x, f, "for s in T.unroll(TAPS)", types)) == 1);
}

TEST_CASE("join_products: what the passes before made of other loops stays in place") {
  CHECK(joined(windows(3, 3, "X[i, q * STEP + s]", "F[i, s]", "for s, r in T.grid(TAPS, 2)")) == 1);
  CHECK(joined(windows(3, 2, "X[i, q * STEP + s + r]", "F[r, s]", "for r, s in T.grid(4, TAPS)")) ==
        1);
}

TEST_CASE("join_products: zeros outside of a condition are loaded under a mask of bytes") {
  const function f =
      windows(3, 3,
              "T.if_then_else(2 <= q * STEP + s * 2 and q * STEP + s * 2 < 45 and i < 3, X[i, q * "
              "STEP + s * 2 - 2], T.int8(0))",
              "F[i, s]");
  CHECK(joined(f) == 1);
  CHECK(joined(f, avx2()) == 0);
}

TEST_CASE("join_products: other loops stay") {
  const std::string x = "X[i, q * STEP + s]", f = "F[i, s]";
  CHECK(joined(windows(9, 2, x, f)) == 0);
  CHECK(joined(windows(3, 5, "X[i, q * STEP]", f)) == 0);
  CHECK(joined(windows(3, 3, x, "F[s, i]")) == 0);
  CHECK(joined(windows(3, 1, x, "F[i, s * 2]")) == 0);
  CHECK(joined(windows(3, 3, x, f, "for s in range(TAPS)", "uint8 uint8")) == 0);
  CHECK(joined(windows(3, 3, x, f, "for s in range(TAPS)", "int16 int8")) == 0);
  CHECK(joined(windows(3, 1, "X[s, q]", f)) == 0);  // rows lie apart
  CHECK(joined(windows(4, 2, x, f), target::named("x86-64")) == 0);
}
