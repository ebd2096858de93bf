// Sums of bytes, eight at a time (impl/pass/vector/byte_sums.hpp).
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/target/cpu.hpp>

#include "../byte_values.hpp"
#include "../programs.hpp"

using namespace programs;

namespace {

/// S[0] = the sum of `rows` rows of `n` terms of bytes A and B, as `type` numbers.
function sum_of(const std::string& term, int n, int rows = 1, const std::string& type = "int32",
                const std::string& bytes = "uint8") {
  const std::string size = std::to_string(rows) + ", " + std::to_string(n + 3);
  return parse(
      "@T.prim_func\ndef main(A: T.Buffer((" + size + "), \"" + bytes + "\"), B: T.Buffer((" +
      size + "), \"" + bytes + "\"), S: T.Buffer((1,), \"" + type +
      "\")):\n    for r, k in T.grid(" + std::to_string(rows) + ", " + std::to_string(n) +
      "):\n        with T.block(\"S\"):\n            vr, vk = T.axis.remap(\"RR\", [r, k])\n"
      "            with T.init():\n                S[0] = T.Cast(\"" +
      type + "\", 0)\n            S[0] = S[0] + " + term + "\n");
}

const std::string a = "T.Cast(\"int32\", A[vr, vk])", b = "T.Cast(\"int32\", B[vr, vk])",
                  difference = "T.max(" + a + " - " + b + ", " + b + " - " + a + ")";

int groups(const function& f) {
  int out = 0;
  for_each_expr(f.body, [&](const expr& e) { out += e->op == op::call && e->name == "sad8"; });
  return out;
}

function lowered(const function& f, const char* cpu = "znver4") {
  return pass::vectorize_reductions(pass::simplify_loops(pass::lower_blocks(f)),
                                    target::named(cpu));
}

/// Whether the sum is made of groups of bytes; what comes out is the same in any case.
bool in_groups(const function& f, const char* cpu = "znver4") {
  const function g = lowered(f, cpu);
  CHECK(run_bytes(f) == run_bytes(g));
  return groups(g) > 0;
}

}  // namespace

TEST_CASE("differences between bytes are added up eight at a time, whatever is left over") {
  for (const char* cpu : {"haswell", "znver4"})
    for (const int rows : {1, 3})
      for (const int n : {16, 24, 40, 64, 120, 136, 267, 1027})
        CHECK(in_groups(sum_of(difference, n, rows), cpu));
}

TEST_CASE("forms of a difference, and bytes alone") {
  for (const std::string& term : std::vector<std::string>{
           "T.max(" + a + " - " + b + ", 0 - (" + a + " - " + b + "))",
           "T.max(" + b + " - " + a + ", " + a + " - " + b + ")",
           "T.max(" + a + " - 100, 100 - " + a + ")", "T.max(7 - " + a + ", " + a + " - 7)", a,
           "T.max(T.Cast(\"int32\", A[vr, vk + 3]) - T.Cast(\"int32\", B[vr, 1]), "
           "T.Cast(\"int32\", B[vr, 1]) - T.Cast(\"int32\", A[vr, vk + 3]))"})
    CHECK(in_groups(sum_of(term, 136, 2)));
  // narrow sums wrap, and so do those of 64 bits at their width
  CHECK(in_groups(sum_of("T.Cast(\"uint16\", A[vr, vk])", 1000, 2, "uint16")));
  CHECK(in_groups(sum_of("T.Cast(\"int64\", " + difference + ")", 136, 2, "int64")));
}

TEST_CASE("operations on bits leave bytes side by side") {
  const auto cast = [](const std::string& byte) { return "T.Cast(\"int32\", " + byte + ")"; };
  for (const std::string& byte :
       std::vector<std::string>{"T.popcount(A[vr, vk])", "T.popcount(A[vr, vk] ^ B[vr, vk + 2])",
                                "A[vr, vk] & T.bitwise_not(B[vr, 0])", "A[vr, vk] | B[vr, vk]"})
    for (const int n : {16, 136, 267}) CHECK(in_groups(sum_of(cast(byte), n, 2)));
  // nor where bits move between bytes, or elements are not side by side
  for (const std::string& byte : std::vector<std::string>{"T.shift_right(A[vr, vk], B[vr, vk])",
                                                          "T.popcount(A[vr, vk // 2])"})
    CHECK_FALSE(in_groups(sum_of(cast(byte), 136)));
}

TEST_CASE("what is no difference between two bytes side by side is added one by one") {
  for (const std::string& term : std::vector<std::string>{
           "T.max(" + a + " - " + b + ", " + a + " - " + b + ")",
           "T.max(" + a + " - " + b + ", " + b + " - " + a + " + 1)",
           "T.max(" + a + " + " + b + ", " + b + " + " + a + ")",
           "T.max(" + a + " * 2 - " + b + ", " + b + " - " + a + " * 2)",
           "T.max(" + a + " - 300, 300 - " + a + ")", "T.max(0 - 3 - " + a + ", " + a + " + 3)",
           "T.Cast(\"int32\", A[vr, vk // 2])", a + " * " + b})
    CHECK_FALSE(in_groups(sum_of(term, 136)));
  CHECK_FALSE(in_groups(sum_of(difference, 136, 1, "int32", "int8")));
  CHECK_FALSE(in_groups(sum_of(difference, 8)));
  CHECK_FALSE(in_groups(sum_of(difference, 77)));  // five more each time
  CHECK_FALSE(in_groups(sum_of(difference, 136), "nehalem"));
}
