#include <tilewright/impl/space/tiles/short_terms.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

struct sums {
  int rows = 70, groups = 3, terms = 4;
  std::string image = {};  // shape and indices of X; empty: rows, groups, terms
  std::string at = {};
  std::string step = "R[vg] + X[AT] * X[AT]";
};

/// R[g] of all rows and all terms of a group, then Y[g] of R[g].
ir::function groups_of(const sums& v) {
  const auto n = [](int x) { return std::to_string(x); };
  const std::string image =
      v.image.empty() ? n(v.rows) + ", " + n(v.groups) + ", " + n(v.terms) : v.image;
  std::string step = v.step;
  for (std::size_t at = step.find("AT"); at != std::string::npos; at = step.find("AT"))
    step.replace(at, 2, v.at.empty() ? "vh, vg, vc" : v.at);
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((" + image +
                   "), \"float32\"), M: T.Buffer((" + n(v.groups) +
                   ",), \"float32\"), Y: T.Buffer((" + n(v.groups) +
                   ",), \"float32\")):\n    R = T.alloc_buffer((" + n(v.groups) +
                   ",), \"float32\")\n    for g, h, c in T.grid(" + n(v.groups) + ", " + n(v.rows) +
                   ", " + n(v.terms) + R"():
        with T.block("R"):
            vg, vh, vc = T.axis.remap("SRR", [g, h, c])
            with T.init():
                R[vg] = T.float32()" +
                   (step.find("T.max") == 0 ? "\"-inf\"" : "0") + R"()
            R[vg] = )" +
                   step + R"(
    for g in range()" +
                   n(v.groups) + R"():
        with T.block("Y"):
            vg = T.axis.spatial()" +
                   n(v.groups) + R"(, g)
            Y[vg] = T.sqrt(T.fabs(R[vg]))
)");
}

std::vector<schedule> sketches(const ir::function& f, int threads = 1) {
  return space::default_cpu().sketches(f, draws::haswell(threads), 1);
}

bool in_lanes(const schedule& s) {
  return traces::mentions(s, "sch.rfactor") && traces::mentions(s, "sch.fuse(");
}

}  // namespace

TEST_CASE("short rows of terms beside each other have a lane for each term") {
  for (const int terms : {2, 3, 4})
    for (const std::string step :
         {"R[vg] + X[AT] * X[AT]", "T.max(R[vg], X[AT])", "R[vg] + (X[AT] - M[vg]) * X[AT]"}) {
      CAPTURE(terms);
      CAPTURE(step);
      const ir::function f = groups_of({70, 3, terms, "", "", step});
      const std::vector<schedule> all = sketches(f);
      CHECK(in_lanes(all[0]));
      CHECK_FALSE(in_lanes(all.back()));  // the other choice stays
      draws::check(f, all, 12);
    }
}

TEST_CASE("sums of which several are one tuple have lanes, too") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((66, 5, 4), "float32"), S: T.Buffer((5,), "float32"), H: T.Buffer((5,), "float32")):
    for g, h, c in T.grid(5, 66, 4):
        with T.block("S"):
            vg, vh, vc = T.axis.remap("SRR", [g, h, c])
            with T.init():
                S[vg] = T.float32(0)
            S[vg] = S[vg] + X[vh, vg, vc]
    for g, h, c in T.grid(5, 66, 4):
        with T.block("H"):
            vg, vh, vc = T.axis.remap("SRR", [g, h, c])
            with T.init():
                H[vg] = T.float32(0)
            H[vg] = H[vg] + X[vh, vg, vc] * X[vh, vg, vc]
)");
  const std::vector<schedule> all = sketches(f);
  CHECK(in_lanes(all[0]));
  CHECK(traces::mentions(all[0], "sch.work_on"));  // joined
  draws::check(f, all, 12);
}

TEST_CASE("long terms, few rows, and terms apart from those of the next result keep their loops") {
  CHECK_FALSE(in_lanes(sketches(groups_of({70, 3, 5}))[0]));
  CHECK_FALSE(in_lanes(sketches(groups_of({63, 3, 4}))[0]));
  CHECK_FALSE(in_lanes(sketches(groups_of({70, 3, 4, "70, 3, 6"}))[0]));
  CHECK_FALSE(in_lanes(sketches(groups_of({70, 3, 4, "3, 70, 4", "vg, vh, vc"}))[0]));
}
