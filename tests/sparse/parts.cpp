// Matrices in parts: a sum over each part, one initialization, and the meaning of the whole.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <vector>

#include "part_arrays.hpp"
#include "patterns.hpp"
#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

constexpr dim blocks_and_rows = parts<bsr<"K", 4>, compressed<"K">>;
constexpr dim lanes_and_rows = parts<sell<"K", 4>, compressed<"K">>;
constexpr dim places_and_rows = parts<ell<"K", 2>, compressed<"K">>;
constexpr dim blocks_and_numbered = parts<bsr<"K", 4>, dcsr<"K">>;
constexpr dim three = parts<bsr<"K", 2>, ell<"K", 1>, sell<"K", 4>>;

template <dim Columns>
constexpr auto scaled = kernel<"scaled">([](in<"A", float, "M", Columns> A,
                                            in<"B", float, "K", "N"> B,
                                            out<"C", float, "M", "N"> C) {
  return C(i, j) = 2.0f * sum<k>(A(i, k) * B(k, j)) + 1.0f;
});

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = static_cast<float>(n * 37 % 19) - 9;
  return out;
}

template <dim Columns>
parted_matrix<float, Columns> in_parts(const patterns::csr_matrix<>& a) {
  return parted_matrix<float, Columns>(csr(a.offsets, a.indices, a.values, a.columns),
                                       {.least_fill = 0.4, .most_padding = 1e9});
}

template <dim Columns>
ir::sparse_function program_of(const parted_matrix<float, Columns>& m, std::int64_t wide) {
  return sparse::with_storage(
      reify(scaled<Columns>, {{"M", m.rows()}, {"K", m.columns()}, {"N", wide}}),
      part_arrays::of(m).formats);
}

/// Stage I, lowered blocks, machine code, and points of the result.
template <dim Columns>
void check_parts(const patterns::csr_matrix<>& a, std::int64_t wide) {
  const parted_matrix<float, Columns> m = in_parts<Columns>(a);
  const ir::sparse_function f = program_of(m, wide);
  ir::verify(f);
  const std::string text = ir::print(f);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  const ir::function g = sparse::lower(f);
  ir::verify(g);
  const std::vector<float> b = numbers(a.columns * wide);
  const auto arguments = [&](std::vector<float>& c) {
    std::vector<void*> out;
    for (const void* one : part_arrays::of(m).arrays) out.push_back(const_cast<void*>(one));
    out.push_back(const_cast<float*>(b.data()));
    out.push_back(c.data());
    return out;
  };
  const auto views = [&](std::vector<float>& c) {
    std::vector<ir::tensor_view> out;
    for (void* one : arguments(c)) out.push_back({one, {}});
    return out;
  };
  const std::vector<float> unset(static_cast<std::size_t>(a.rows * wide), 99);
  std::vector<float> oracle = unset, blocks = unset, code = unset;
  ir::interpret(f, views(oracle));
  random_schedule::run_interpreted(g, arguments(blocks));
  random_schedule::run_compiled(g, target::host(), arguments(code));
  CHECK(oracle == blocks);
  ir::point_evaluator points(g, views(blocks));
  const std::size_t result = arguments(blocks).size() - 1;
  const std::vector<double> dense = a.dense();
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t c = 0; c < wide; ++c) {
      double sum = 0;
      for (std::int64_t q = 0; q < a.columns; ++q)
        sum += dense[static_cast<std::size_t>(r * a.columns + q)] *
               static_cast<double>(b[static_cast<std::size_t>(q * wide + c)]);
      const auto at = static_cast<std::size_t>(r * wide + c);
      CHECK(static_cast<double>(oracle[at]) == doctest::Approx(2 * sum + 1).epsilon(1e-4));
      CHECK(static_cast<double>(code[at]) == doctest::Approx(2 * sum + 1).epsilon(1e-4));
      const auto point = points.value(result, {r, c});
      REQUIRE(point);
      CHECK(point->value == doctest::Approx(2 * sum + 1).epsilon(1e-12));
    }
}

template <dim Columns>
constexpr auto greatest = kernel<"greatest">([](in<"A", float, "M", Columns> A,
                                                in<"B", float, "K", "N"> B,
                                                out<"C", float, "M", "N"> C) {
  return C(i, j) = max<k>(where_stored(A)(i, k) * B(k, j));
});
template <dim Columns>
constexpr auto least = kernel<"least">([](in<"A", float, "M", Columns> A,
                                          in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
  return C(i, j) = min<k>(where_stored(A)(i, k) * B(k, j));
});

/// Results of a kernel by the interpreter of stage I, of blocks, and by machine code, which agree.
std::vector<float> results_of(const any_kernel& kernel, const patterns::csr_matrix<>& a,
                              const part_arrays::stored_parts& stored, std::int64_t wide) {
  const ir::sparse_function f = sparse::with_storage(
      reify(kernel, {{"M", a.rows}, {"K", a.columns}, {"N", wide}}), stored.formats);
  ir::verify(f);
  const ir::function g = sparse::lower(f);
  ir::verify(g);
  const std::vector<float> b = numbers(a.columns * wide);
  const auto run = [&](auto engine) {
    std::vector<float> out(static_cast<std::size_t>(a.rows * wide), 99);
    std::vector<void*> data;
    for (const void* one : stored.arrays) data.push_back(const_cast<void*>(one));
    data.push_back(const_cast<float*>(b.data()));
    data.push_back(out.data());
    engine(data);
    return out;
  };
  const std::vector<float> oracle = run([&](const std::vector<void*>& data) {
    std::vector<ir::tensor_view> views;
    for (void* one : data) views.push_back({one, {}});
    ir::interpret(f, views);
  });
  CHECK(run([&](const std::vector<void*>& data) { random_schedule::run_interpreted(g, data); }) ==
        oracle);
  if (backend::compiler_available())
    CHECK(run([&](const std::vector<void*>& data) {
            random_schedule::run_compiled(g, target::host(), data);
          }) == oracle);
  return oracle;
}

/// Maxima and minima of what is stored are those of compressed rows.
template <dim Columns>
void check_extremes(const patterns::csr_matrix<>& a, const part_arrays::stored_parts& stored) {
  part_arrays::stored_parts plain;
  plain.formats.push_back({"A", a.nonzeros()});
  plain.arrays = {a.offsets.data(), a.indices.data(), a.values.data()};
  for (const std::int64_t wide : {1, 5}) {
    CHECK(results_of(greatest<Columns>, a, stored, wide) ==
          results_of(greatest<compressed<"K">>, a, plain, wide));
    CHECK(results_of(least<Columns>, a, stored, wide) ==
          results_of(least<compressed<"K">>, a, plain, wide));
  }
}
template <dim Columns>
void check_extremes_in_parts(const patterns::csr_matrix<>& a) {
  const parted_matrix<float, Columns> m = in_parts<Columns>(a);
  check_extremes<Columns>(a, part_arrays::of(m));
}
template <dim Columns, class Matrix>
void check_extremes_in(const patterns::csr_matrix<>& a) {
  const Matrix m(csr(a.offsets, a.indices, a.values, a.columns));
  part_arrays::stored_parts stored;
  part_arrays::add_part(m, stored);
  stored.formats[0].part.clear();
  check_extremes<Columns>(a, stored);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE("a sum over parts is a sum over each, and one initialization") {
  const patterns::csr_matrix<> a = patterns::random_matrix(8, 12, 0.5, 1);
  const std::string text = ir::print(program_of(in_parts<blocks_and_rows>(a), 8));
  CAPTURE(text);
  CHECK(count_of(text, "with T.sp_iter(") == 2);
  CHECK(count_of(text, "with T.init():") == 1);
  CHECK(text.find("A_part1_columns = T.sparse_variable(A_part1_rows, (12, ") != std::string::npos);
  CHECK(text.find(", \"SRS\", \"") != std::string::npos);
}

TEST_CASE("stage I, lowered blocks and machine code agree on matrices in parts") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    for (const std::int64_t wide : {1, 5}) {
      check_parts<blocks_and_rows>(a, wide);
      check_parts<blocks_and_numbered>(a, wide);
      check_parts<lanes_and_rows>(a, wide);
      check_parts<places_and_rows>(a, wide);
      check_parts<three>(a, wide);
    }
  }
}

TEST_CASE("rows of a later part are tiled as those of a matrix that stands alone") {
  const patterns::csr_matrix<> a = patterns::random_matrix(64, 64, 0.5, 3);
  const ir::function f = sparse::lower(program_of(in_parts<blocks_and_rows>(a), 64));
  target::cpu cpu = target::host();
  bool tiled = false;
  for (schedule& s : space::default_cpu().sketches(f, {&cpu, 1}, 1)) {
    const std::string trace = s.trace().print();
    const std::size_t at = trace.find("_part1\"");
    tiled = tiled ||
            (at != std::string::npos && trace.find("tilewright.prefetch", at) != std::string::npos);
  }
  CHECK(tiled);
}

TEST_CASE("parts with rows of their own store them, and parts that share a row add up") {
  patterns::csr_matrix<> a;  // two full blocks of rows, and single elements in rows between
  a.columns = 8;
  std::mt19937 random(1);
  for (std::int64_t row = 0; row < 16; ++row)
    a.add_row(
        row % 8 < 4 ? std::vector<std::int64_t>{0, 1, 2, 3} : std::vector<std::int64_t>{row % 8},
        random);
  const auto matrix = [&] { return csr(a.offsets, a.indices, a.values, a.columns); };
  const parted_matrix<float, blocks_and_numbered> own(matrix(), {.least_fill = 1});
  CHECK(own.exclusive_rows());
  const std::string stored = ir::print(program_of(own, 4));
  CAPTURE(stored);
  CHECK(count_of(stored, "with T.init():") == 2);
  CHECK_NOTHROW(parted_matrix<float, blocks_and_numbered>(
      matrix(), {.least_fill = 1, .exclusive_rows = true}));
  check_parts<blocks_and_numbered>(a, 4);

  patterns::csr_matrix<> whole;  // of full blocks alone: the part of numbered rows is empty
  whole.columns = 8;
  for (std::int64_t row = 0; row < 8; ++row) whole.add_row({0, 1, 2, 3}, random);
  const parted_matrix<float, blocks_and_numbered> empty(
      csr(whole.offsets, whole.indices, whole.values, whole.columns),
      {.least_fill = 1, .exclusive_rows = true});
  CHECK_FALSE(empty.exclusive_rows());
  check_parts<blocks_and_numbered>(whole, 4);

  a.indices[3] = 5;  // the first block is no longer full: its rows have elements in both parts
  const parted_matrix<float, blocks_and_numbered> shared(matrix(), {.least_fill = 0.9});
  CHECK_FALSE(shared.exclusive_rows());
  const std::string added = ir::print(program_of(shared, 4));
  CAPTURE(added);
  CHECK(count_of(added, "with T.init():") == 1);
  CHECK_THROWS_WITH_AS((parted_matrix<float, blocks_and_numbered>(
                           matrix(), {.least_fill = 0.9, .exclusive_rows = true})),
                       "parted_matrix: two parts write row 0, so that rows are not exclusive; take "
                       "other parts, or allow it by exclusive_rows = false",
                       argument_error);
  check_parts<blocks_and_numbered>(a, 4);
}

TEST_CASE(
    "maxima and minima of what is stored are taken part by part, and in formats that store no "
    "zeros") {
  for (patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    for (float& v : a.values) v = -1 - std::abs(v);  // a zero that pads would be the greatest
    check_extremes_in_parts<parts<ell<"K", 1>, dcsr<"K">>>(a);
    check_extremes_in_parts<parts<sell<"K", 4>, compressed<"K">>>(a);
    check_extremes_in_parts<parts<ell<"K", 2>, ell<"K", 2>, dcsr<"K">>>(a);
    check_extremes_in<sell<"K", 4>, sell_matrix<float, 4>>(a);
    check_extremes_in<dcsr<"K">, dcsr_matrix<float>>(a);
  }
}
