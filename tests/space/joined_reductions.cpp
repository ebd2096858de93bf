// Reductions that share values, as the default space for CPUs joins them.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/random.hpp>

#include "backend/harness.hpp"
#include "draws.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

std::vector<schedule> sketches_of(const ir::function& f, int threads = 1) {
  return space::default_cpu().sketches(f, draws::haswell(threads), 1);
}

std::string number(int n) { return std::to_string(n); }

std::string parameters(const std::vector<std::pair<std::string, int>>& vectors) {
  std::string out;
  for (const auto& [name, extent] : vectors)
    out += (out.empty() ? "" : ", ") + name + ": T.Buffer((" + number(extent) + ",), \"float32\")";
  return "@T.prim_func\ndef main(" + out + "):\n";
}

/// for i, j: to[i] += value
std::string sum(const std::string& to, const std::string& value, int bodies, int others) {
  return "    for i, j in T.grid(" + number(bodies) + ", " + number(others) +
         "):\n        with T.block(\"" + to +
         "\"):\n            vi, vj = T.axis.remap(\"SR\", [i, j])\n            with T.init():\n"
         "                " +
         to + "[vi] = T.float32(0)\n            " + to + "[vi] = " + to + "[vi] + " + value + "\n";
}

/// What `others` bodies at X, Y with masses M do to `bodies` at P, Q; the force may have a tensor of its own.
ir::function attraction(int bodies, int others, bool stored = false) {
  const std::string dx = "(X[vj] - P[vi])", dy = "(Y[vj] - Q[vi])",
                    root = "T.rsqrt(" + dx + " * " + dx + " + " + dy + " * " + dy +
                           " + T.float32(0.1))",
                    force = stored ? "F[vi, vj]" : "(M[vj] * " + root + ")";
  std::string text = parameters({{"X", others},
                                 {"Y", others},
                                 {"M", others},
                                 {"P", bodies},
                                 {"Q", bodies},
                                 {"A", bodies},
                                 {"B", bodies}});
  const std::string pairs = number(bodies) + ", " + number(others);
  if (stored)
    text += "    F = T.alloc_buffer((" + pairs + "), \"float32\")\n    for i, j in T.grid(" +
            pairs +
            "):\n        with T.block(\"F\"):\n            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
            "            F[vi, vj] = M[vj] * " +
            root + "\n";
  return ir::parse(text + sum("A", force + " * " + dx, bodies, others) +
                   sum("B", force + " * " + dy, bodies, others));
}

/// Sums and sums of squares of rows.
ir::function moments(int rows, int columns) {
  const std::string shape = number(rows) + ", " + number(columns);
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((" + shape + "), \"float32\"), A: T.Buffer((" +
      number(rows) + ",), \"float32\"), B: T.Buffer((" + number(rows) + ",), \"float32\")):\n" +
      sum("A", "X[vi, vj]", rows, columns) + sum("B", "X[vi, vj] * X[vi, vj]", rows, columns));
}

bool is_joined(const schedule& s) { return traces::mentions(s, "main.joined"); }

std::size_t blocks(const schedule& s) {
  return primitive::all_blocks(ir::root_block(s.function())->body).size();
}

/// The program, lowered for this machine and compiled, against the interpreter.
void check_compiled(const ir::function& f, const ir::function& scheduled) {
  if (!harness::have_compiler()) return;
  std::vector<harness::argument> expected = harness::make_arguments(f, {}),
                                 got = harness::make_arguments(f, {});
  std::vector<ir::tensor_view> views;
  for (harness::argument& a : expected) views.push_back({a.bytes.data(), a.strides});
  ir::interpret(f, views);
  REQUIRE(harness::run_compiled(pass::lower(scheduled, target::host()), target::host(), got, {}) ==
          backend::call_done);
  for (std::size_t i = 0; i < expected.size(); ++i)
    REQUIRE(harness::difference(got[i], expected[i]) <= 1e-5);
}

/// Two to four reductions over one domain whose elements are drawn around a few values that they share.
class drawn_reductions {
 public:
  explicit drawn_reductions(std::uint64_t seed) : random_(seed) {}

  ir::function function() {
    const bool rows = random_.below(3) > 0;
    const int spatial = rows ? 1 + static_cast<int>(random_.below(37)) : 1,
              reduced = 2 + static_cast<int>(random_.below(600)),
              count = 2 + static_cast<int>(random_.below(3));
    const std::string pairs = number(spatial) + ", " + number(reduced);
    std::string text = "@T.prim_func\ndef main(X: T.Buffer((" + pairs +
                       "), \"float32\"), P: T.Buffer((" + number(spatial) +
                       ",), \"float32\"), Q: T.Buffer((" + number(reduced) + ",), \"float32\")";
    std::string body;
    for (int k = 0; k < count; ++k) {
      text += ", R" + number(k) + ": T.Buffer((" + number(spatial) + ",), \"float32\")";
      body += reduction("R" + number(k), pairs);
    }
    return ir::parse(text + "):\n" + body);
  }

 private:
  std::string one_of(const std::vector<std::string>& list) {
    return list[random_.below(list.size())];
  }
  std::string value() {
    const std::string shared = one_of(
        {"T.exp(P[vi] - Q[vj])", "T.rsqrt((P[vi] - Q[vj]) * (P[vi] - Q[vj]) + T.float32(0.5))",
         "X[vi, vj]", "(Q[vj] / (T.float32(2) + P[vi] * P[vi]))"});
    switch (random_.below(4)) {
      case 0: return shared;
      case 1: return shared + " * " + one_of({"P[vi]", "Q[vj]", "X[vi, vj]", "T.float32(0.25)"});
      case 2: return shared + " * " + shared;
      default: return "T.max(" + shared + ", Q[vj])";
    }
  }
  std::string reduction(const std::string& to, const std::string& pairs) {
    const std::string element = value(), old = to + "[vi]";
    const std::size_t kind = random_.below(4);
    const std::string update = kind == 0   ? "T.max(" + old + ", " + element + ")"
                               : kind == 1 ? "T.min(" + old + ", " + element + ")"
                                           : old + " + " + element,
                      init = kind == 0   ? "T.min_value(\"float32\")"
                             : kind == 1 ? "T.max_value(\"float32\")"
                                         : "T.float32(0)";
    return "    for i, j in T.grid(" + pairs + "):\n        with T.block(\"" + to +
           "\"):\n            vi, vj = T.axis.remap(\"SR\", [i, j])\n            with T.init():\n"
           "                " +
           old + " = " + init + "\n            " + old + " = " + update + "\n";
  }

  support::random random_;
};

}  // namespace

TEST_CASE("reductions that share a root are one nest first, and three apart later") {
  for (const bool stored : {false, true})
    for (const int threads : {1, 4}) {
      const ir::function f = attraction(37, 21, stored);
      const std::vector<schedule> sketches = sketches_of(f, threads);
      CAPTURE(stored);
      CHECK(is_joined(sketches.front()));
      CHECK(blocks(sketches.front()) == 1);
      CHECK(traces::mentions(sketches.front(), "vectorize"));
      CHECK_FALSE(is_joined(sketches.back()));
      CHECK(draws::check(f, sketches, 20) > 2);
      check_compiled(f, sketches.front().function());
    }
}

TEST_CASE("vectors of joined sums are as wide as registers allow") {
  const schedule first = sketches_of(attraction(256, 64)).front();
  // 16 registers hold two sums and two positions of 16 bodies, and not of 32
  CHECK(first.show().find("T.vectorized(16)") != std::string::npos);
}

TEST_CASE("reductions that only read the same rows are one nest, too") {
  const ir::function f = moments(12, 40);
  const std::vector<schedule> sketches = sketches_of(f);
  CHECK(is_joined(sketches.front()));
  CHECK_FALSE(is_joined(sketches.back()));
  CHECK(draws::check(f, sketches, 20) > 1);
  for (const schedule& s : sketches) check_compiled(f, s.function());
}

namespace {

/// The maximum of each row, and the sum of exponentials relative to it.
ir::function peaks_and_sums(int count, int length) {
  const std::string n = number(count), shape = n + ", " + number(length),
                    rows = "    for i, j in T.grid(" + shape + "):\n        with T.block(\"";
  return ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((" + shape + "), \"float32\"), M: T.Buffer((" + n +
      ",), \"float32\"), S: T.Buffer((" + n + ",), \"float32\")):\n" + rows +
      "M\"):\n            vi, vj = T.axis.remap(\"SR\", [i, j])\n            with T.init():\n"
      "                M[vi] = T.min_value(\"float32\")\n"
      "            M[vi] = T.max(M[vi], X[vi, vj])\n" +
      rows +
      "S\"):\n            vi, vj = T.axis.remap(\"SR\", [i, j])\n            with T.init():\n"
      "                S[vi] = T.float32(0)\n"
      "            S[vi] = S[vi] + T.exp(X[vi, vj] - M[vi])\n");
}

}  // namespace

TEST_CASE("a sum that would wait for a maximum stays apart, unless rows come from memory") {
  const ir::function f = peaks_and_sums(12, 40);
  const std::optional<primitive::joined_reductions> joined = primitive::join_reductions(f);
  REQUIRE(joined);
  CHECK(joined->rescales);
  for (const schedule& s : sketches_of(f)) CHECK_FALSE(is_joined(s));
  const std::vector<schedule> of_long_rows = sketches_of(peaks_and_sums(2, 1 << 20));
  CHECK_FALSE(is_joined(of_long_rows.front()));
  CHECK(is_joined(of_long_rows.back()));
}

TEST_CASE("a limit of few sketches has room for both") {
  const std::vector<schedule> few =
      space::default_cpu(2).sketches(attraction(37, 21), draws::haswell(), 1);
  REQUIRE(few.size() == 2);
  CHECK(is_joined(few[0]));
  CHECK_FALSE(is_joined(few[1]));
}

TEST_CASE("drawn reductions compute the same joined and apart") {
  std::size_t joined = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const ir::function f = drawn_reductions(seed).function();
    INFO(ir::print(f));
    const std::vector<schedule> sketches = sketches_of(f, seed % 3 == 0 ? 4 : 1);
    draws::check(f, sketches, 6);
    for (const schedule& s : {sketches.front(), sketches.back()}) {
      joined += is_joined(s) ? 1 : 0;
      INFO(s.trace().print());
      check_compiled(f, s.function());
    }
  }
  CHECK(joined > 20);
}
