// Random programs on random patterns in each format, element and index type, under random schedules:
// the interpreter and machine code give what the dense product gives.
//
// Values are multiples of 1/4 so small that every sum is exact, whatever its order: results are
// compared bit for bit. TILEWRIGHT_SPARSE_PROGRAMS says how many are run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tilewright/backend/compile.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/csc_matrix.hpp>
#include <tilewright/expr/formats/dia_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "part_arrays.hpp"
#include "random_rule.hpp"
#include "random_schedule.hpp"
#include "random_seeds.hpp"
#include "rule_arrays.hpp"

using namespace tilewright;

namespace {

template <class T>
using result_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// What is computed of a sum over the stored elements of row i.
enum class program { product, shifted, difference };

template <class T, dim Columns>
any_kernel kernel_of(program which) {
  using axes::i, axes::j, axes::k;
  using R = result_of<T>;
  using A_type = in<"A", T, "M", Columns>;
  using B_type = in<"B", T, "K", "N">;
  using C_type = out<"C", R, "M", "N">;
  switch (which) {
    case program::shifted: {
      constexpr auto f = kernel<"shifted">([](A_type A, B_type B, C_type C) {
        return C(i, j) = R(2) * sum<k>(cast<R>(A(i, k)) * cast<R>(B(k, j))) + R(1);
      });
      return f;
    }
    case program::difference: {
      constexpr auto f = kernel<"difference">([](A_type A, B_type B, C_type C) {
        return C(i, j) = sum<k>(cast<R>(A(i, k)) * cast<R>(B(k, j)) - R(2) * cast<R>(A(i, k)));
      });
      return f;
    }
    default: {
      constexpr auto f = kernel<"product">([](A_type A, B_type B, C_type C) {
        return C(i, j) = sum<k>(cast<R>(A(i, k)) * cast<R>(B(k, j)));
      });
      return f;
    }
  }
}

/// The shortest way over one edge.
template <class T, dim Columns>
any_kernel nearest() {
  using axes::i, axes::j, axes::k;
  using A_type = in<"A", T, "M", Columns>;
  using B_type = in<"B", T, "K", "N">;
  using C_type = out<"C", T, "M", "N">;
  constexpr auto f = kernel<"nearest">([](A_type A, B_type B, C_type C) {
    return C(i, j) = min<k>(where_stored(A)(i, k) + B(k, j));
  });
  return f;
}

template <class T, class Index>
class example {
 public:
  explicit example(std::uint64_t seed) : random_(seed), seed_(seed) {
    rows_ = extent();
    columns_ = extent();
    wide_ = random_() % 3 == 0 ? 1 : extent();
    if (seed % 5 == 0) wide_ = 16;  // rows of whole vectors may be copied
    which_ = static_cast<program>(random_() % 3);
    fill_pattern();
    b_.resize(static_cast<std::size_t>(columns_ * wide_));
    for (T& v : b_) v = number();
    compute_expected();
  }

  int refused = 0;  // schedules

  void run() {
    run_compressed();
    run_sell();
    run_blocks();
    run_one_width();
    run_numbered_rows();
    run_parts();
    run_rules();
    random_() % 2 == 0 ? run_columns() : run_diagonals();
  }

 private:
  std::int64_t extent() {
    const std::uint64_t draw = random_() % 8;
    return draw == 0 ? 1 : static_cast<std::int64_t>(1 + random_() % (draw < 5 ? 9 : 40));
  }
  T number() { return T(static_cast<float>(static_cast<int>(random_() % 17) - 8) / 4); }

  /// Rows of any length: empty ones, a full one, and at least one element.
  void fill_pattern() {
    const std::uint64_t density = 1 + random_() % 10;
    const auto full = static_cast<std::int64_t>(random_() % 60);
    for (std::int64_t row = 0; row < rows_; ++row) {
      const bool empty = random_() % 4 == 0;
      for (std::int64_t column = 0; column < columns_; ++column)
        if (row == full || (!empty && random_() % 10 < density) ||
            (row + 1 == rows_ && column + 1 == columns_ && indices_.empty())) {
          indices_.push_back(static_cast<Index>(column));
          values_.push_back(number());
        }
      offsets_.push_back(static_cast<Index>(indices_.size()));
    }
  }

  void compute_expected() {
    const auto wide = static_cast<std::size_t>(wide_);
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row)
      for (std::size_t column = 0; column < wide; ++column) {
        double sum = 0;
        for (auto at = static_cast<std::size_t>(offsets_[row]);
             at < static_cast<std::size_t>(offsets_[row + 1]); ++at) {
          const auto a = static_cast<double>(values_[at]);
          const auto b =
              static_cast<double>(b_[static_cast<std::size_t>(indices_[at]) * wide + column]);
          sum += a * b - (which_ == program::difference ? 2 * a : 0);
        }
        if (which_ == program::shifted) sum = 2 * sum + 1;
        expected_.push_back(static_cast<result_of<T>>(sum));
      }
  }

  void run_compressed() {
    constexpr dim stored = compressed<"K", Index>;
    const auto places = static_cast<std::int64_t>(values_.size());
    check(kernel_of<T, stored>(which_), {"A", places, dsl::dtype_of<Index>},
          {offsets_.data(), indices_.data(), values_.data()});
  }

  void run_sell() {
    constexpr dim stored = sell<"K", 4, Index>;
    const auto window = static_cast<std::int64_t>(1 + random_() % 50);
    const sell_matrix<T, 4, Index> m(csr(offsets_, indices_, values_, columns_), {window, 1e9});
    const auto places = static_cast<std::int64_t>(m.values().size());
    const auto slices = static_cast<std::int64_t>(m.offsets().size()) - 1;
    check(kernel_of<T, stored>(which_), {"A", places, dsl::dtype_of<Index>, 4, slices},
          {m.offsets().data(), m.lengths().data(), m.order().data(), m.indices().data(),
           m.values().data()});
  }

  void run_blocks() {
    const bool even = random_() % 2 == 0;
    run_blocks_of(bsr_matrix<T, 3, Index>(view(), {1e9}), !even);
    run_blocks_of(bsr_matrix<T, 4, Index>(view(), {1e9}), even);
  }

  template <int Block>
  void run_blocks_of(const bsr_matrix<T, Block, Index>& m, bool drawn) {
    if (!drawn) return;
    sparse::stored_parameter format = format_of(m);
    format.block = Block;
    constexpr dim stored = bsr<"K", Block, Index>;
    check(kernel_of<T, stored>(which_), format,
          {m.offsets().data(), m.indices().data(), m.values().data()});
  }

  void run_one_width() {
    const ell_matrix<T, 41, Index> m(view());
    sparse::stored_parameter format = format_of(m);
    format.width = 41;
    constexpr dim stored = ell<"K", 41, Index>;
    check(kernel_of<T, stored>(which_), format,
          {m.lengths().data(), m.indices().data(), m.values().data()});
  }

  void run_numbered_rows() {
    const dcsr_matrix<T, Index> m(view());
    sparse::stored_parameter format = format_of(m);
    format.numbered_rows = static_cast<std::int64_t>(m.row_numbers().size());
    constexpr dim stored = dcsr<"K", Index>;
    check(kernel_of<T, stored>(which_), format,
          {m.row_numbers().data(), m.offsets().data(), m.indices().data(), m.values().data()});
  }

  void run_columns() {
    const csc_matrix<T, Index> m(view());
    sparse::stored_parameter format = format_of(m);
    format.by_columns = true;
    constexpr dim stored = csc<"K", Index>;
    check(kernel_of<T, stored>(which_), format,
          {m.offsets().data(), m.indices().data(), m.values().data()});
  }

  void run_diagonals() {
    const dia_matrix<T, Index> m(view(), {1e9});
    sparse::stored_parameter format = format_of(m);
    format.diagonals = static_cast<std::int64_t>(m.offsets().size());
    constexpr dim stored = dia<"K", Index>;
    check(kernel_of<T, stored>(which_), format, {m.offsets().data(), m.values().data()});
  }

  void run_parts() {
    constexpr dim rows = compressed<"K", Index>;
    switch (random_() % 5) {
      case 0: return run_in_parts<parts<bsr<"K", 3, Index>, rows>>();
      case 3:
        return run_in_parts<parts<ell<"K", 2, Index>, ell<"K", 2, Index>, dcsr<"K", Index>>>();
      case 2: return run_in_parts<parts<bsr<"K", 3, Index>, dcsr<"K", Index>>>();
      case 1: return run_in_parts<parts<ell<"K", 2, Index>, rows>>();
      default: return run_in_parts<parts<bsr<"K", 2, Index>, sell<"K", 4, Index>, rows>>();
    }
  }

  template <dim Parts>
  void run_in_parts() {
    parted_options options{.least_fill = 0.25 * static_cast<double>(1 + random_() % 4)};
    options.longest_row = static_cast<std::int64_t>(1 + random_() % 12);
    options.most_padding = 1e9;
    if constexpr (Parts.parts.count == 3 && Parts.parts.at[0] == Parts.parts.at[1])
      options.by_columns = random_() % 2 == 0;
    const parted_matrix<T, Parts> m(view(), options);
    check_every_element_once(m, std::make_index_sequence<Parts.parts.count>{});
    const part_arrays::stored_parts stored = part_arrays::of(m);
    check(kernel_of<T, Parts>(which_), stored.formats, stored.arrays);
  }

  /// A format that a user might state, or two that share out the elements.
  void run_rules() {
    const std::size_t parts = random_() % 3 == 0 ? 2 : 1;
    std::vector<std::vector<std::int64_t>> elements(parts);
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(values_.size()); ++at)
      elements[parts == 1 ? 0 : random_() % 2].push_back(at);
    rule_arrays::stored_parts<Index, T> stored;
    for (std::size_t part = 0; part < parts; ++part)
      stored.add(random_rule::draw_rule(random_(), rows_, columns_), rows_, columns_,
                 rule_arrays::rows_of(offsets_), indices_, values_, elements[part],
                 parts == 1 ? "" : sparse::part_name("A", static_cast<int>(part)));
    check(kernel_of<T, compressed<"K", Index>>(which_), stored.formats, stored.arrays());
    if constexpr (std::is_same_v<T, result_of<T>>) run_nearest();
  }

  /// The shortest way over one edge: what is not stored is infinite, and so are places that pad the format.
  void run_nearest() {
    constexpr T infinite = std::numeric_limits<T>::infinity();
    const auto wide = static_cast<std::size_t>(wide_);
    std::vector<T> expected(static_cast<std::size_t>(rows_) * wide, infinite);
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row)
      for (auto at = static_cast<std::size_t>(offsets_[row]);
           at < static_cast<std::size_t>(offsets_[row + 1]); ++at)
        for (std::size_t c = 0; c < wide; ++c) {
          T& best = expected[row * wide + c];
          best =
              std::min(best, values_[at] + b_[static_cast<std::size_t>(indices_[at]) * wide + c]);
        }
    std::vector<std::int64_t> elements;
    for (std::size_t at = 0; at < values_.size(); ++at)
      elements.push_back(static_cast<std::int64_t>(at));
    rule_arrays::stored_parts<Index, T> stored;
    stored.absent = infinite;
    stored.add(random_rule::draw_rule(random_(), rows_, columns_), rows_, columns_,
               rule_arrays::rows_of(offsets_), indices_, values_, elements, "");
    check(nearest<T, compressed<"K", Index>>(), stored.formats, stored.arrays(), expected);
  }

  /// Each element is in one part, and the parts have no others.
  template <class Matrix, std::size_t... Part>
  void check_every_element_once(const Matrix& m, std::index_sequence<Part...>) const {
    std::vector<int> times(values_.size(), 0);
    const auto count = [&](const auto& part) {
      for (const auto at : part.source())
        if (at >= 0) ++times[static_cast<std::size_t>(at)];
    };
    (count(m.template part<static_cast<int>(Part)>()), ...);
    CHECK(times == std::vector<int>(values_.size(), 1));
    std::int64_t all = 0;
    for (const std::int64_t share : m.shares()) all += share;
    CHECK(all == static_cast<std::int64_t>(values_.size()));
  }

  auto view() const { return csr(offsets_, indices_, values_, columns_); }

  template <class Matrix>
  static sparse::stored_parameter format_of(const Matrix& m) {
    return {"A", static_cast<std::int64_t>(m.values().size()), dsl::dtype_of<Index>};
  }

  void check(const any_kernel& k, const sparse::stored_parameter& format,
             const std::vector<const void*>& arrays) {
    check(k, std::vector<sparse::stored_parameter>{format}, arrays);
  }
  void check(const any_kernel& k, const std::vector<sparse::stored_parameter>& formats,
             const std::vector<const void*>& arrays) {
    check(k, formats, arrays, expected_);
  }
  void check(const any_kernel& k, const std::vector<sparse::stored_parameter>& formats,
             std::vector<const void*> arrays, const std::vector<result_of<T>>& expected) {
    const ir::function f = sparse::lower(
        sparse::with_storage(reify(k, {{"M", rows_}, {"K", columns_}, {"N", wide_}}), formats));
    arrays.push_back(b_.data());
    refused += !random_schedule::check(f, seed_, random_(), arrays, expected);
  }

  std::mt19937_64 random_;
  std::uint64_t seed_;
  std::int64_t rows_ = 0, columns_ = 0, wide_ = 0;
  program which_ = program::product;
  std::vector<Index> offsets_{0}, indices_;
  std::vector<T> values_, b_;
  std::vector<result_of<T>> expected_;
};

}  // namespace

TEST_CASE("random sparse programs compute what the dense ones do, in every format and schedule") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library: the random sparse programs are skipped");
    return;
  }
  const std::uint64_t first = random_seeds::first(), programs = random_seeds::count();
  std::uint64_t refused = 0;
  const auto run = [&](auto one) {
    one.run();
    refused += static_cast<std::uint64_t>(one.refused);
  };
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    CAPTURE(seed);
    switch (seed % 5) {
      case 0: run(example<float, std::int32_t>(seed)); break;
      case 1: run(example<double, std::int32_t>(seed)); break;
      case 2: run(example<float16, std::int32_t>(seed)); break;
      case 3: run(example<float, std::int64_t>(seed)); break;
      default: run(example<double, std::int64_t>(seed)); break;
    }
  }
  CHECK(refused <= programs / 10);
}
