// Results that are stored like a matrix in blocks, in rows of one width, of rows with numbers, or in parts of these.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <tilewright/expr/formats/values_like.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <vector>

#include <expr/refusal.hpp>
#include <expr/sampled_kernels.hpp>

#include "part_arrays.hpp"
#include "patterns.hpp"
#include "random_schedule.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;
using patterns::random_values;
using sampled_kernels::attention, sampled_kernels::on_a, sampled_kernels::sampled;

namespace {

/// A result that is reduced itself, read again beside another tensor on the pattern.
template <dim Columns>
constexpr auto weighed = kernel<"weighed">(
    [](in<"A", float, "M", Columns> A, in<"W", float, "M", on_a> W, in<"X", float, "M", "K"> X,
       in<"Y", float, "N", "K"> Y, out<"S", float, "M", on_a> S, out<"y", float, "M"> y) {
      return blocks(S(i, j) = sum<k>(X(i, k) * Y(j, k)),
                    y(i) = sum<j>(A(i, j) * W(i, j) * S(i, j)));
    });

template <dim Columns>
part_arrays::stored_parts stored(const parted_matrix<float, Columns>& m) {
  return part_arrays::of(m);
}
template <class Matrix>
part_arrays::stored_parts stored(const Matrix& m) {
  part_arrays::stored_parts out;
  part_arrays::add_part(m, out);
  out.formats[0].part.clear();
  return out;
}

/// Runs a program by its stage I, by its blocks and by machine code.
/// @param use takes the arguments, and the name of what runs
template <class Run>
void with_engines(const ir::sparse_function& f, const Run& run) {
  ir::verify(f);
  const std::string text = ir::print(f);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  const ir::function g = sparse::lower(f);
  ir::verify(g);
  run([&](const std::vector<void*>& data) {
    std::vector<ir::tensor_view> views;
    for (void* one : data) views.push_back({one, {}});
    ir::interpret(f, views);
  });
  run([&](const std::vector<void*>& data) { random_schedule::run_interpreted(g, data); });
  if (backend::compiler_available())
    run([&](const std::vector<void*>& data) {
      random_schedule::run_compiled(g, target::host(), data);
    });
}

template <class T>
void add_array(std::vector<T>& from, std::vector<void*>& to) {
  static T nothing{};
  to.push_back(from.empty() ? &nothing : from.data());
}
template <class Values>
void add_values(Values& from, std::vector<void*>& to) {
  static double nothing = 0;
  for (const dsl::argument& one : from.arguments()) to.push_back(one.data ? one.data : &nothing);
}
std::vector<void*> arrays_of(const part_arrays::stored_parts& a) {
  std::vector<void*> out;
  for (const void* one : a.arrays) out.push_back(const_cast<void*>(one));
  return out;
}

struct dense_values {
  std::vector<float> x, y, v;
  std::size_t depth, wide;
  dense_values(const patterns::csr_matrix<>& a, std::int64_t deep, std::int64_t columns)
      : x(random_values(a.rows * deep, 2)),
        y(random_values(a.columns * deep, 3)),
        v(random_values(a.columns * columns, 4)),
        depth(static_cast<std::size_t>(deep)),
        wide(static_cast<std::size_t>(columns)) {}
  double product(std::size_t row, std::size_t column) const {
    double out = 0;
    for (std::size_t q = 0; q < depth; ++q)
      out += static_cast<double>(x[row * depth + q]) * static_cast<double>(y[column * depth + q]);
    return out;
  }
};

/// Calls `visit` with number, row and column of each element.
template <class Visit>
void each_element(const patterns::csr_matrix<>& a, const Visit& visit) {
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at)
      visit(at, row, static_cast<std::size_t>(a.indices[at]));
}

template <dim Columns, class Matrix>
void check_sampled(const patterns::csr_matrix<>& a, const Matrix& m) {
  part_arrays::stored_parts parts = stored(m);
  parts.formats.push_back({"S", 0, dtype::i32, 1, 0, "A"});
  for (const std::int64_t depth : {1, 9}) {
    dense_values given(a, depth, 1);
    const ir::sparse_function f = sparse::with_storage(
        reify(sampled<Columns>, {{"M", a.rows}, {"N", a.columns}, {"K", depth}}), parts.formats);
    with_engines(f, [&](const auto& engine) {
      values_like<float, Columns> s(m);
      std::vector<void*> data = arrays_of(parts);
      add_array(given.x, data);
      add_array(given.y, data);
      add_values(s, data);
      engine(data);
      std::vector<float> out(a.values.size(), 99);
      s.store(out);
      each_element(a, [&](std::size_t at, std::size_t row, std::size_t column) {
        CHECK(static_cast<double>(out[at]) ==
              doctest::Approx(static_cast<double>(a.values[at]) * given.product(row, column))
                  .epsilon(1e-4));
      });
    });
  }
}

template <dim Columns, class Matrix>
void check_weighed(const patterns::csr_matrix<>& a, const Matrix& m) {
  part_arrays::stored_parts parts = stored(m);
  for (const char* name : {"W", "S"}) parts.formats.push_back({name, 0, dtype::i32, 1, 0, "A"});
  dense_values given(a, 3, 1);
  const std::vector<float> w = random_values(a.nonzeros(), 5);
  const ir::sparse_function f = sparse::with_storage(
      reify(weighed<Columns>, {{"M", a.rows}, {"N", a.columns}, {"K", 3}}), parts.formats);
  std::vector<double> expected(static_cast<std::size_t>(a.rows), 0);
  each_element(a, [&](std::size_t at, std::size_t row, std::size_t column) {
    expected[row] +=
        static_cast<double>(a.values[at]) * static_cast<double>(w[at]) * given.product(row, column);
  });
  with_engines(f, [&](const auto& engine) {
    values_like<float, Columns> weights(m), s(m);
    weights.load(w);
    std::vector<float> y(expected.size(), 99);
    std::vector<void*> data = arrays_of(parts);
    add_values(weights, data);
    add_array(given.x, data);
    add_array(given.y, data);
    add_values(s, data);
    add_array(y, data);
    engine(data);
    for (std::size_t row = 0; row < y.size(); ++row)
      CHECK(static_cast<double>(y[row]) == doctest::Approx(expected[row]).epsilon(1e-4));
  });
}

template <dim Columns, class Matrix>
void check_attention(const patterns::csr_matrix<>& a, const Matrix& m) {
  part_arrays::stored_parts parts = stored(m);
  for (const char* name : {"s", "e"}) parts.formats.push_back({name, 0, dtype::i32, 1, 0, "A"});
  dense_values given(a, 5, 4);
  const ir::sparse_function f = sparse::with_storage(
      reify(attention<Columns>, {{"M", a.rows}, {"N", a.columns}, {"K", 5}, {"D", 4}}),
      parts.formats);
  std::vector<double> total(static_cast<std::size_t>(a.rows), 0),
      sums(total.size() * given.wide, 0);
  each_element(a, [&](std::size_t at, std::size_t row, std::size_t column) {
    const double e = std::exp(static_cast<double>(a.values[at]) * given.product(row, column));
    total[row] += e;
    for (std::size_t c = 0; c < given.wide; ++c)
      sums[row * given.wide + c] += e * static_cast<double>(given.v[column * given.wide + c]);
  });
  with_engines(f, [&](const auto& engine) {
    std::vector<float> o(sums.size(), 99);
    std::vector<void*> data = arrays_of(parts);
    add_array(given.x, data);
    add_array(given.y, data);
    add_array(given.v, data);
    add_array(o, data);
    engine(data);
    for (std::size_t n = 0; n < o.size(); ++n) {
      const double all = total[n / given.wide];
      CHECK(static_cast<double>(o[n]) ==
            doctest::Approx(all == 0 ? 0 : sums[n] / all).epsilon(1e-4));
    }
  });
}

auto rows_of(const patterns::csr_matrix<>& a) {
  return csr(a.offsets, a.indices, a.values, a.columns);
}

template <dim Columns>
void check_parts(const patterns::csr_matrix<>& a, double least_fill) {
  const parted_matrix<float, Columns> m(rows_of(a),
                                        {.least_fill = least_fill, .most_padding = 1e9});
  check_sampled<Columns>(a, m);
  check_weighed<Columns>(a, m);
  if (least_fill == 1) check_attention<Columns>(a, m);
}

constexpr dim blocks_and_rows = parts<bsr<"N", 2>, compressed<"N">>;
constexpr dim blocks_width_and_numbered = parts<bsr<"N", 4>, ell<"N", 2>, dcsr<"N">>;
constexpr dim two_widths = parts<ell<"N", 1>, ell<"N", 3>, dcsr<"N">>;

}  // namespace

TEST_CASE("results on a pattern in parts are those of compressed rows, element by element") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    for (const double least_fill : {0.4, 1.0}) {
      check_parts<blocks_and_rows>(a, least_fill);
      check_parts<blocks_width_and_numbered>(a, least_fill);
    }
    check_parts<two_widths>(a, 1);
  }
}

TEST_CASE("results on a pattern in one format") {
  for (const patterns::csr_matrix<>& a : patterns::many()) {
    CAPTURE(a.name);
    const bsr_matrix<float, 4> blocks(rows_of(a), {.most_padding = 1e9});
    check_sampled<bsr<"N", 4>>(a, blocks);
    check_weighed<bsr<"N", 4>>(a, blocks);
    const dcsr_matrix<float> numbered(rows_of(a));
    check_sampled<dcsr<"N">>(a, numbered);
    check_weighed<dcsr<"N">>(a, numbered);
    check_attention<dcsr<"N">>(a, numbered);
    const ell_matrix<float, 40> rows(rows_of(a));
    check_sampled<ell<"N", 40>>(a, rows);
    check_weighed<ell<"N", 40>>(a, rows);
    check_attention<ell<"N", 40>>(a, rows);
  }
  patterns::csr_matrix<> full;  // of whole blocks
  full.columns = 12;
  std::mt19937 random(3);
  for (std::int64_t row = 0; row < 8; ++row)
    full.add_row(row < 4 ? std::vector<std::int64_t>{0, 1, 2, 3, 8, 9, 10, 11}
                         : std::vector<std::int64_t>{4, 5, 6, 7},
                 random);
  check_attention<bsr<"N", 4>>(full, bsr_matrix<float, 4>(rows_of(full)));
}

TEST_CASE("what places without an element would change is refused, and so are rows side by side") {
  const patterns::csr_matrix<> a = patterns::random_matrix(12, 12, 0.5, 1);
  const bsr_matrix<float, 4> blocks(rows_of(a));
  part_arrays::stored_parts parts = stored(blocks);
  for (const char* name : {"s", "e"}) parts.formats.push_back({name, 0, dtype::i32, 1, 0, "A"});
  const std::string padded = test_kernels::refusal([&] {
    sparse::with_storage(reify(attention<bsr<"N", 4>>, {{"M", 12}, {"N", 12}, {"K", 5}, {"D", 4}}),
                         parts.formats);
  });
  CAPTURE(padded);
  CHECK(padded.find("reduces what is stored like \"A\", whose blocks have places that hold no "
                    "element") != std::string::npos);
  const sell_matrix<float, 4> beside(rows_of(a));
  parts = stored(beside);
  parts.formats.push_back({"S", 0, dtype::i32, 1, 0, "A"});
  const std::string lanes = test_kernels::refusal([&] {
    sparse::with_storage(reify(sampled<compressed<"N">>, {{"M", 12}, {"N", 12}, {"K", 5}}),
                         parts.formats);
  });
  CAPTURE(lanes);
  CHECK(lanes.find("neither in compressed rows nor in blocks") != std::string::npos);
}
