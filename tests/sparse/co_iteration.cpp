// Patterns that meet: intersect, unite and looked_up give what loops over dense matrices give, by the
// interpreter of sparse programs, by the lowered program under random schedules, and as machine code.
//
// Values are multiples of 1/4 so small that every sum is exact: results are compared bit for bit.
#include <tilewright/sparse/lower.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

#include "patterns.hpp"
#include "random_schedule.hpp"
#include "random_seeds.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

/// Kernels of sparse rows A and B with elements of type T.
template <class T, class Index>
struct kernels {
  static constexpr dim columns = compressed<"K", Index>;
  static constexpr dim wide = compressed<"N", Index>;
  using A_rows = in<"A", T, "M", columns>;
  using B_rows = in<"B", T, "M", columns>;
  using B_other = in<"B", T, "N", columns>;
  static constexpr dim on_p = stored_like<"N", "P">;
  using P_rows = in<"P", T, "M", wide>;
  using S_rows = out<"S", T, "M", on_p>;
  using S_square = out<"S", T, "N", on_p>;
  using P_square = in<"P", T, "N", wide>;
  using X_type = in<"X", T, "K", "N">;
  using x_type = in<"x", T, "K">;
  using y_type = out<"y", T, "M">;
  using C_type = out<"C", T, "M", "N">;

  static any_kernel dot() {
    constexpr auto f = kernel<"dot">(
        [](A_rows A, B_rows B, y_type y) { return y(i) = sum<k>(intersect(A(i, k) * B(i, k))); });
    return f;
  }
  static any_kernel products() {
    constexpr auto f = kernel<"products">([](A_rows A, B_other B, C_type C) {
      return C(i, j) = T(2) * sum<k>(intersect(A(i, k) * B(j, k))) + T(1);
    });
    return f;
  }
  static any_kernel distance() {
    constexpr auto f = kernel<"distance">(
        [](A_rows A, B_rows B, y_type y) { return y(i) = sum<k>(unite(abs(A(i, k) - B(i, k)))); });
    return f;
  }
  static any_kernel largest() {
    constexpr auto f = kernel<"largest">(
        [](A_rows A, B_rows B, y_type y) { return y(i) = max<k>(intersect(A(i, k) + B(i, k))); });
    return f;
  }
  static any_kernel weighted() {
    constexpr auto f = kernel<"weighted">([](A_rows A, B_rows B, X_type X, C_type C) {
      return C(i, j) = sum<k>(intersect(A(i, k) * B(i, k)) * X(k, j));
    });
    return f;
  }
  static any_kernel spread() {
    constexpr auto f = kernel<"spread">([](A_rows A, B_rows B, X_type X, C_type C) {
      return C(i, j) = sum<k>(unite(A(i, k) - B(i, k)) * X(k, j) + T(1));
    });
    return f;
  }
  static any_kernel total() {
    constexpr auto f = kernel<"total">([](A_rows A, B_rows B, out<"t", T> t) {
      return t() = sum<i, k>(intersect(A(i, k) * B(i, k)));
    });
    return f;
  }
  static any_kernel every_column() {
    constexpr auto f = kernel<"every_column">([](A_rows A, x_type x, y_type y) {
      return y(i) = sum<k>((looked_up(A)(i, k) + T(1)) * x(k));
    });
    return f;
  }
  static any_kernel half_way() {
    constexpr auto f = kernel<"half_way">(
        [](A_rows A, x_type x, y_type y) { return y(i) = sum<k>(looked_up(A)(i, k / 2) * x(k)); });
    return f;
  }
  static any_kernel searched() {
    constexpr auto f = kernel<"searched">(
        [](A_rows A, B_rows B, y_type y) { return y(i) = sum<k>(A(i, k) * looked_up(B)(i, k)); });
    return f;
  }
  static any_kernel written_out() {
    constexpr auto f =
        kernel<"written_out">([](A_rows A, in<"X", T, "M", "K"> X, out<"C", T, "M", "K"> C) {
          return C(i, j) = looked_up(A)(i, j) * T(2) + X(i, j);
        });
    return f;
  }
  static any_kernel sampled() {
    constexpr auto f = kernel<"sampled">([](A_rows A, B_other B, P_rows P, S_rows S) {
      return S(i, j) = P(i, j) * sum<k>(intersect(A(i, k) * B(j, k)));
    });
    return f;
  }
  static any_kernel asymmetry() {
    constexpr auto f = kernel<"asymmetry">(
        [](P_square P, S_square S) { return S(i, j) = P(i, j) - looked_up(P)(j, i); });
    return f;
  }
};

template <class T, class Index>
struct matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Index> offsets{0}, indices;
  std::vector<T> values;
  T absent = T(0);  // what is read where nothing is stored

  T at(std::int64_t i, std::int64_t k) const {
    const std::optional<T> found = find(i, k);
    return found ? *found : absent;
  }
  std::optional<T> find(std::int64_t i, std::int64_t k) const {
    for (auto p = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         p < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++p)
      if (indices[p] == static_cast<Index>(k)) return values[p];
    return std::nullopt;
  }
  std::int64_t places() const { return static_cast<std::int64_t>(values.size()); }
};

/// Where the second of two matrices has its elements.
enum class meeting { anywhere, nowhere, same };

template <class T, class Index>
class example {
 public:
  explicit example(std::uint64_t seed) : random_(seed), seed_(seed) {
    rows_ = extent();
    columns_ = extent();
    wide_ = extent();
    const auto how = static_cast<meeting>(seed % 3);
    a_ = pattern(rows_, columns_, {}, meeting::anywhere);
    b_ = pattern(rows_, columns_, &a_, how);
    c_ = pattern(wide_, columns_, {}, meeting::anywhere);
    p_ = pattern(rows_, wide_, {}, meeting::anywhere);
    square_ = pattern(wide_, wide_, {}, meeting::anywhere);
  }

  int refused = 0;

  void run() {
    run_rows();
    run_columns();
    run_looked_up();
    run_on_patterns();
  }

 private:
  using rows = matrix<T, Index>;
  using use = kernels<T, Index>;

  std::int64_t extent() {
    return random_() % 6 == 0 ? 1 : 1 + static_cast<std::int64_t>(random_() % 19);
  }
  T number() { return T(static_cast<float>(static_cast<int>(random_() % 17) - 8) / 4); }

  /// Empty rows, a full one, and at least one element, since extents are positive.
  rows pattern(std::int64_t m, std::int64_t n, const rows* beside, meeting how) {
    const std::uint64_t density = 1 + random_() % 9;
    const auto full = static_cast<std::int64_t>(random_() % 40);
    rows out{m, n, {0}, {}, {}};
    for (std::int64_t r = 0; r < m; ++r) {
      const bool empty = random_() % 3 == 0;
      for (std::int64_t c = 0; c < n; ++c) {
        bool stored = r == full || (!empty && random_() % 10 < density);
        if (beside && how == meeting::same) stored = beside->find(r, c).has_value();
        if (beside && how == meeting::nowhere) stored = stored && !beside->find(r, c);
        if (!stored && !(r + 1 == m && c + 1 == n && out.indices.empty())) continue;
        out.indices.push_back(static_cast<Index>(c));
        out.values.push_back(number());
      }
      out.offsets.push_back(static_cast<Index>(out.indices.size()));
    }
    return out;
  }

  static sparse::stored_parameter stored(const char* name, const rows& m) {
    sparse::stored_parameter out{name, m.places(), dsl::dtype_of<Index>};
    out.absent = static_cast<double>(m.absent);
    return out;
  }

  /// The matrix with a drawn value where it stores nothing, which is 0 for some.
  rows elsewhere(rows m) {
    m.absent = random_() % 3 == 0 ? T(0) : number();
    return m;
  }

  std::vector<T> numbers(std::int64_t n) {
    std::vector<T> out(static_cast<std::size_t>(n));
    for (T& v : out) v = number();
    return out;
  }

  template <class Value>
  std::vector<T> expected(std::int64_t m, std::int64_t n, const Value& value) {
    std::vector<T> out;
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t c = 0; c < n; ++c) out.push_back(value(r, c));
    return out;
  }

  template <class Value>
  T sum_over(std::int64_t n, const Value& value) {
    T out(0);
    for (std::int64_t x = 0; x < n; ++x) out += value(x);
    return out;
  }

  void check(const any_kernel& kernel, const dim_values& dims,
             const std::vector<sparse::stored_parameter>& formats,
             const std::vector<const rows*>& matrices, std::vector<const void*> dense,
             const std::vector<T>& result) {
    CAPTURE(kernel.name());
    const ir::sparse_function f = sparse::with_storage(reify(kernel, dims), formats);
    ir::verify(f);
    const std::string text = ir::print(f);
    CAPTURE(text);
    CHECK(ir::print(ir::parse_sparse(text)) == text);
    std::vector<const void*> inputs;
    for (const rows* m : matrices)
      inputs.insert(inputs.end(), {m->offsets.data(), m->indices.data(), m->values.data()});
    inputs.insert(inputs.end(), dense.begin(), dense.end());
    std::vector<T> interpreted(result.size(), T(99));
    std::vector<ir::tensor_view> views;
    for (const void* one : inputs) views.push_back({const_cast<void*>(one), {}});
    views.push_back({interpreted.data(), {}});
    ir::interpret(f, views);
    CHECK(interpreted == result);
    refused += !random_schedule::check(sparse::lower(f), seed_, random_(), inputs, result);
  }

  T both(std::int64_t r, std::int64_t c, std::int64_t x) const { return a_.at(r, x) * c_.at(c, x); }

  void run_rows() {
    const dim_values dims{{"M", rows_}, {"K", columns_}};
    const std::vector<sparse::stored_parameter> formats{stored("A", a_), stored("B", b_)};
    const std::vector<const rows*> two{&a_, &b_};
    const auto rows_sum = [&](const auto& value) {
      return expected(rows_, 1, [&](std::int64_t r, std::int64_t) {
        return sum_over(columns_, [&](std::int64_t x) { return value(r, x); });
      });
    };
    const auto product = [&](std::int64_t r, std::int64_t x) { return a_.at(r, x) * b_.at(r, x); };
    const std::vector<T> dots = rows_sum(product);
    check(use::dot(), dims, formats, two, {}, dots);
    check(use::searched(), dims, formats, two, {}, dots);
    const rows found = elsewhere(b_);
    check(use::searched(), dims, {stored("A", a_), stored("B", found)}, {&a_, &found}, {},
          rows_sum([&](std::int64_t r, std::int64_t x) { return a_.at(r, x) * found.at(r, x); }));
    check(use::total(), dims, formats, two, {},
          {sum_over(rows_, [&](std::int64_t r) { return dots[static_cast<std::size_t>(r)]; })});
    check(use::distance(), dims, formats, two, {}, rows_sum([&](std::int64_t r, std::int64_t x) {
            return std::abs(a_.at(r, x) - b_.at(r, x));
          }));
    rows first = elsewhere(a_), second = b_;
    second.absent = first.absent;  // they are equal where neither stores an element
    check(use::distance(), dims, {stored("A", first), stored("B", second)}, {&first, &second}, {},
          rows_sum([&](std::int64_t r, std::int64_t x) {
            return std::abs(first.at(r, x) - second.at(r, x));
          }));
    check(use::largest(), dims, formats, two, {},
          expected(rows_, 1, [&](std::int64_t r, std::int64_t) {
            T out = -std::numeric_limits<T>::infinity();
            for (std::int64_t x = 0; x < columns_; ++x)
              if (a_.find(r, x) && b_.find(r, x)) out = std::max(out, a_.at(r, x) + b_.at(r, x));
            return out;
          }));
  }

  void run_columns() {
    const dim_values dims{{"M", rows_}, {"K", columns_}, {"N", wide_}};
    const std::vector<T> x = numbers(columns_ * wide_);
    const auto at = [&](std::int64_t r, std::int64_t c) {
      return x[static_cast<std::size_t>(r * wide_ + c)];
    };
    check(use::products(), dims, {stored("A", a_), stored("B", c_)}, {&a_, &c_}, {},
          expected(rows_, wide_, [&](std::int64_t r, std::int64_t c) {
            return 2 * sum_over(columns_, [&](std::int64_t m) { return both(r, c, m); }) + 1;
          }));
    const std::vector<sparse::stored_parameter> formats{stored("A", a_), stored("B", b_)};
    check(use::weighted(), dims, formats, {&a_, &b_}, {x.data()},
          expected(rows_, wide_, [&](std::int64_t r, std::int64_t c) {
            return sum_over(columns_,
                            [&](std::int64_t m) { return a_.at(r, m) * b_.at(r, m) * at(m, c); });
          }));
    const rows first = elsewhere(a_), second = elsewhere(b_);
    check(use::spread(), dims, {stored("A", first), stored("B", second)}, {&first, &second},
          {x.data()}, expected(rows_, wide_, [&](std::int64_t r, std::int64_t c) {
            return sum_over(columns_, [&](std::int64_t m) {
              const bool any = first.find(r, m) || second.find(r, m);
              return any ? (first.at(r, m) - second.at(r, m)) * at(m, c) + 1 : T(0);
            });
          }));
  }

  void run_looked_up() {
    const rows a = elsewhere(a_);
    const dim_values dims{{"M", rows_}, {"K", columns_}};
    const std::vector<T> x = numbers(rows_ * columns_);
    const auto at = [&](std::int64_t n) { return x[static_cast<std::size_t>(n)]; };
    check(use::every_column(), dims, {stored("A", a)}, {&a}, {x.data()},
          expected(rows_, 1, [&](std::int64_t r, std::int64_t) {
            return sum_over(columns_, [&](std::int64_t m) { return (a.at(r, m) + 1) * at(m); });
          }));
    check(use::half_way(), dims, {stored("A", a)}, {&a}, {x.data()},
          expected(rows_, 1, [&](std::int64_t r, std::int64_t) {
            return sum_over(columns_, [&](std::int64_t m) { return a.at(r, m / 2) * at(m); });
          }));
    check(use::written_out(), dims, {stored("A", a)}, {&a}, {x.data()},
          expected(rows_, columns_, [&](std::int64_t r, std::int64_t c) {
            return a.at(r, c) * 2 + at(r * columns_ + c);
          }));
  }

  template <class Value>
  std::vector<T> on(const rows& p, const Value& value) {
    std::vector<T> out;
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.columns; ++c)
        if (p.find(r, c)) out.push_back(value(r, c));
    return out;
  }

  void run_on_patterns() {
    sparse::stored_parameter result{"S"};
    result.pattern = "P";
    check(use::sampled(), {{"M", rows_}, {"K", columns_}, {"N", wide_}},
          {stored("A", a_), stored("B", c_), stored("P", p_), result}, {&a_, &c_, &p_}, {},
          on(p_, [&](std::int64_t r, std::int64_t c) {
            return p_.at(r, c) * sum_over(columns_, [&](std::int64_t m) { return both(r, c, m); });
          }));
    const rows square = elsewhere(square_);
    check(use::asymmetry(), {{"N", wide_}}, {stored("P", square), result}, {&square}, {},
          on(square,
             [&](std::int64_t r, std::int64_t c) { return square.at(r, c) - square.at(c, r); }));
  }

  std::mt19937_64 random_;
  std::uint64_t seed_;
  std::int64_t rows_ = 0, columns_ = 0, wide_ = 0;
  rows a_, b_, c_, p_, square_;
};

}  // namespace

TEST_CASE("random merged walks and look-ups compute what dense loops do") {
  if (!backend::compiler_available()) {
    MESSAGE("no LLVM library: the merged walks are skipped");
    return;
  }
  const std::uint64_t first = random_seeds::first() / 10, programs = random_seeds::count() / 10;
  std::uint64_t refused = 0;
  const auto run = [&](auto one) {
    one.run();
    refused += static_cast<std::uint64_t>(one.refused);
  };
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    CAPTURE(seed);
    switch (seed % 4) {
      case 0: run(example<float, std::int32_t>(seed)); break;
      case 1: run(example<double, std::int32_t>(seed)); break;
      case 2: run(example<float, std::int64_t>(seed)); break;
      default: run(example<double, std::int64_t>(seed)); break;
    }
  }
  CHECK(refused <= programs);
}

TEST_CASE("a merged axis says in the script how it is walked") {
  const ir::sparse_function f = sparse::with_storage(
      reify(kernels<float, std::int32_t>::dot(), {{"M", 4}, {"K", 6}}), {{"A", 7}, {"B", 8}});
  const std::string text = ir::print(f);
  CHECK(text.find("    with T.sp_iter([y_vi, T.intersect(y_vk)], \"SR\", \"y\") as [vi, vk]:\n"
                  "        with T.init():\n"
                  "            y[vi] = T.float32(0.0)\n"
                  "        y[vi] = y[vi] + A_1[vi, vk] * B_1[vi, vk]\n") != std::string::npos);
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  const std::string lowered = ir::print(sparse::lower(f));
  CHECK(
      lowered.find("while A_columns_at[0] < A_columns_end and B_columns_at[0] < B_columns_end:") !=
      std::string::npos);
}

TEST_CASE("what an axis may merge") {
  const std::string text = ir::print(sparse::with_storage(
      reify(kernels<float, std::int32_t>::dot(), {{"M", 4}, {"K", 6}}), {{"A", 7}, {"B", 8}}));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    out.replace(out.find(from), from.size(), to);
    return ir::parse_sparse(out);
  };
  CHECK_THROWS_WITH_AS(
      ir::verify(changed("A_1[vi, vk] * B_1[vi, vk]", "A_1[vi, vk] * A_1[vi, vk]")),
      "iteration \"y\" merges axis \"y_vk\", along which it reads fewer than two sparse buffers",
      ir::verify_error);
  CHECK_THROWS_WITH_AS(
      ir::verify(changed("[y_vi, T.intersect(y_vk)]", "[A_rows, T.unite(A_columns)]")),
      "iteration \"y\" merges axis \"A_columns\", which is no dense axis that stands alone",
      ir::verify_error);
  CHECK_THROWS_AS(changed("T.intersect(", "T.meet("), argument_error);
}

TEST_CASE(
    "a row that is asked often is laid out in a table, and one that is long for few questions "
    "searched") {
  const auto lowered = [](std::int64_t asked, std::int64_t stored) {
    return ir::print(sparse::lower(sparse::with_storage(
        reify(kernels<float, std::int32_t>::searched(), {{"M", 4}, {"K", 600}}),
        {{"A", 4 * asked}, {"B", 4 * stored}})));
  };
  const std::string table = lowered(40, 60), search = lowered(2, 500);
  CAPTURE(table);
  CAPTURE(search);
  CHECK(table.find("B_columns_place = T.alloc_buffer((600,), \"int32\")") != std::string::npos);
  CHECK(table.find("while") == std::string::npos);
  CHECK(search.find("B_columns_place") == std::string::npos);
  CHECK(search.find("while B_columns_low[0] < B_columns_high[0]:") != std::string::npos);
}
