#include <tilewright/impl/space/tiles/records.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// The smallest and the largest of each field.
ir::function bounds(int records, int fields, bool largest = true) {
  const std::string n = std::to_string(records), c = std::to_string(fields);
  const auto block = [&](const std::string& result, const std::string& of,
                         const std::string& start) {
    return "    for i, n in T.grid(" + c + ", " + n + "):\n        with T.block(\"" + result +
           "\"):\n            vi, vn = T.axis.remap(\"SR\", [i, n])\n            with T.init():\n  "
           "              " +
           result + "[vi] = T.float32(\"" + start + "\")\n            " + result + "[vi] = " + of +
           "(" + result + "[vi], P[vn, vi])\n";
  };
  return ir::parse("@T.prim_func\ndef bounds(P: T.Buffer((" + n + ", " + c +
                   "), \"float32\"), L: T.Buffer((" + c + ",), \"float32\")" +
                   (largest ? ", H: T.Buffer((" + c + ",), \"float32\")" : std::string()) + "):\n" +
                   block("L", "T.min", "inf") +
                   (largest ? block("H", "T.max", "-inf") : std::string()));
}

std::vector<schedule> sketches(const ir::function& f, int threads = 1) {
  return space::default_cpu().sketches(f, draws::haswell(threads), 1);
}

bool in_parts(const schedule& s) {
  return s.trace().print().find("sch.rfactor") != std::string::npos;
}

}  // namespace

TEST_CASE("results of fields are reduced in vectors of whole records, as these lie in memory") {
  for (const bool largest : {false, true})
    for (const int fields : {2, 3, 5}) {
      const ir::function f = bounds(320, fields, largest);
      const std::vector<schedule> all = sketches(f);
      REQUIRE(all.size() >= 2);
      CHECK(in_parts(all[0]));
      CHECK(all[0].trace().print().find("sch.vectorize") != std::string::npos);
      CHECK(draws::check(f, all, 20) > 5);
    }
}

TEST_CASE("records that whole groups do not divide are reduced in groups, too") {
  for (const bool largest : {false, true})
    for (const int records : {331, 337}) {
      const ir::function f = bounds(records, 3, largest);
      const std::vector<schedule> all = sketches(f);
      REQUIRE(all.size() >= 2);
      CHECK(in_parts(all[0]));
      CHECK(all[0].trace().print().find("sch.vectorize") != std::string::npos);
      CHECK(draws::check(f, all, 20) > 5);
    }
}

TEST_CASE("records of as many fields as lanes, and few records, are left to others") {
  for (const ir::function& f : {bounds(320, 8), bounds(16, 3)})
    for (const schedule& s : sketches(f)) CHECK_FALSE(in_parts(s));
}
