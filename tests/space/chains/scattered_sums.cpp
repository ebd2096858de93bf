#include <tilewright/impl/space/chains/scattered_sums.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Y[b, d] = the sum over n of what `term` is.
ir::function sums(const std::string& term, int rows, int columns) {
  const std::string b = std::to_string(rows), d = std::to_string(columns);
  return ir::parse(R"(@T.prim_func
def main(X: T.Buffer((50,), "float32"), V: T.Buffer((50, )" +
                   d + R"(), "float32"), Y: T.Buffer(()" + b + ", " + d + R"(), "float32")):
    for b, d, n in T.grid()" +
                   b + ", " + d + R"(, 50):
        with T.block("Y"):
            vb, vd, vn = T.axis.remap("SSR", [b, d, n])
            with T.init():
                Y[vb, vd] = T.float32(0)
            Y[vb, vd] = Y[vb, vd] + )" +
                   term + "\n");
}

const std::string in_segments =
    "T.Select(T.Cast(\"int32\", X[vn] * T.float32(60)) == vb, V[vn, vd], T.float32(0))";

bool is_scattered(const schedule& s) {
  return s.show().find("tilewright.scattered") != std::string::npos;
}

}  // namespace

TEST_CASE(
    "sums of terms that each belong to one row touch that row, first, or all rows, as a choice") {
  for (const int columns : {1, 5, 16}) {
    const ir::function f = sums(in_segments, 40, columns);
    const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
    INFO(sketches.front().show());
    CHECK(is_scattered(sketches.front()));
    CHECK_FALSE(std::all_of(sketches.begin(), sketches.end(), is_scattered));
    draws::check(f, sketches, 8);
    for (const schedule& s : sketches)
      CHECK(draws::close(draws::run(pass::lower(s.function(), target::named("haswell"))),
                         draws::run(f)));
  }
}

TEST_CASE("few rows, rows that no data tell, and other sums are looked at as they were") {
  const auto none = [](const ir::function& f, int threads = 1) {
    const std::vector<schedule> sketches =
        space::default_cpu().sketches(f, draws::haswell(threads), 1);
    CHECK(std::none_of(sketches.begin(), sketches.end(), is_scattered));
  };
  none(sums(in_segments, 4, 16));
  none(sums(in_segments, 16, 16), 4);
  none(sums("T.Select(vn == vb, V[vn, vd], T.float32(0))", 40, 16));
  none(sums("V[vn, vd] * X[vn]", 40, 16));
}
