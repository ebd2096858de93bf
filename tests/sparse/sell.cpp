// Rows side by side: what becomes of a program, and that it still means the same.
#include <tilewright/sparse/storage.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <tilewright/expr/formats/sell_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

#include "compiled_run.hpp"
#include "patterns.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;
using compiled_run::run_compiled;

namespace {

constexpr auto spmm =
    kernel<"spmm">([](in<"A", float, "M", sell<"K", 4>> A, in<"B", float, "K", "N"> B,
                      out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });
constexpr auto weighted = kernel<"weighted">(
    [](in<"A", float, "M", sell<"K", 4>> A, in<"w", float, "M"> w, in<"x", float, "K"> x,
       out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * w(i) * x(k)); });

using rows_of_four = sell_matrix<float, 4>;

rows_of_four side_by_side(const patterns::csr_matrix<>& a, std::int64_t window) {
  return rows_of_four(csr(a.offsets, a.indices, a.values, a.columns), {window, 1e9});
}

ir::sparse_function stage_one(const any_kernel& kernel, const rows_of_four& a, dim_values dims) {
  dims["M"] = a.rows();
  dims["K"] = a.columns();
  const auto places = static_cast<std::int64_t>(a.values().size());
  const auto slices = static_cast<std::int64_t>(a.offsets().size()) - 1;
  return sparse::with_storage(reify(kernel, dims), {{"A", places, dtype::i32, 4, slices}});
}

std::vector<float> operand_of(const patterns::csr_matrix<>& a, std::int64_t columns) {
  std::vector<float> out(static_cast<std::size_t>(a.columns * columns));
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = static_cast<float>(n * 37 % 19) - 9;
  return out;
}

template <class T>
ir::tensor_view view_of(const std::vector<T>& v) {
  return {const_cast<T*>(v.data()), {}};
}

std::vector<ir::tensor_view> views(const rows_of_four& a, const std::vector<float>& b,
                                   const std::vector<float>& c) {
  return {view_of(a.offsets()), view_of(a.lengths()), view_of(a.order()), view_of(a.indices()),
          view_of(a.values()),  view_of(b),           view_of(c)};
}

}  // namespace

TEST_CASE("rows side by side have a result of their own, of which each row is taken") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  const ir::sparse_function f = stage_one(spmm, side_by_side(a, 7), {{"N", 8}});
  const std::string text = ir::print(f);
  CHECK(text.find("    A_lanes = T.dense_fixed(4, A_steps)\n") != std::string::npos);
  CHECK(text.find("with T.sp_iter([A_slices, A_steps, A_lanes, A_columns, C_vj], \"SRSRS\", \"C\") "
                  "as [vi_o, vk_o, vi_i, vk, vj]:") != std::string::npos);
  CHECK(text.find("T.Select(vk_o < A_lengths[vi_o, vi_i], A_1[vi_o, vk_o, vi_i, vk] * B[vk, vj], "
                  "T.float32(0.0))") != std::string::npos);
  CHECK(text.find("C[vi, vj] = C_sliced[A_order[vi], vj]") != std::string::npos);
  ir::verify(f);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
}

TEST_CASE("stage I, lowered blocks and machine code agree with the rows as they were") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    if (a.nonzeros() == 0) continue;
    for (const std::int64_t window : {1, 8, 1000})
      for (const std::int64_t columns : {1, 5}) {
        const rows_of_four rows = side_by_side(a, window);
        const ir::sparse_function f = stage_one(spmm, rows, {{"N", columns}});
        ir::verify(f);
        const ir::function g = sparse::lower(f);
        ir::verify(g);
        const std::vector<float> b = operand_of(a, columns);
        const std::vector<float> unset(static_cast<std::size_t>(a.rows * columns), 99);
        std::vector<float> oracle = unset, blocks = unset, code = unset;
        ir::interpret(f, views(rows, b, oracle));
        ir::interpret(g, views(rows, b, blocks));
        run_compiled(g, views(rows, b, code));
        CHECK(oracle == blocks);
        ir::point_evaluator points(g, views(rows, b, oracle));
        const std::vector<double> dense = a.dense();
        for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r)
          for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
            double sum = 0;
            const auto wide = static_cast<std::size_t>(columns);
            for (std::size_t q = 0; q < static_cast<std::size_t>(a.columns); ++q)
              sum += dense[r * static_cast<std::size_t>(a.columns) + q] *
                     static_cast<double>(b[q * wide + c]);
            CHECK(static_cast<double>(oracle[r * wide + c]) == doctest::Approx(sum).epsilon(1e-4));
            CHECK(static_cast<double>(code[r * wide + c]) == doctest::Approx(sum).epsilon(1e-4));
            const auto point =
                points.value(6, {static_cast<std::int64_t>(r), static_cast<std::int64_t>(c)});
            REQUIRE(point);
            CHECK(point->value == doctest::Approx(sum).epsilon(1e-12));
          }
      }
  }
}

TEST_CASE("what pads a row shows nothing of the operand") {
  patterns::csr_matrix<> a;
  a.columns = 3;
  std::mt19937 random(1);
  a.add_row({1, 2}, random);
  a.add_row({}, random);
  a.add_row({1}, random);
  const rows_of_four rows = side_by_side(a, 1);
  std::vector<float> b(3, 1), c(3, 99);
  b[0] = std::numeric_limits<float>::quiet_NaN();
  b[2] = std::numeric_limits<float>::infinity();
  const ir::function g = sparse::lower(stage_one(spmm, rows, {{"N", 1}}));
  for (const bool compiled : {false, true}) {
    if (compiled)
      run_compiled(g, views(rows, b, c));
    else
      ir::interpret(g, views(rows, b, c));
    CHECK(c[0] == (a.values[1] < 0 ? -1 : 1) * std::numeric_limits<float>::infinity());
    CHECK(c[1] == 0);
    CHECK(c[2] == a.values[2]);
  }
}

TEST_CASE("with several columns vectors run along them, for several rows of a slice at a time") {
  const patterns::csr_matrix<> a = patterns::random_matrix(64, 64, 0.4, 1);
  const ir::function f = sparse::lower(stage_one(spmm, side_by_side(a, 64), {{"N", 64}}));
  target::cpu cpu = target::host();
  std::vector<schedule> sketches = space::default_cpu().sketches(f, {&cpu, 1}, 1);
  REQUIRE_FALSE(sketches.empty());
  for (schedule& s : sketches) {
    CAPTURE(s.trace().print());
    std::string kinds;
    for (const loop_rv l : s.get_loops(s.get_block("C"))) {
      const ir::loop_node& loop = s.get(l);
      if (loop.loop == ir::loop_kind::vectorized) kinds += "vector of " + loop.var->name + ";";
      if (loop.loop == ir::loop_kind::unrolled) kinds += "rows of " + loop.var->name + ";";
    }
    CHECK(kinds.find("vector of j") != std::string::npos);
    CHECK(kinds.find("rows of i") != std::string::npos);
  }
}

TEST_CASE("a block that needs the number of a row says so") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  CHECK_THROWS_WITH_AS(
      stage_one(weighted, side_by_side(a, 1), {}),
      doctest::Contains("needs the number of the row beside; declare it compressed"),
      argument_error);
}
