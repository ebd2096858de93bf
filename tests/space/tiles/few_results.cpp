#include <tilewright/impl/space/tiles/few_results.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/root_blocks.hpp>

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
