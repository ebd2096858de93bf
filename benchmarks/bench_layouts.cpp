// What storage orders cost: the same computations over row-major and column-major matrices, and
// matrix products in all eight combinations, beside Eigen on one thread.
//
// Benchmarks are named COMPUTATION/ORDER/ENGINE; orders of a product are those of A, B and C. The
// results of both engines are compared with Eigen's in double precision before the first is timed, with a tolerance by
// the length of the reduction (problems/double_reference.hpp). Tuning takes BENCH_TUNE_SECONDS
// (default 3) per computation.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include <tilewright/tilewright.hpp>

#include "problems/double_reference.hpp"

namespace {

using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using columns = Eigen::MatrixXf;
using vector = Eigen::VectorXf;
template <class M>
constexpr const char* order = M::IsRowMajor ? "row" : "col";
template <class M>
constexpr const char* letter = M::IsRowMajor ? "R" : "C";

using tw::axes::i, tw::axes::j, tw::axes::k;
constexpr auto row_sum =
    tw::kernel<"row_sum">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "M"> Y) {
      return Y(i) = tw::sum<j>(X(i, j));
    });
constexpr auto row_argmax =
    tw::kernel<"row_argmax">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", std::int32_t, "M"> Y) {
      return Y(i) = tw::argmax<j>(X(i, j));
    });
constexpr auto squared_norm =
    tw::kernel<"norm">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, 1> Y) {
      constexpr tw::axis<"o"> o;
      return Y(o) = tw::sum<i, j>(X(i, j) * X(i, j));
    });
constexpr auto softmax =
    tw::kernel<"softmax">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "M", "N"> Y) {
      tw::temp<"peak", float, "M"> peak;
      tw::temp<"e", float, "M", "N"> e;
      tw::temp<"total", float, "M"> sum;
      return tw::blocks(peak(i) = tw::max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                        sum(i) = tw::sum<j>(e(i, j)), Y(i, j) = e(i, j) / sum(i));
    });
constexpr auto scale_add = tw::kernel<"scale_add">(
    [](tw::in<"X", float, "M", "N"> X, tw::in<"Z", float, "M", "N"> Z,
       tw::out<"Y", float, "M", "N"> Y) { return Y(i, j) = 2.0f * X(i, j) + Z(i, j); });
constexpr auto transpose =
    tw::kernel<"transpose">([](tw::in<"X", float, "M", "N"> X, tw::out<"Y", float, "N", "M"> Y) {
      return Y(i, j) = X(j, i);
    });
constexpr auto product = tw::kernel<"product">(
    [](tw::in<"A", float, "M", "K"> A, tw::in<"B", float, "K", "N"> B,
       tw::out<"C", float, "M", "N"> C) { return C(i, j) = tw::sum<k>(A(i, k) * B(k, j)); });

double budget() {
  const char* text = std::getenv("BENCH_TUNE_SECONDS");
  return text ? std::atof(text) : 3.0;
}

/// The same matrix, or vector, of doubles; integers stay.
template <class M>
using in_double = Eigen::Matrix<
    std::conditional_t<std::is_integral_v<typename M::Scalar>, typename M::Scalar, double>,
    M::RowsAtCompileTime, M::ColsAtCompileTime, M::Options>;

/// Registers both engines; they compute into `mine` and `theirs`.
/// @param eigen computes a result of any element type: what it makes of doubles is the reference
/// @param terms of the longest reduction; 0: a few operations
template <class Kernel, class Result, class Eigens, class... Inputs>
void compare(const std::string& name, const Kernel& kernel, Result shape, int terms,
             const Eigens& eigen, const Inputs&... inputs) {
  struct state_of {
    tw::tuned<Kernel> op;
    std::tuple<Inputs...> in;
    Result mine, theirs;
    in_double<Result> reference;
  };
  const auto s = std::shared_ptr<state_of>(
      new state_of{tw::tuned<Kernel>(kernel, tw::tuned_options{.seconds = budget(), .threads = 1}),
                   {inputs...},
                   shape,
                   shape,
                   shape.template cast<typename in_double<Result>::Scalar>()});
  const auto run_mine = [s] { std::apply([&](const auto&... x) { s->op(x..., s->mine); }, s->in); };
  const auto run_theirs = [s, eigen] {
    std::apply([&](const auto&... x) { eigen(s->theirs, x...); }, s->in);
  };
  const auto is_right = [s, terms](const Result& result) {
    return bench::relative_error(result.data(), s->reference.data(),
                                 static_cast<std::size_t>(result.size())) <=
           bench::rounding_bound_of<typename Result::Scalar>(terms);
  };
  benchmark::RegisterBenchmark((name + "/tilewright").c_str(), [=](benchmark::State& state) {
    run_mine();
    run_theirs();
    std::apply([&](const auto&... x) { eigen(s->reference, x.template cast<double>().eval()...); },
               s->in);
    if (!is_right(s->mine)) return state.SkipWithError("the results are wrong");
    if (!is_right(s->theirs)) return state.SkipWithError("the results of Eigen are wrong");
    for (auto _ : state) run_mine();
  });
  benchmark::RegisterBenchmark((name + "/eigen").c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      run_theirs();
      benchmark::ClobberMemory();
    }
  });
}

template <class M>
void over_matrices(int n) {
  const M x = M::Random(n, n), z = M::Random(n, n), y(n, n);
  const std::string where = std::string("/") + order<M>;
  compare(
      "row_sum" + where, row_sum, vector(n), n,
      [](auto& w, const auto& a) { w = a.rowwise().sum(); }, x);
  compare(
      "row_argmax" + where, row_argmax, Eigen::VectorXi(n), 0,
      [](auto& w, const auto& a) {
        for (Eigen::Index r = 0; r < a.rows(); ++r) {
          Eigen::Index at = 0;
          a.row(r).maxCoeff(&at);
          w(r) = static_cast<int>(at);
        }
      },
      x);
  compare(
      "squared_norm" + where, squared_norm, vector(1), n * n,
      [](auto& w, const auto& a) { w(0) = a.squaredNorm(); }, x);
  compare(
      "softmax" + where, softmax, y, n,
      [](auto& out, const auto& a) {
        out = (a.colwise() - a.rowwise().maxCoeff()).array().exp();
        const auto sums = out.rowwise().sum().eval();
        out.array().colwise() /= sums.array();
      },
      x);
  compare(
      "scale_add" + where, scale_add, y, 0,
      [](auto& out, const auto& a, const auto& b) { out = 2 * a + b; }, x, z);
  compare(
      "transpose" + where, transpose, y, 0, [](auto& out, const auto& a) { out = a.transpose(); },
      x);
}

template <class A, class B, class C>
void products(int n) {
  const A a = A::Random(n, n);
  const B b = B::Random(n, n);
  compare(
      std::string("product/") + letter<A> + letter<B> + letter<C>, product, C(n, n), n,
      [](auto& c, const auto& x, const auto& y) { c.noalias() = x * y; }, a, b);
}

template <class A, class B>
void products_into(int n) {
  products<A, B, rows>(n);
  products<A, B, columns>(n);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  over_matrices<rows>(512);
  over_matrices<columns>(512);
  products_into<rows, rows>(256);
  products_into<rows, columns>(256);
  products_into<columns, rows>(256);
  products_into<columns, columns>(256);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
