// Blocks and rows of one width: what becomes of a program, and that it still means the same.
#include <doctest/doctest.h>

#include <limits>
#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/csc_matrix.hpp>
#include <tilewright/expr/formats/dcsr_matrix.hpp>
#include <tilewright/expr/formats/dia_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

#include "patterns.hpp"
#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

using blocks_of_four = bsr_matrix<float, 4>;
using rows_of_forty = ell_matrix<float, 40>;
using numbered_rows = dcsr_matrix<float>;
using by_columns = csc_matrix<float>;
using diagonals = dia_matrix<float>;

template <dim Columns>
constexpr auto weighted_product = kernel<"product">(
    [](in<"A", float, "M", Columns> A, in<"w", float, "M"> w, in<"B", float, "K", "N"> B,
       out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * w(i) * B(k, j)); });
constexpr auto largest =
    kernel<"largest">([](in<"A", float, "M", bsr<"K", 4>> A, out<"y", float, "M"> y) {
      return y(i) = max<k>(where_stored(A)(i, k));
    });

constexpr auto layer = kernel<"layer">(
    [](in<"A", float, "M", bsr<"K", 16>> A, in<"B", float, "K", "N"> B,
       out<"C", float, "M", "N"> C) { return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f); });

struct problem {
  std::int64_t rows = 0, columns = 0, wide = 0;
  std::vector<float> w, b;
};

std::vector<float> small_numbers(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = static_cast<float>(n * 37 % 19) - 9;
  return out;
}

problem problem_of(const patterns::csr_matrix<>& a, std::int64_t wide) {
  return {a.rows, a.columns, wide, small_numbers(a.rows), small_numbers(a.columns * wide)};
}

ir::function dense_program(const any_kernel& kernel, const problem& p) {
  return reify(kernel, {{"M", p.rows}, {"K", p.columns}, {"N", p.wide}});
}

sparse::stored_parameter format_of(const blocks_of_four& a) {
  sparse::stored_parameter out{"A", static_cast<std::int64_t>(a.values().size())};
  out.block = 4;
  return out;
}
sparse::stored_parameter format_of(const rows_of_forty& a) {
  sparse::stored_parameter out{"A", static_cast<std::int64_t>(a.values().size())};
  out.width = 40;
  return out;
}

sparse::stored_parameter format_of(const numbered_rows& a) {
  sparse::stored_parameter out{"A", static_cast<std::int64_t>(a.values().size())};
  out.numbered_rows = static_cast<std::int64_t>(a.row_numbers().size());
  return out;
}

sparse::stored_parameter format_of(const by_columns& a) {
  sparse::stored_parameter out{"A", static_cast<std::int64_t>(a.values().size())};
  out.by_columns = true;
  return out;
}
sparse::stored_parameter format_of(const diagonals& a) {
  sparse::stored_parameter out{"A", static_cast<std::int64_t>(a.values().size())};
  out.diagonals = static_cast<std::int64_t>(a.offsets().size());
  return out;
}

std::vector<const void*> arrays_of(const by_columns& a) {
  return {a.offsets().data(), a.indices().data(), a.values().data()};
}
std::vector<const void*> arrays_of(const diagonals& a) {
  return {a.offsets().data(), a.values().data()};
}
std::vector<const void*> arrays_of(const numbered_rows& a) {
  return {a.row_numbers().data(), a.offsets().data(), a.indices().data(), a.values().data()};
}
std::vector<const void*> arrays_of(const blocks_of_four& a) {
  return {a.offsets().data(), a.indices().data(), a.values().data()};
}
std::vector<const void*> arrays_of(const rows_of_forty& a) {
  return {a.lengths().data(), a.indices().data(), a.values().data()};
}

/// The product in f64, [rows, wide].
std::vector<double> dense_product(const patterns::csr_matrix<>& a, const problem& p) {
  std::vector<double> out;
  const std::vector<double> dense = a.dense();
  const auto columns = static_cast<std::size_t>(p.columns), wide = static_cast<std::size_t>(p.wide);
  for (std::size_t r = 0; r < static_cast<std::size_t>(p.rows); ++r)
    for (std::size_t c = 0; c < wide; ++c) {
      double sum = 0;
      for (std::size_t q = 0; q < columns; ++q)
        sum += dense[r * columns + q] * static_cast<double>(p.w[r]) *
               static_cast<double>(p.b[q * wide + c]);
      out.push_back(sum);
    }
  return out;
}

/// Stage I, lowered blocks, machine code and points of the result.
template <class Matrix>
void check_format(const any_kernel& kernel, const Matrix& m, const patterns::csr_matrix<>& a,
                  std::int64_t wide) {
  const problem p = problem_of(a, wide);
  const ir::sparse_function f = sparse::with_storage(dense_program(kernel, p), {format_of(m)});
  ir::verify(f);
  const std::string text = ir::print(f);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  const ir::function g = sparse::lower(f);
  ir::verify(g);
  const std::vector<float> unset(static_cast<std::size_t>(p.rows * wide), 99);
  std::vector<float> oracle = unset, blocks = unset, code = unset;
  const auto arguments = [&](std::vector<float>& c) {
    std::vector<void*> out;
    for (const void* one : arrays_of(m)) out.push_back(const_cast<void*>(one));
    for (const std::vector<float>* one : {&p.w, &p.b})
      out.push_back(const_cast<float*>(one->data()));
    out.push_back(c.data());
    return out;
  };
  const auto views = [&](std::vector<float>& c) {
    std::vector<ir::tensor_view> out;
    for (void* one : arguments(c)) out.push_back({one, {}});
    return out;
  };
  ir::interpret(f, views(oracle));
  random_schedule::run_interpreted(g, arguments(blocks));
  random_schedule::run_compiled(g, target::host(), arguments(code));
  CHECK(oracle == blocks);
  const std::vector<double> expected = dense_product(a, p);
  for (std::size_t at = 0; at < expected.size(); ++at) {
    CHECK(static_cast<double>(oracle[at]) == doctest::Approx(expected[at]).epsilon(1e-4));
    CHECK(static_cast<double>(code[at]) == doctest::Approx(expected[at]).epsilon(1e-4));
  }
  if constexpr (std::is_same_v<Matrix, by_columns>) return;  // data say where its results are
  ir::point_evaluator points(g, views(blocks));
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const auto row = static_cast<std::int64_t>(at) / wide;
    const auto point =
        points.value(arguments(blocks).size() - 1, {row, static_cast<std::int64_t>(at) % wide});
    REQUIRE(point);
    CHECK(point->value == doctest::Approx(expected[at]).epsilon(1e-12));
  }
}

auto view_of(const patterns::csr_matrix<>& a) {
  return csr(a.offsets, a.indices, a.values, a.columns);
}

}  // namespace

TEST_CASE("blocks are walked block by block, and their last rows and columns need not be there") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  const blocks_of_four m(view_of(a), {16});
  const ir::sparse_function f = sparse::with_storage(
      dense_program(weighted_product<bsr<"K", 4>>, problem_of(a, 8)), {format_of(m)});
  const std::string text = ir::print(f);
  CHECK(text.find("    A_rows = T.dense_fixed(4, A_block_columns)\n") != std::string::npos);
  CHECK(text.find("with T.sp_iter([A_block_rows, A_block_columns, A_columns, A_rows, C_vj], "
                  "\"SRRSS\", \"C\") as [vi_o, vk_o, vk_i, vi_i, vj]:") != std::string::npos);
  CHECK(text.find("T.min(vk_o * 4 + vk_i, 5)") != std::string::npos);
  CHECK(text.find("C[vi, vj] = C_blocked[vi, vj]") != std::string::npos);
}

TEST_CASE("rows with numbers are added to what a nest of its own initializes") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  const std::string text =
      ir::print(sparse::with_storage(dense_program(weighted_product<dcsr<"K">>, problem_of(a, 8)),
                                     {format_of(numbered_rows(view_of(a)))}));
  CAPTURE(text);
  CHECK(text.find("    A_list = T.dense_fixed(1)\n") != std::string::npos);
  CHECK(text.find("    A_rows = T.sparse_fixed(A_list, (7, ") != std::string::npos);
  CHECK(text.find("with T.block(\"C_init\")") != std::string::npos);
  CHECK(text.find("T.init()") == std::string::npos);
}

TEST_CASE("stage I, lowered blocks and machine code agree in blocks and in rows of one width") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    if (a.nonzeros() == 0) continue;
    for (const std::int64_t wide : {1, 5}) {
      check_format(weighted_product<bsr<"K", 4>>, blocks_of_four(view_of(a), {1e9}), a, wide);
      check_format(weighted_product<ell<"K", 40>>, rows_of_forty(view_of(a)), a, wide);
      check_format(weighted_product<dcsr<"K">>, numbered_rows(view_of(a)), a, wide);
      check_format(weighted_product<csc<"K">>, by_columns(view_of(a)), a, wide);
      check_format(weighted_product<dia<"K">>, diagonals(view_of(a), {1e9}), a, wide);
    }
  }
}

TEST_CASE("columns are added to what a nest of its own initializes, and summed along as rows are") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  const by_columns m(view_of(a));
  const std::string text = ir::print(sparse::with_storage(
      dense_program(weighted_product<csc<"K">>, problem_of(a, 8)), {format_of(m)}));
  CAPTURE(text);
  CHECK(text.find("    A_columns = T.dense_fixed(6)\n") != std::string::npos);
  CHECK(text.find("    A_rows = T.sparse_variable(A_columns, (7, ") != std::string::npos);
  CHECK(text.find("with T.block(\"C_init\")") != std::string::npos);
  CHECK(text.find("with T.sp_iter([A_columns, A_rows, C_vj], \"RSS\", \"C\") as [vk, vi_o, vj]:") !=
        std::string::npos);
  const auto transposed =
      kernel<"transposed">([](in<"A", float, "M", csc<"K">> A, in<"x", float, "M"> x,
                              out<"y", float, "K"> y) { return y(k) = sum<i>(A(i, k) * x(i)); });
  const ir::sparse_function f =
      sparse::with_storage(reify(transposed, {{"M", a.rows}, {"K", a.columns}}), {format_of(m)});
  ir::verify(f);
  CHECK(ir::print(f).find("with T.sp_iter([A_columns, A_rows], \"SR\", \"y\")") !=
        std::string::npos);
  const ir::function g = sparse::lower(f);
  const std::vector<float> x = small_numbers(a.rows);
  std::vector<float> oracle(6, 99), code(6, 99);
  std::vector<void*> data;
  for (const void* one : arrays_of(m)) data.push_back(const_cast<void*>(one));
  data.push_back(const_cast<float*>(x.data()));
  data.push_back(code.data());
  random_schedule::run_compiled(g, target::host(), data);
  std::vector<ir::tensor_view> views;
  data.back() = oracle.data();
  for (void* one : data) views.push_back({one, {}});
  ir::interpret(f, views);
  const std::vector<double> dense = a.dense();
  for (std::size_t c = 0; c < 6; ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < 7; ++r) sum += dense[r * 6 + c] * static_cast<double>(x[r]);
    CHECK(static_cast<double>(oracle[c]) == doctest::Approx(sum).epsilon(1e-4));
    CHECK(static_cast<double>(code[c]) == doctest::Approx(sum).epsilon(1e-4));
  }
}

TEST_CASE("diagonals are walked by rows, as far as they lie in the matrix") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  const diagonals m(view_of(a), {1e9});
  const std::string text = ir::print(sparse::with_storage(
      dense_program(weighted_product<dia<"K">>, problem_of(a, 8)), {format_of(m)}));
  CAPTURE(text);
  CHECK(text.find("with T.sp_iter([A_rows, A_diagonals_1, C_vj], \"SRS\", \"C\")") !=
        std::string::npos);
  CHECK(text.find("T.if_then_else(vi_o >= 0 - T.min(T.max(A_diagonals[vk_d], -6), 5)") !=
        std::string::npos);
}

TEST_CASE("neighbouring rows of a diagonal read neighbouring columns in one load") {
  if (!backend::compiler_available()) return;
  const auto product =
      kernel<"product">([](in<"A", float, "M", dia<"K">> A, in<"x", float, "K"> x,
                           out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
  sparse::stored_parameter format{"A", 3 * 100};
  format.diagonals = 3;
  const ir::function f =
      sparse::lower(sparse::with_storage(reify(product, {{"M", 100}, {"K", 90}}), {format}));
  const target::cpu cpu = target::named("skylake-avx512");
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, {&cpu, 1}, 1);
  REQUIRE_FALSE(sketches.empty());
  const std::string code =
      backend::inspect(pass::lower(sketches[0].function(), cpu), cpu, backend::stage::llvm_ir);
  CAPTURE(code);
  CHECK(code.find("llvm.masked.load") != std::string::npos);
  CHECK(code.find("llvm.masked.gather") == std::string::npos);
}

TEST_CASE("what pads a row of one width, and the last blocks, shows nothing of the operand") {
  patterns::csr_matrix<> a;
  a.columns = 5;
  std::mt19937 random(1);
  a.add_row({3, 4}, random);
  a.add_row({4}, random);
  problem p = problem_of(a, 1);
  p.w = {1, 1};
  p.b = {0, 0, 0, std::numeric_limits<float>::quiet_NaN(), 2};
  const auto run = [&](const auto& kernel, const auto& m) {
    const ir::function g =
        sparse::lower(sparse::with_storage(dense_program(kernel, p), {format_of(m)}));
    std::vector<float> c(2, 99);
    std::vector<void*> data;
    for (const void* one : arrays_of(m)) data.push_back(const_cast<void*>(one));
    data.insert(data.end(), {p.w.data(), p.b.data(), c.data()});
    random_schedule::run_compiled(g, target::host(), data);
    return c;
  };
  const std::vector<float> rows = run(weighted_product<ell<"K", 40>>, rows_of_forty(view_of(a)));
  CHECK(rows[0] != rows[0]);
  CHECK(rows[1] == 2 * a.values[2]);
  // a diagonal that ends, ends: what lies behind it is not read
  patterns::csr_matrix<> band;
  band.columns = 2;
  band.add_row({0, 1}, random);
  band.add_row({1}, random);
  p.b = {1, 2, std::numeric_limits<float>::quiet_NaN()};
  p.columns = 2;
  const std::vector<float> ended = run(weighted_product<dia<"K">>, diagonals(view_of(band)));
  CHECK(ended[1] == 2 * band.values[2]);
  p.columns = 5;
  p.b = {0, 0, 0, 1, 2};
  const std::vector<float> blocks =
      run(weighted_product<bsr<"K", 4>>, blocks_of_four(view_of(a), {1e9}));
  CHECK(blocks[0] == a.values[0] + 2 * a.values[1]);
  CHECK(blocks[1] == 2 * a.values[2]);
}

TEST_CASE("a block that does anything but sum says so") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 6, 0.4, 1);
  const ir::function dense = reify(largest, {{"M", a.rows}, {"K", a.columns}});
  CHECK_THROWS_WITH_AS(sparse::with_storage(dense, {format_of(blocks_of_four(view_of(a), {1e9}))}),
                       doctest::Contains("does anything but add up; declare it compressed"),
                       argument_error);
}

TEST_CASE("no sketch computes a row of blocks again for each row of an epilogue") {
  sparse::stored_parameter format{"A", 10 * 16 * 16};
  format.block = 16;
  const ir::function f = sparse::lower(
      sparse::with_storage(reify(layer, {{"M", 64}, {"K", 64}, {"N", 32}}), {format}));
  target::cpu cpu = target::host();
  std::vector<schedule> sketches = space::default_cpu().sketches(f, {&cpu, 1}, 1);
  REQUIRE_FALSE(sketches.empty());
  for (schedule& s : sketches) {
    CAPTURE(s.trace().print());
    std::int64_t visits = 1;
    for (const loop_rv l : s.get_loops(s.get_block("C_o")))
      visits *= ir::is_int(s.get(l).extent) ? ir::as_int(s.get(l).extent) : 1;
    CHECK(visits <= 8);  // 4 rows of blocks
  }
}

namespace {

/// The number behind `word` in what making the matrix with that limit throws.
template <class Make>
std::int64_t bytes_refused(const Make& make) {
  try {
    make(1);
  } catch (const argument_error& e) {
    const std::string said = e.what();
    CAPTURE(said);
    CHECK(said.find(" bytes in this format, and most_bytes allows 1; ") != std::string::npos);
    const std::string word = "would take ";
    return std::stoll(said.substr(said.find(word) + word.size()));
  }
  return 0;
}

}  // namespace

TEST_CASE("a format that takes more bytes than it may is refused, and one byte more is enough") {
  const patterns::csr_matrix<> a = patterns::random_matrix(40, 30, 0.3, 3);
  const auto m = csr(a.offsets, a.indices, a.values, a.columns);
  const auto check = [](const auto& make) {
    const std::int64_t bytes = bytes_refused(make);
    CHECK(bytes > 0);
    CHECK_THROWS_AS(make(bytes - 1), argument_error);
    CHECK_NOTHROW(make(bytes));
  };
  check(
      [&](std::int64_t most) { sell_matrix<float>(m, {.most_padding = 1e9, .most_bytes = most}); });
  check([&](std::int64_t most) {
    bsr_matrix<float, 4>(m, {.most_padding = 1e9, .most_bytes = most});
  });
  check(
      [&](std::int64_t most) { dia_matrix<float>(m, {.most_padding = 1e9, .most_bytes = most}); });
  check([&](std::int64_t most) { ell_matrix<float, 30>(m, {most}); });
  check([&](std::int64_t most) { dcsr_matrix<float>(m, {most}); });
  check([&](std::int64_t most) { csc_matrix<float>(m, {most}); });
  const std::int64_t places = dcsr_matrix<float>(m).nonzeros();
  CHECK(bytes_refused([&](std::int64_t most) { csc_matrix<float>(m, {most}); }) ==
        places * 12 + 31 * 4);
  constexpr dim stored = parts<bsr<"K", 2>, compressed<"K">>;
  CHECK(bytes_refused([&](std::int64_t most) {
          parted_matrix<float, stored>(m, {.most_padding = 1e9, .most_bytes = most});
        }) > 0);
  const parted_matrix<float, stored> whole(m, {.least_fill = 0.5, .most_padding = 1e9});
  const std::int64_t first = whole.part<0>().bytes(), all = first + whole.part<1>().bytes();
  CHECK(first > 0);
  CHECK(all > first);
  const auto within = [&](std::int64_t most) {
    parted_matrix<float, stored>(m, {.least_fill = 0.5, .most_padding = 1e9, .most_bytes = most});
  };
  CHECK_NOTHROW(within(all));
  CHECK_THROWS_AS(within(all - 1), argument_error);  // no part is larger than that
}
