#include <tilewright/impl/schedule/primitive/reductions/prefix_scans.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/random.hpp>

using namespace tilewright;

namespace {

/// Y[r, i] += X[r, j] where `element` says so, over 3 rows.
struct program {
  std::string element = "T.Select(vj <= vi, X[vr, vj], 0)", start = "0", type = "int32",
              update = "Y[vr, vi] + ", behind = {}, attributes = {};
  int results = 7, terms = 7;
};

program with_element(std::string element) {
  program out;
  out.element = std::move(element);
  return out;
}

ir::function parsed(const program& p) {
  const std::string y = std::to_string(p.results), x = std::to_string(p.terms);
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((3, " + x + "), \"" + p.type +
                   "\"), Y: T.Buffer((3, " + y + "), \"" + p.type + "\")):\n" + p.attributes +
                   "    for r, i, j in T.grid(3, " + y + ", " + x +
                   "):\n        with T.block(\"Y\"):\n"
                   "            vr, vi, vj = T.axis.remap(\"SSR\", [r, i, j])\n"
                   "            with T.init():\n                Y[vr, vi] = " +
                   p.start + "\n            Y[vr, vi] = " + p.update + p.element + p.behind + "\n");
}

template <class T>
std::vector<std::vector<T>> results(const ir::function& f) {
  support::random draw(7);
  std::vector<std::vector<T>> data;
  for (const ir::param& p : f.params) {
    std::int64_t size = 1;
    for (const ir::expr& e : p.buffer->shape) size *= ir::as_int(e);
    data.emplace_back(static_cast<std::size_t>(size));
    for (T& x : data.back()) x = static_cast<T>(static_cast<double>(draw.below(2000)) / 7 - 140);
  }
  std::vector<ir::tensor_view> views;
  for (auto& values : data) views.push_back({values.data(), {}});
  ir::interpret_options options;
  options.check_races = options.check_unwritten = true;
  ir::interpret(f, views, options);
  return data;
}

/// Blocks of the scan, 0 where there is none; its results are the same to the last bit.
template <class T = std::int32_t>
int scanned(const ir::function& f) {
  const std::optional<ir::function> out = primitive::scan_prefixes(f);
  if (!out) return 0;
  INFO(ir::print(*out));
  ir::verify(*out);
  CHECK(results<T>(*out) == results<T>(f));
  int blocks = -1;  // the root
  ir::for_each_stmt(out->body, [&](const ir::stmt& s) { blocks += ir::as_realize(s) != nullptr; });
  return blocks;
}

int scanned_if(const std::string& condition, int results = 7, int terms = 7) {
  program p = with_element("T.Select(" + condition + ", X[vr, vj], 0)");
  p.results = results;
  p.terms = terms;
  return scanned(parsed(p));
}

}  // namespace

TEST_CASE("a reduction over what stands before its result is a scan") {
  for (const char* condition :
       {"vj <= vi", "vj < vi", "vi >= vj", "vi > vj", "vj - vi <= 0", "vj + 1 <= vi", "vj < vi + 1",
        "0 <= vi - vj", "vj >= vi", "vj > vi", "vi < vj", "vi + 1 <= vj"}) {
    CAPTURE(condition);
    CHECK(scanned_if(condition) == 2);
  }
  SUBCASE("one result more or fewer than terms") {
    CHECK(scanned_if("vj < vi", 8, 7) == 2);
    CHECK(scanned_if("vj <= vi", 6, 7) == 2);
    CHECK(scanned_if("vj > vi", 6, 7) == 2);
    CHECK(scanned_if("vj >= vi", 8, 7) == 2);
    CHECK(scanned_if("vj <= vi", 8, 7) == 0);  // the last one has no term more
    CHECK(scanned_if("vj > vi", 5, 7) == 0);   // the last one has two
  }
  SUBCASE("results with other terms") {
    CHECK(scanned_if("vj <= vi + 1") == 0);
    CHECK(scanned_if("vj <= vi * 2") == 0);
    CHECK(scanned_if("vj <= vr") == 0);
    CHECK(scanned_if("vj != vi") == 0);
    CHECK(scanned_if("vj <= vi and 1 <= vi") == 0);
  }
}

TEST_CASE("conditions of a scan are taken out of choices, conjunctions and casts") {
  const auto element = [](const std::string& e) { return scanned(parsed(with_element(e))); };
  CHECK(element("T.Select(vj <= vi and 0 < X[vr, vj], X[vr, vj], 0)") == 2);
  CHECK(element("T.Select(0 < X[vr, vj], T.Select(vj <= vi, X[vr, vj], 0), 0)") == 2);
  CHECK(element("T.Select(vi < vj, 0, X[vr, vj] * vj)") == 2);
  CHECK(element("T.Cast(\"int32\", vj < vi and 0 < X[vr, vj])") == 2);
  CHECK(element("T.Cast(\"int32\", vj < vi)") == 2);
  CHECK(element("T.if_then_else(vj < vi, X[vr, vj], 0)") == 2);
  CHECK(element("T.Select(vj <= vi, X[vr, vj], 1)") == 0);
  CHECK(element("T.Select(vj <= vi, X[vr, vj] * vi, 0)") == 0);
  CHECK(element("T.Select(vj <= vi, X[vr, vi], 0)") == 0);
}

TEST_CASE(
    "sums, products and maxima are scanned, and floats that are not narrow in the order of the "
    "terms") {
  program sum = with_element("T.Select(vj <= vi, X[vr, vj], T.float32(0))");
  sum.start = "T.float32(0)";
  sum.type = "float32";
  CHECK(scanned<float>(parsed(sum)) == 2);
  program product = sum;
  product.update = "Y[vr, vi] * ";
  product.start = "T.float32(1)";
  product.element = "T.Select(vj <= vi, X[vr, vj], T.float32(1))";
  CHECK(scanned<float>(parsed(product)) == 2);
  program most = sum;
  most.update = "T.max(Y[vr, vi], ";
  most.behind = ")";
  most.start = "T.float32(\"-inf\")";
  most.element = "T.Select(vj <= vi, X[vr, vj], T.float32(\"-inf\"))";
  CHECK(scanned<float>(parsed(most)) == 2);
  SUBCASE("in a function that keeps the order") {
    sum.attributes = "    T.func_attr({\"tilewright.reductions\": \"in_order\"})\n";
    CHECK(scanned<float>(parsed(sum)) == 2);
    sum.element = "T.Select(vj >= vi, X[vr, vj], T.float32(0))";
    CHECK(scanned<float>(parsed(sum)) == 0);
  }
  SUBCASE("of 16 bits") {
    program narrow = with_element("T.Select(vj <= vi, X[vr, vj], T.float16(0))");
    narrow.start = "T.float16(0)";
    narrow.type = "float16";
    CHECK_FALSE(primitive::scan_prefixes(parsed(narrow)).has_value());
  }
}

TEST_CASE("a summed area is two scans, and a prefix of sums is one of their sums") {
  const auto areas = [](const std::string& condition) {
    return ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((5, 6), "int32"), Y: T.Buffer((5, 6), "int32")):
    for i, c, j, k in T.grid(5, 6, 5, 6):
        with T.block("Y"):
            vi, vc, vj, vk = T.axis.remap("SSRR", [i, c, j, k])
            with T.init():
                Y[vi, vc] = 0
            Y[vi, vc] = Y[vi, vc] + T.Select()" +
                     condition + ", X[vj, vk], 0)\n");
  };
  CHECK(scanned(areas("vj <= vi and vk <= vc")) == 4);
  CHECK(scanned(areas("vj < vi and vk >= vc")) == 4);
  CHECK(scanned(areas("vj <= vi and vk != vc")) == 3);
}

TEST_CASE("a trace names the scans of an algorithm") {
  schedule s(parsed({}));
  s.work_on("main.scans");
  CHECK(s.get_loops(s.get_block("Y")).size() == 2);
  CHECK(results<std::int32_t>(s.function()) == results<std::int32_t>(parsed({})));
  CHECK_THROWS(s.parallel(s.get_loops(s.get_block("Y"))[1]));
  CHECK_THROWS(s.vectorize(s.get_loops(s.get_block("Y"))[1]));
  CHECK_NOTHROW(s.parallel(s.get_loops(s.get_block("Y"))[0]));
  CHECK(results<std::int32_t>(s.function()) == results<std::int32_t>(parsed({})));
}
