// Iterations that run apart because digits of a sum tell them, as in copies that threads make together: against counting.
#include <tilewright/impl/dependence/scope.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>

using namespace tilewright;

namespace {

using place = std::array<std::int64_t, 3>;

/// A block below loops a, b, c, whose variables are factor * digit + rest * c of a sum x a + y b + z c.
struct copy {
  std::array<std::int64_t, 3> extents, steps;
  struct variable {
    std::int64_t divisor, count;  // 0: no remainder
    std::int64_t factor, rest;
  };
  std::vector<variable> variables;
  std::int64_t limit = 0;  // of the sum; 0: no guard

  std::int64_t sum(const place& at) const {
    return steps[0] * at[0] + steps[1] * at[1] + steps[2] * at[2];
  }
  std::vector<std::int64_t> values(const place& at) const {
    std::vector<std::int64_t> out;
    for (const variable& v : variables) {
      const std::int64_t whole = sum(at) / v.divisor;
      out.push_back(v.factor * (v.count > 0 ? whole % v.count : whole) + v.rest * at[2]);
    }
    return out;
  }

  std::string text() const {
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    const std::string total = "(a * " + number(steps[0]) + " + b * " + number(steps[1]) +
                              (steps[2] > 0 ? " + c * " + number(steps[2]) : "") + ")";
    std::string out = "@T.prim_func\ndef main(B: T.Buffer((", at, body;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const variable& v = variables[i];
      std::string digit = total;
      if (v.divisor > 1) digit += " // " + number(v.divisor);
      if (v.count > 0) digit += " % " + number(v.count);
      const std::string name = "v" + std::to_string(i);
      body += "            " + name + " = T.axis.spatial(4096, " + digit + " * " +
              number(v.factor) + (v.rest > 0 ? " + c * " + number(v.rest) : "") + ")\n";
      out += "4096, ";
      at += (at.empty() ? "" : ", ") + name;
    }
    out += "), \"float32\")):\n    for a, b, c in T.grid(" + number(extents[0]) + ", " +
           number(extents[1]) + ", " + number(extents[2]) + "):\n        with T.block(\"B\"):\n" +
           body;
    if (limit > 0) out += "            T.where(" + total + " < " + number(limit) + ")\n";
    return out + "            B[" + at + "] = T.float32(1)\n";
  }

  /// Whether no two iterations of the loop run the same instance while the loops around it stand still.
  bool counted_apart(std::size_t loop) const {
    std::map<std::vector<std::int64_t>, std::int64_t> met;  // the loops around, and the values
    place at{};
    for (at[0] = 0; at[0] < extents[0]; ++at[0])
      for (at[1] = 0; at[1] < extents[1]; ++at[1])
        for (at[2] = 0; at[2] < extents[2]; ++at[2]) {
          if (limit > 0 && sum(at) >= limit) continue;
          std::vector<std::int64_t> key(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(loop));
          for (const std::int64_t v : values(at)) key.push_back(v);
          if (met.try_emplace(key, at[loop]).first->second != at[loop]) return false;
        }
    return true;
  }

  bool told_apart(std::size_t loop) const {
    const ir::function f = ir::parse(text());
    const dependence::block_scope scope(*ir::root_block(f));
    return dependence::instances_apart(scope[0], loop);
  }
};

}  // namespace

TEST_CASE("independence: digits of a sum tell threads apart that copy together") {
  // 3 x 27 x 9 elements, by threads b, one after the other and four at once
  const copy one{{22, 32, 1}, {32, 1, 0}, {{21, 0, 1, 0}, {1, 21, 1, 0}}, 693};
  CHECK(one.told_apart(1));
  CHECK(one.told_apart(0));
  const copy lanes{{25, 64, 2}, {64, 1, 0}, {{224, 0, 1, 0}, {32, 7, 1, 0}, {1, 32, 2, 1}}, 0};
  CHECK(lanes.told_apart(1));
  CHECK(lanes.told_apart(0));
}

TEST_CASE("independence: a missing digit, or threads whose elements overlap, are not told apart") {
  const copy hole{{4, 32, 1}, {32, 1, 0}, {{16, 0, 1, 0}, {1, 8, 1, 0}}, 0};  // 8 of 16
  CHECK_FALSE(hole.counted_apart(1));
  CHECK_FALSE(hole.told_apart(1));
  const copy overlap{{4, 8, 4}, {24, 3, 1}, {{8, 0, 1, 0}, {1, 8, 1, 0}}, 0};  // four of each three
  CHECK_FALSE(overlap.counted_apart(1));
  CHECK_FALSE(overlap.told_apart(1));
  const copy wide{
      {4, 32, 4}, {32, 1, 0}, {{8, 0, 1, 0}, {1, 8, 2, 1}}, 0};  // lanes reach into the next
  CHECK_FALSE(wide.counted_apart(1));
  CHECK_FALSE(wide.told_apart(1));
}

TEST_CASE("independence: what is said of random digits is so") {
  std::mt19937 random(11);
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  int apart = 0, said = 0;
  for (int run = 0; run < 1500; ++run) {
    copy c;
    c.extents = {1 + below(4), 1 + below(8), 1 + below(3)};
    const bool lanes = below(2) == 0;
    c.steps = {1 + below(2) * (c.extents[1] - 1 + below(3)), 1 + below(3), lanes ? 0 : below(2)};
    if (below(2)) c.steps[0] = c.steps[1] * c.extents[1];
    std::int64_t reach = 1;
    const std::int64_t many = 1 + below(3);
    for (std::int64_t i = 0; i < many; ++i) {
      const std::int64_t count = 2 + below(6), factor = 1 + below(3);
      c.variables.push_back(
          {reach, i + 1 == many && below(3) ? 0 : count, factor, lanes ? below(2) : 0});
      reach *= below(8) ? count : count + 1;
    }
    if (below(3) == 0) c.limit = 1 + below(30);
    for (const std::size_t loop : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
      INFO(c.text());
      CAPTURE(loop);
      const bool is = c.counted_apart(loop), told = c.told_apart(loop);
      CHECK((is || !told));
      apart += is;
      said += told;
    }
  }
  MESSAGE(said, " of ", apart, " are told");
  CHECK(said * 2 > apart);
}
