#include <tilewright/pass/vector/narrow_lanes.hpp>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/cpu.hpp>

#include "../byte_values.hpp"
#include "../programs.hpp"

using namespace programs;

namespace {

/// `value` of bytes A and B, signed bytes C, words D and numbers E of 32 bits, in lanes.
function lanes(const std::string& value, const std::string& to = "uint8") {
  return parse(
      "@T.prim_func\ndef main(A: T.Buffer((64,), \"uint8\"), B: T.Buffer((64,), \"uint8\"), "
      "C: T.Buffer((64,), \"int8\"), D: T.Buffer((64,), \"int16\"), "
      "E: T.Buffer((64,), \"int32\"), Y: T.Buffer((64,), \"" +
      to +
      "\")):\n"
      "    for o in range(2):\n"
      "        for c in T.vectorized(32):\n"
      "            Y[o * 32 + c] = " +
      value + "\n");
}

std::string wide(const std::string& buffer) {
  return "T.cast(" + buffer + "[o * 32 + c], \"int32\")";
}
std::string byte(const std::string& value) { return "T.cast(" + value + ", \"uint8\")"; }

/// Whether words took the place of all numbers of 32 bits that lanes compute; values stay what they were, and so they do
/// by all passes.
bool narrowed(const function& f) {
  const function out = pass::narrow_lanes(f);
  INFO(print(f));
  INFO(print(out));
  verify(out);
  CHECK(run_bytes(f) == run_bytes(out));
  CHECK(run_bytes(f) == run_bytes(pass::lower(f, target::named("haswell"))));
  bool all = true;
  for_each_stmt(out.body, [&](const stmt& s) {
    if (const store_node* to = as_store(s))
      for_each_expr(to->value, [&](const expr& e) {
        all = all && !(e->op == op::cast && e.type() == dtype::i32);
      });
  });
  return all;
}

}  // namespace

TEST_CASE("narrow_lanes: sums, products and quotients of bytes that words hold") {
  const std::string a = wide("A"), b = wide("B"), c = wide("C"), d = wide("D");
  CHECK(narrowed(lanes(byte("(" + a + " * 77 + " + b + " * 179 + 128) // 256"))));
  CHECK(narrowed(lanes(byte("(" + a + " + " + b + " + 1) % 300"))));
  CHECK(narrowed(lanes(byte("T.truncdiv(" + a + " * " + b + ", 255)"))));
  CHECK(narrowed(lanes(byte("(127 - " + a + " * " + b + ") // 255"))));
  CHECK(narrowed(lanes(byte("(" + c + " * 3 - 7) % 100"))));
  // of a sum that is cut off the lower bits are right, however large it was
  CHECK(narrowed(lanes(byte(d + " * " + d + " * 1000 + " + a))));
}

TEST_CASE("narrow_lanes: choices, comparisons and bits") {
  const std::string a = wide("A"), b = wide("B"), c = wide("C"), d = wide("D");
  CHECK(narrowed(lanes(byte("T.min(T.max(" + a + " * 2 - " + b + ", 0), 255)"))));
  CHECK(narrowed(lanes(byte("T.min(" + a + " * 257, " + b + " * 200)"))));
  CHECK(narrowed(lanes("T.cast(T.max(" + c + " * " + c + ", " + d + "), \"int16\")", "int16")));
  CHECK(narrowed(
      lanes(byte("T.Select(" + a + " * 2 < " + b + " + 3, " + a + " + 9, " + b + " * 5)"))));
  CHECK(narrowed(
      lanes(byte("T.Select(" + a + " < " + b + " and " + c + " * 4 >= -9, " + a + " + 9, 0)"))));
  CHECK(narrowed(lanes(byte("T.if_then_else(o * 32 + c < 60, " + a + " + 9, " + b + " * 5)"))));
  CHECK(narrowed(lanes(byte("(" + a + " * 77 + " + b + " * 150) >> 8"))));
  CHECK(narrowed(lanes(byte("(" + c + " * 100 - " + a + ") >> 3"))));
  CHECK(narrowed(lanes(byte("T.min(((" + a + " << 3) | " + b + ") & 4095, 255)"))));
}

TEST_CASE("narrow_lanes: what needs more bits stays as it is") {
  const std::string a = wide("A"), b = wide("B"), c = wide("C"), d = wide("D");
  CHECK_FALSE(narrowed(lanes(byte("(" + a + " * " + b + " * 2) // 255"))));
  CHECK_FALSE(narrowed(lanes(byte("(" + a + " * " + b + " - 70000) // 7"))));
  CHECK_FALSE(narrowed(lanes(byte("T.truncdiv(127 - " + a + " * " + b + ", 255)"))));
  CHECK_FALSE(narrowed(lanes(byte("T.max(" + d + " * 2, " + a + ")"))));
  CHECK_FALSE(narrowed(lanes(byte("T.min(" + a + " * 256 - 1, " + b + ")"))));
  CHECK_FALSE(narrowed(lanes(byte("(" + d + " * " + a + ") >> 8"))));
  CHECK_FALSE(narrowed(lanes(byte("T.Select(" + d + " * 2 < " + a + ", " + a + " + 1, 0)"))));
  CHECK_FALSE(narrowed(lanes(a + " * " + b, "int32")));
  // 32 bits are read, so that all lanes have them already
  const function numbers = lanes(byte("E[o * 32 + c] * 3 + " + a));
  CHECK_FALSE(narrowed(numbers));
  // no lanes
  const function loop = parse(
      "@T.prim_func\ndef main(A: T.Buffer((64,), \"uint8\"), Y: T.Buffer((64,), \"uint8\")):\n"
      "    for c in range(64):\n"
      "        Y[c] = T.cast(T.cast(A[c], \"int32\") * 3, \"uint8\")\n");
  CHECK_FALSE(narrowed(loop));
}

namespace {

class drawn_value {
 public:
  explicit drawn_value(std::uint64_t seed) : draw_(seed) {}

  std::string value(int depth) {
    if (depth == 0) return leaf();
    const std::string x = value(depth - 1),
                      y = value(static_cast<int>(draw_.below(2)) * (depth - 1));
    const std::string number = std::to_string(1 + draw_.below(300)),
                      amount = std::to_string(draw_.below(17));
    switch (draw_.below(13)) {
      case 0:
      case 1: return "(" + x + " + " + y + ")";
      case 2: return "(" + x + " - " + y + ")";
      case 3: return "(" + x + " * " + std::to_string(draw_.below(9)) + ")";
      case 4: return "(" + x + " // " + number + ")";
      case 5: return "(" + x + " % " + number + ")";
      case 6: return "T.truncdiv(" + x + ", " + number + ")";
      case 7: return "T.min(" + x + ", " + y + ")";
      case 8: return "T.max(" + x + ", " + y + ")";
      case 9:
        return "T.Select(" + x + (draw_.below(2) ? " < " : " == ") + y + ", " + x + ", " + leaf() +
               ")";
      case 10: return "(" + x + " >> " + amount + ")";
      case 11: return "(" + x + " << " + std::to_string(draw_.below(4)) + ")";
      default: return "(" + x + (draw_.below(2) ? " & " : " | ") + y + ")";
    }
  }

 private:
  std::string leaf() {
    const char* const from[] = {"A", "B", "C", "D"};
    return draw_.below(4) == 0 ? std::to_string(draw_.below(600)) : wide(from[draw_.below(4)]);
  }

  support::random draw_;
};

}  // namespace

TEST_CASE("narrow_lanes: random values are what they were") {
  int some = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    drawn_value draw(seed);
    some += narrowed(lanes(byte("(" + draw.value(3) + ") + 1")));
  }
  CHECK(some > 40);
}
