#include <tilewright/impl/space/tiles/few_results.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/root_blocks.hpp>

#include "../../schedule/check_schedule.hpp"
#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Both parts of complex numbers: a matrix of `rows` rows times `columns` vectors of `n` numbers.
ir::function complex_product(int rows, int columns, int n) {
  const auto number = [](int x) { return std::to_string(x); };
  const std::string m = number(rows), c = number(columns), k = number(n);
  return ir::parse(
      "@T.prim_func\ndef main(A: T.Buffer((" + m + ", " + k + ", 2), \"float32\"), X: T.Buffer((" +
      c + ", " + k + ", 2), \"float32\"), Y: T.Buffer((" + m + ", " + c +
      ", 2), \"float32\")):\n    for i, j, c, k in T.grid(" + m + ", " + c + ", 2, " + k + R"():
        with T.block("Y"):
            vi, vj, vc, vk = T.axis.remap("SSSR", [i, j, c, k])
            with T.init():
                Y[vi, vj, vc] = T.float32(0)
            Y[vi, vj, vc] = Y[vi, vj, vc] + T.Select(vc == 0, A[vi, vk, 0] * X[vj, vk, 0] - A[vi, vk, 1] * X[vj, vk, 1], A[vi, vk, 0] * X[vj, vk, 1] + A[vi, vk, 1] * X[vj, vk, 0])
)");
}

/// Bytes of a matrix times a few columns, which lie side by side.
ir::function bytes_by_columns(int columns, const char* attributes = "") {
  const std::string c = std::to_string(columns);
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((31, " + c +
                   "), \"int8\"), B: T.Buffer((53, 31), \"int8\"), C: T.Buffer((53, " + c +
                   "), \"int32\")):\n" + attributes + "    for i, j, k in T.grid(53, " + c +
                   R"(, 31):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.int32(0)
            C[vi, vj] = C[vi, vj] + T.cast(A[vk, vj], "int32") * T.cast(B[vi, vk], "int32")
)");
}

enum class taken { nothing, apart, together };

/// What the first sketch does with both parts of a row.
taken takes_sums(const ir::function& f, const space::context& where = draws::haswell(1)) {
  const std::string first = space::default_cpu().sketches(f, where, 1)[0].trace().print();
  const auto has = [&](const char* text) { return first.find(text) != std::string::npos; };
  if (has("transform_layout")) return taken::nothing;
  return has("tilewright.sums_together") ? taken::together
         : has("sch.unroll")             ? taken::apart
                                         : taken::nothing;
}

}  // namespace

TEST_CASE("both parts of a complex matrix times a vector are sums along its rows") {
  for (const int threads : {1, 4}) {
    const ir::function f = complex_product(9, 1, 37);
    const std::vector<schedule> sketches =
        space::default_cpu().sketches(f, draws::haswell(threads), 1);
    CHECK(sketches.size() > 1);  // the other choice is a transposed copy
    CHECK(draws::check(f, sketches, 20) > 5);
  }
  CHECK(takes_sums(complex_product(9, 1, 37)) == taken::together);
  CHECK(takes_sums(complex_product(1, 1, 37)) == taken::apart);   // no row shares with another
  CHECK(takes_sums(complex_product(9, 1, 7)) == taken::nothing);  // shorter than a vector
  CHECK(takes_sums(complex_product(9, 40, 37)) ==
        taken::nothing);  // each element serves many results
  // with 16 lanes, too
  const target::cpu wide = target::named("znver4");
  const space::context where{&wide, 1};
  CHECK(takes_sums(complex_product(9, 1, 37), where) == taken::together);
}

TEST_CASE(
    "bytes times a few columns are summed as they lie, unless they are laid out before calls") {
  const target::cpu cpu = target::named("znver4");
  const space::context where{&cpu, 1};
  CHECK(takes_sums(bytes_by_columns(2), where) == taken::together);
  CHECK(takes_sums(bytes_by_columns(4), where) == taken::together);
  CHECK(takes_sums(bytes_by_columns(40), where) == taken::nothing);
  CHECK(takes_sums(bytes_by_columns(2, "    T.func_attr({\"layout_free_buffers\": [1]})\n"),
                   where) == taken::nothing);
  const ir::function f = bytes_by_columns(2);
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, where, 1);
  CHECK(sketches.size() > 8);  // instructions are offered behind
  for (const schedule& sketch : sketches) check_meaning(sketch, f);
}

TEST_CASE("lanes without work cost arithmetic beside loads") {
  const schedule s(complex_product(9, 1, 37), 1);
  const ir::block_node& b = *space::named_block(s, "Y").block;
  const std::vector<space::access_profile> loads = space::profile(s, "Y")->reads;
  const double arithmetic = space::detail::arithmetic_of(b);
  CHECK(arithmetic == 9);  // 4 products, 2 sums of these, one with Y, a choice and its condition
  const auto cost = [&](std::size_t along, std::int64_t values, double operations) {
    return space::detail::vector_load_cost(loads, along, values, 8, operations);
  };
  // loads alone would have vectors of the results, 2 lanes of 8
  CHECK(cost(2, 2, 0) < cost(3, 37, 0));
  CHECK(cost(2, 2, arithmetic) > cost(3, 37, arithmetic));
}
