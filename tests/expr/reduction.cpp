#include <tilewright/expr/reduction.hpp>

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

namespace {

constexpr std::size_t M = 5, N = 9;
const dim_values dims{{"M", M}, {"N", N}};

template <class T, class R, class F>
constexpr auto rowwise(F) {
  return kernel<"rowwise">([](in<"X", T, "M", "N"> X, out<"Y", R, "M"> Y) {
    using axes::i, axes::j;
    return Y(i) = F{}(X(i, j));
  });
}

template <class T, class R, class F>
void check_rows(const any_kernel& kernel, F f) {
  const std::vector<T> x = numbers<T>(M * N, 3);
  R y[M];
  run(kernel, dims, {x.data(), y});
  for (std::size_t i = 0; i < M; ++i) {
    const std::vector<T> row(x.begin() + static_cast<std::ptrdiff_t>(i * N),
                             x.begin() + static_cast<std::ptrdiff_t>(i * N + N));
    CHECK(y[i] == f(row));
  }
}

using axes::j;

}  // namespace

TEST_CASE("sum, prod, max, min of floats and integers") {
  check_rows<float, float>(rowwise<float, float>([](auto x) { return sum<j>(x); }), [](auto row) {
    float total = 0;
    for (float v : row) total += v;
    return total;
  });
  check_rows<double, double>(rowwise<double, double>([](auto x) { return prod<j>(x / 4); }),
                             [](auto row) {
                               double total = 1;
                               for (double v : row) total *= v / 4;
                               return total;
                             });
  check_rows<float, float>(rowwise<float, float>([](auto x) { return max<j>(x); }),
                           [](auto row) { return *std::max_element(row.begin(), row.end()); });
  check_rows<std::int8_t, std::int8_t>(
      rowwise<std::int8_t, std::int8_t>([](auto x) { return min<j>(x); }),
      [](auto row) { return *std::min_element(row.begin(), row.end()); });
}

TEST_CASE("any and all reduce conditions") {
  check_rows<float, bool>(rowwise<float, bool>([](auto x) { return any<j>(x > 7); }), [](auto row) {
    return std::any_of(row.begin(), row.end(), [](float v) { return v > 7; });
  });
  check_rows<float, bool>(
      rowwise<float, bool>([](auto x) { return all<j>(x > -8); }),
      [](auto row) { return std::all_of(row.begin(), row.end(), [](float v) { return v > -8; }); });
}

TEST_CASE("argmax and argmin give the first position, whatever the type they are stored in") {
  check_rows<float, std::int64_t>(
      rowwise<float, std::int64_t>([](auto x) { return argmax<j>(x); }),
      [](auto row) { return std::max_element(row.begin(), row.end()) - row.begin(); });
  check_rows<std::int32_t, std::int32_t>(
      rowwise<std::int32_t, std::int32_t>([](auto x) { return argmin<j>(x); }), [](auto row) {
        return static_cast<std::int32_t>(std::min_element(row.begin(), row.end()) - row.begin());
      });
  constexpr auto whole =
      kernel<"whole">([](in<"X", float, "M", "N"> X, out<"Y", std::int64_t, 1> Y) {
        using axes::i, axes::n;
        return Y(n) = argmax<i, j>(X(i, j));
      });
  const std::vector<float> x = numbers(M * N, 5);
  std::int64_t y = -1;
  run(whole, dims, {x.data(), &y});
  CHECK(y == std::max_element(x.begin(), x.end()) - x.begin());
  // nothing is above the identity, and the position is still one of the row
  const std::vector<float> low(M * N, -std::numeric_limits<float>::infinity());
  run(whole, dims, {low.data(), &y});
  CHECK(y == 0);
}

TEST_CASE("argmax has the form that reducer registries know") {
  const ir::function f =
      reify(rowwise<float, std::int32_t>([](auto x) { return argmax<j>(x); }), dims);
  CHECK(block_names(f) == std::vector<std::string>{"Y", "Y_epilogue"});
  const ir::block b = blocks_of(f)[0];
  CHECK(b->writes.size() == 2);
  const ir::let_node* first = ir::as_let(b->body);
  REQUIRE(first);
  const ir::let_node* second = ir::as_let(first->body);
  REQUIRE(second);
  const ir::seq_node* stores = ir::as_seq(second->body);
  REQUIRE(stores);
  CHECK(stores->stmts.size() == 2);
  CHECK(first->value->op == ir::op::select);
}

namespace {
constexpr auto online =
    reducer(std::tuple{-std::numeric_limits<float>::infinity(), 0.0f}, [](auto a, auto b) {
      const auto [m, s] = a;
      const auto [n, t] = b;
      const auto peak = max(m, n);
      return std::tuple{peak, s * exp(m - peak) + t * exp(n - peak)};
    });
constexpr auto largest = reducer(0.0f, [](auto a, auto b) { return max(a, abs(b)); });
}  // namespace

TEST_CASE("a fold over pairs defines two tensors in one block") {
  constexpr auto k = kernel<"online">(
      [](in<"X", float, "M", "N"> X, out<"P", float, "M"> P, out<"S", float, "M"> S) {
        using axes::i;
        constexpr auto finite = reducer(std::tuple{-1e30f, 0.0f}, online.combine);
        return tie(P(i), S(i)) = fold<j>(finite, X(i, j), 1.0f);
      });
  const ir::function f = reify(k, dims);
  CHECK(block_names(f) == std::vector<std::string>{"P"});
  CHECK(blocks_of(f)[0]->writes.size() == 2);
  const std::vector<float> x = numbers(M * N, 6);
  std::vector<float> p(M), s(M);
  run(k, dims, {x.data(), p.data(), s.data()});
  for (std::size_t i = 0; i < M; ++i) {
    const float peak = *std::max_element(&x[i * N], &x[i * N] + N);
    double total = 0;
    for (std::size_t c = 0; c < N; ++c) total += std::exp(static_cast<double>(x[i * N + c] - peak));
    CHECK(p[i] == peak);
    CHECK(s[i] == doctest::Approx(total).epsilon(1e-5));
  }
}

TEST_CASE("a fold of one value is an expression") {
  check_rows<float, float>(rowwise<float, float>([](auto x) { return fold<j>(largest, x) * 2.0f; }),
                           [](auto row) {
                             float best = 0;
                             for (float v : row) best = std::max(best, std::abs(v));
                             return best * 2;
                           });
}

TEST_CASE("several inline reductions, nested ones, and their axes") {
  constexpr auto k = kernel<"nested">(
      [](in<"A", float, "M", "N"> A, in<"B", float, "N", "K"> B, out<"Y", float, "M"> Y) {
        using axes::i, axes::k;
        return Y(i) = sum<j>(A(i, j) * max<k>(B(j, k))) - max<j>(A(i, j)) + sum<j>(A(i, j));
      });
  const ir::function f = reify(k, {{"M", 3}, {"N", 4}, {"K", 5}});
  CHECK(block_names(f) == std::vector<std::string>{"Y_max", "Y_sum", "Y_max_1", "Y_sum_1", "Y"});
  // the inner maximum depends on j alone
  CHECK(blocks_of(f)[0]->iters.size() == 2);
  const std::vector<float> a = numbers(12, 1), b = numbers(20, 2);
  std::vector<float> y(3);
  run(k, {{"M", 3}, {"N", 4}, {"K", 5}}, {a.data(), b.data(), y.data()});
  for (std::size_t i = 0; i < 3; ++i) {
    float total = 0, plain = 0, best = a[i * 4];
    for (std::size_t n = 0; n < 4; ++n) {
      total += a[i * 4 + n] * *std::max_element(&b[n * 5], &b[n * 5] + 5);
      plain += a[i * 4 + n];
      best = std::max(best, a[i * 4 + n]);
    }
    CHECK(y[i] == total - best + plain);
  }
}

TEST_CASE("a reduction into the tensor that it reads goes through a temporary") {
  constexpr auto k = kernel<"update">([](inout<"Y", float, "M"> Y, in<"X", float, "M", "N"> X) {
    using axes::i;
    return Y(i) = sum<j>(X(i, j) + Y(i));
  });
  CHECK(block_names(reify(k, dims)) == std::vector<std::string>{"Y", "Y_epilogue"});
  const std::vector<float> x = numbers(M * N, 1);
  std::vector<float> y = numbers(M, 2), before = y;
  run(k, dims, {y.data(), x.data()});
  for (std::size_t i = 0; i < M; ++i) {
    float total = 0;
    for (std::size_t c = 0; c < N; ++c) total += x[i * N + c] + before[i];
    CHECK(y[i] == total);
  }
}

TEST_CASE("an equal reduction in one definition is computed once") {
  constexpr auto k = kernel<"silu">([](in<"X", float, "M", "N"> X, out<"Y", float, "M"> Y) {
    using axes::i;
    const auto total = sum<j>(X(i, j));
    return Y(i) = total * sigmoid(total) + sum<j>(X(i, j) * 2.0f);
  });
  CHECK(block_names(reify(k, dims)) == std::vector<std::string>{"Y_sum", "Y_sum_1", "Y"});
}
