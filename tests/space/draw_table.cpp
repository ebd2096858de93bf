#include <tilewright/space/draw_table.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/steps.hpp>

#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

namespace {

std::vector<drawn_variable> rows_of(const design_space& s, const ir::function& f) {
  return draws_of(s.sketches(f, {}, 7).at(0).trace(), f);
}

}  // namespace

TEST_CASE("draw table: each sampling instruction has a row that counts its values") {
  const std::vector<drawn_variable> rows =
      rows_of(on<"C">(steps(let<"t"> = sample_perfect_tile<i, 2, 4>, split<i, variable<"t">{}>,
                            let<"v"> = sample_categorical<2, 4, 8>({1, 0, 2}),
                            split<j, infer, variable<"v">{}>, tile<k, 2>(choose({3, 100})))),
              programs::matmul(12, 16, 32));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].primitive == "sample_perfect_tile");
  CHECK(rows[0].of == "loop i of 12 in 2 factors, the last one at most 4");
  CHECK(rows[0].count == 4);  // 12 * 1, 6 * 2, 4 * 3, 3 * 4
  CHECK(rows[0].values == "12 * 1 ... 3 * 4");
  CHECK(rows[1].of == "one of these, by weights {1, 0, 2}");
  CHECK(rows[1].values == "2, 8");
  CHECK(rows[2].of == "loop k of 32 in 2 factors, the last one of {3, 100}");
  CHECK(rows[2].values == "11 * 3, 1 * 32");
  const std::string table = draw_table(rows);
  CHECK(std::count(table.begin(), table.end(), '\n') == 4);
  CHECK(table.find("count") < table.find("12 * 1 ... 3 * 4"));
}

TEST_CASE("draw table: places are named by their loops; a draw of structure is fixed") {
  const ir::function f = programs::matmul_relu(8, 6, 4);
  const std::vector<drawn_variable> rows =
      rows_of(sample(unroll<"C"> | skip) >> sample_compute_location<"P">, f);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].fixed);
  CHECK(rows[0].count == 1);
  CHECK(rows[1].of == "place of block P");
  CHECK(rows[1].values.starts_with("in place, loop i"));
}
