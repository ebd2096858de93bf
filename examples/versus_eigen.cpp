// A tuned product beside Eigen's, as Google Benchmark measures and prints them. All options of
// Google Benchmark work: `versus_eigen --benchmark_repetitions=5`.
#include <tilewright/interop/benchmark.hpp>
#include <tilewright/tilewright.hpp>

#include <Eigen/Core>

using namespace tw;

namespace {

constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

}  // namespace

int main(int argc, char** argv) {
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(256, 256),
                        b = Eigen::MatrixXf::Random(256, 256);
  Eigen::MatrixXf c(256, 256), expected(256, 256);
  tuned op{product, {.seconds = 2}};

  tw::benchmark::comparison all("product/256", 2.0 * 256 * 256 * 256);
  all.add(op, a, b, c);
  all.add("eigen", [&] { expected.noalias() = a * b; });

  ::benchmark::Initialize(&argc, argv);
  ::benchmark::RunSpecifiedBenchmarks();
  return 0;
}
