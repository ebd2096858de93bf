// Positions of largest and smallest values without a test of positions
// (impl/pass/accumulators/rising_positions.hpp).
#include <limits>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

/// What stands in a program of one search for the largest element of each column of A[24, 24].
struct search {
  std::string loops = "for i, j in T.grid(24, 18):";  // over i and j
  std::string binding = "v_j, v_i = T.axis.remap(\"SR\", [j, i])";
  std::string position = "v_i", order = ">", begin = "-1";
  std::string value = "A[v_i, v_j]";
  std::string after = "";   // a statement behind the block, in the same loops
  std::string where = "";   // a line of the block
  bool initializes = true;  // the block, not one in front of it
};

function program(const search& s) {
  const std::string lowest = s.order == ">" ? "T.float32(\"-inf\")" : "T.float32(\"inf\")";
  const std::string old = "V[v_j] " + s.order + " " + s.value;
  std::string text =
      "@T.prim_func\n"
      "def main(A: T.Buffer((24, 24), \"float32\"), I: T.Buffer((18,), \"int32\"),"
      " V: T.Buffer((18,), \"float32\")):\n";
  if (!s.initializes)
    text +=
        "    for j in range(18):\n        with T.block(\"first\"):\n"
        "            v_j = T.axis.remap(\"S\", [j])\n            I[v_j] = " +
        s.begin + "\n            V[v_j] = " + lowest + "\n";
  text += "    " + s.loops + "\n        with T.block(\"I\"):\n            " + s.binding + "\n";
  if (!s.where.empty()) text += "            T.where(" + s.where + ")\n";
  if (s.initializes)
    text += "            with T.init():\n                I[v_j] = " + s.begin +
            "\n                V[v_j] = " + lowest + "\n";
  text += "            v_I: T.int32 = T.Select(" + old + " or (V[v_j] == " + s.value +
          " and I[v_j] < " + s.position + "), I[v_j], " + s.position +
          ")\n            v_V: T.float32 = T.Select(" + old + ", V[v_j], " + s.value +
          ")\n            I[v_j] = v_I\n            V[v_j] = v_V\n";
  if (!s.after.empty()) text += s.after;
  return parse(text);
}

/// Whether the lowered program compares values for equality.
bool compares_ties(const function& f) {
  bool found = false;
  for_each_expr(f.body, [&](const expr& e) {
    found = found || (e->op == op::eq && is_float(e->args[0].type()));
  });
  return found;
}

/// Both compute the same of values of which many are equal, and the last ones have no order.
/// @param bits whether of equal zeros the sign is the same, too
void check_ties(const function& before, const function& after, std::uint64_t values_used = 10,
                bool bits = true) {
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f,  -0.0f, 1.0f, 1.5f, -1.0f,
                          -1.5f, 2.0f,  -inf, inf,  std::numeric_limits<float>::quiet_NaN()};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    support::random draw(seed);
    std::vector<float> a(24 * 24);
    for (float& x : a) x = values[draw.below(seed == 1 ? 2 : seed == 2 ? 6 : values_used)];
    std::vector<std::int32_t> place[2];
    std::vector<float> peak[2];
    for (const std::size_t which : {0u, 1u}) {
      place[which].assign(18, 7);
      peak[which].assign(18, 0.0f);
      interpret(which == 0 ? before : after,
                {{a.data(), {}}, {place[which].data(), {}}, {peak[which].data(), {}}}, {});
    }
    CHECK(place[0] == place[1]);
    if (bits) CHECK(std::memcmp(peak[0].data(), peak[1].data(), 18 * sizeof(float)) == 0);
  }
}

void check_search(const search& s, bool compares) {
  const function f = program(s), g = pass::lower_blocks(f);
  CHECK(compares_ties(g) == compares);
  check_ties(f, g);
  const function simple = pass::simplify_loops(g);
  check_ties(f, pass::vectorize_reductions(simple, target::named("haswell")));
}

}  // namespace

TEST_CASE("positions that rise from term to term are not compared") {
  for (const char* order : {">", "<"})
    for (const char* position : {"v_i", "v_i * 3 + 1", "T.Cast(\"int32\", v_i)"})
      check_search({.position = position, .order = order}, false);
  check_search({.loops = "for j, i in T.grid(18, 24):"}, false);
  check_search({.loops = "for j, i, k in T.grid(18, 6, 4):",
                .binding = "v_j = T.axis.spatial(18, j)\n"
                           "            v_i = T.axis.reduce(24, i * 4 + k)"},
               false);
  // whatever a split leaves: the first term is computed
  check_search({.loops = "for i, j, k in T.grid(5, 18, 5):",
                .binding = "v_j = T.axis.spatial(18, j)\n"
                           "            v_i = T.axis.reduce(24, i * 5 + k)",
                .where = "i * 5 + k < 24"},
               false);
}

TEST_CASE("positions are compared where terms come in another order, or it is not known") {
  check_search({.position = "23 - v_i"}, true);
  check_search({.position = "v_i % 5"}, true);
  check_search({.loops = "for k, j, i in T.grid(4, 18, 6):",
                .binding = "v_j = T.axis.spatial(18, j)\n"
                           "            v_i = T.axis.reduce(24, i * 4 + k)"},
               true);
  check_search({.loops = "for i, j in T.grid(24, 18):",
                .binding = "v_j = T.axis.spatial(18, j)\n"
                           "            v_i = T.axis.reduce(24, 23 - i)"},
               true);
}

TEST_CASE("positions are compared where something else than the block may have written one") {
  check_search({.begin = "9"}, true);
  check_search({.initializes = false}, true);
  check_search(
      {.after = "        with T.block(\"other\"):\n            v_j = T.axis.remap(\"S\", [j])\n"
                "            I[v_j] = I[v_j] + 30\n"},
      true);
  // the first term is left out, and with it the init
  check_search({.where = "3 < i"}, true);
}

TEST_CASE("partial results along rows are combined by their positions") {
  const search rows{.loops = "for j, i in T.grid(18, 24):", .value = "A[v_j, v_i]"};
  const function f = program(rows), g = pass::simplify_loops(pass::lower_blocks(f));
  CHECK_FALSE(compares_ties(g));
  const function parts = pass::vectorize_reductions(g, target::named("haswell"));
  CHECK(compares_ties(parts));
  CHECK(count(parts.body, stmt_kind::allocate) == 2);
  check_ties(f, parts, 6, false);
}
