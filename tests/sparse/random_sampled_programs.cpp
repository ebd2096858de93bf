// Random programs with results and temporaries on random patterns, in compressed rows, in other formats and in parts, under
// random schedules: the interpreter and machine code give what the dense program gives at the elements of the pattern.
//
// Values are multiples of 1/4 so small that every sum is exact, whatever its order: results are
// compared bit for bit. TILEWRIGHT_SPARSE_PROGRAMS says how many are run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/expr/reify.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>

#include "part_arrays.hpp"
#include "random_schedule.hpp"
#include "random_seeds.hpp"

using namespace tilewright;

namespace {

template <class T>
using result_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// S(i, j) = A(i, j) times the product of row i of X and row j of Y.
template <class T, dim Stored, dim Pattern>
any_kernel sampled_kernel() {
  using axes::i, axes::j, axes::k;
  using R = result_of<T>;
  constexpr auto f = kernel<"sampled">([](in<"A", T, "M", Stored> A, in<"X", T, "M", "K"> X,
                                          in<"Y", T, "N", "K"> Y, out<"S", R, "M", Pattern> S) {
    return S(i, j) = cast<R>(A(i, j)) * sum<k>(cast<R>(X(i, k)) * cast<R>(Y(j, k)));
  });
  return f;
}

/// The same, less the largest of its row, times Y.
template <class T, dim Stored, dim Pattern>
any_kernel chain_kernel() {
  using axes::i, axes::j, axes::k;
  using R = result_of<T>;
  constexpr auto f = kernel<"chain">([](in<"A", T, "M", Stored> A, in<"X", T, "M", "K"> X,
                                        in<"Y", T, "N", "K"> Y, out<"O", R, "M", "K"> O) {
    temp<"s", R, "M", Pattern> s;
    temp<"e", R, "M", Pattern> e;
    temp<"peak", R, "M"> peak;
    return blocks(s(i, j) = cast<R>(A(i, j)) * sum<k>(cast<R>(X(i, k)) * cast<R>(Y(j, k))),
                  peak(i) = max<j>(where_stored(s)(i, j)), e(i, j) = s(i, j) - peak(i),
                  O(i, k) = sum<j>(e(i, j) * cast<R>(Y(j, k))));
  });
  return f;
}

template <class T, class Index>
class sampled_example {
 public:
  explicit sampled_example(std::uint64_t seed) : random_(seed), seed_(seed) {
    rows_ = extent();
    columns_ = extent();
    depth_ = random_() % 2 ? 16 * static_cast<std::int64_t>(1 + random_() % 2) : extent();
    fill_pattern();
    x_.resize(static_cast<std::size_t>(rows_ * depth_));
    y_.resize(static_cast<std::size_t>(columns_ * depth_));
    for (auto* one : {&x_, &y_})
      for (T& v : *one) v = number();
    compute_expected();
  }

  int refused = 0;  // schedules

  void run() {
    constexpr dim stored = compressed<"N", Index>, pattern = stored_like<"N", "A">;
    check(sampled_kernel<T, stored, pattern>(), scores_);
    check(chain_kernel<T, stored, pattern>(), sums_);
    const auto rows = csr(offsets_, indices_, values_, columns_);
    if (seed_ % 3 == 0) check_places<bsr<"N", 2, Index>>(bsr_matrix<T, 2, Index>(rows, wide));
    if (seed_ % 3 == 1) check_places<ell<"N", 40, Index>>(ell_matrix<T, 40, Index>(rows));
    if (seed_ % 3 == 2) check_places<dcsr<"N", Index>>(dcsr_matrix<T, Index>(rows));
    constexpr dim blocks = parts<bsr<"N", 2, Index>, ell<"N", 1, Index>, dcsr<"N", Index>>;
    const parted_matrix<T, blocks> parted(rows, {.least_fill = 1, .most_padding = 1e9});
    check_with(chain_kernel<T, blocks, pattern>(), part_arrays::of(parted), sums_);
  }

 private:
  using R = result_of<T>;
  static constexpr bsr_options wide{.most_padding = 1e9};

  /// A result with a value for each place of a matrix in another format, 0 where that is padding.
  template <dim Stored, class Matrix>
  void check_places(const Matrix& m) {
    part_arrays::stored_parts stored;
    part_arrays::add_part(m, stored);
    stored.formats[0].part.clear();
    std::vector<R> expected;
    for (const Index at : m.source())
      expected.push_back(at < 0 ? R(0) : scores_[static_cast<std::size_t>(at)]);
    constexpr dim pattern = stored_like<"N", "A">;
    check_with(sampled_kernel<T, Stored, pattern>(), stored, expected);
  }

  std::int64_t extent() {
    const std::uint64_t draw = random_() % 8;
    return draw == 0 ? 1 : static_cast<std::int64_t>(1 + random_() % (draw < 5 ? 9 : 40));
  }
  T number() { return T(static_cast<float>(static_cast<int>(random_() % 9) - 4) / 4); }

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
    const auto depth = static_cast<std::size_t>(depth_);
    const auto y_at = [&](std::size_t at, std::size_t q) {
      return static_cast<R>(y_[static_cast<std::size_t>(indices_[at]) * depth + q]);
    };
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row) {
      const auto begin = static_cast<std::size_t>(offsets_[row]),
                 end = static_cast<std::size_t>(offsets_[row + 1]);
      for (std::size_t at = begin; at < end; ++at) {
        R sum = 0;
        for (std::size_t q = 0; q < depth; ++q)
          sum += static_cast<R>(x_[row * depth + q]) * y_at(at, q);
        scores_.push_back(static_cast<R>(values_[at]) * sum);
      }
      for (std::size_t q = 0; q < depth; ++q) {
        R sum = 0;
        for (std::size_t at = begin; at < end; ++at)
          sum +=
              (scores_[at] - *std::max_element(scores_.begin() + static_cast<std::ptrdiff_t>(begin),
                                               scores_.end())) *
              y_at(at, q);
        sums_.push_back(sum);
      }
    }
  }

  void check(const any_kernel& k, const std::vector<R>& expected) {
    part_arrays::stored_parts rows;
    rows.formats.push_back({"A", static_cast<std::int64_t>(values_.size()), dsl::dtype_of<Index>});
    rows.arrays = {offsets_.data(), indices_.data(), values_.data()};
    check_with(k, std::move(rows), expected);
  }

  void check_with(const any_kernel& k, part_arrays::stored_parts stored,
                  const std::vector<R>& expected) {
    for (const char* name : {"S", "s", "e"}) {
      stored.formats.push_back({name});
      stored.formats.back().pattern = "A";
    }
    const ir::function f = sparse::lower(sparse::with_storage(
        reify(k, {{"M", rows_}, {"N", columns_}, {"K", depth_}}), stored.formats));
    stored.arrays.insert(stored.arrays.end(), {x_.data(), y_.data()});
    refused += !random_schedule::check(f, seed_, random_(), stored.arrays, expected);
  }

  std::mt19937_64 random_;
  std::uint64_t seed_;
  std::int64_t rows_ = 0, columns_ = 0, depth_ = 0;
  std::vector<Index> offsets_{0}, indices_;
  std::vector<T> values_, x_, y_;
  std::vector<R> scores_, sums_;
};

}  // namespace

TEST_CASE("random programs on patterns compute what the dense ones do there, in every schedule") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library: the random programs on patterns are skipped");
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
    switch (seed % 4) {
      case 0: run(sampled_example<float, std::int32_t>(seed)); break;
      case 1: run(sampled_example<double, std::int64_t>(seed)); break;
      case 2: run(sampled_example<float16, std::int32_t>(seed)); break;
      default: run(sampled_example<float, std::int64_t>(seed)); break;
    }
  }
  CHECK(refused <= programs / 10);
}

TEST_CASE("rows of a pattern of one element have schedules, too, one after the other") {
  if (!backend::compiler_available()) return;
  sampled_example<double, std::int64_t> one(281);  // 36 x 1
  one.run();
  CHECK(one.refused == 0);
}
