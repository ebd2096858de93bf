// The forward pass of a small perceptron: one kernel of three layers, each a matrix product with
// bias and activation, described together so that the search may fuse them. The weights are bound
// once: whatever a schedule makes of them alone, such as a packed copy, is made once too.
#include <tilewright/tilewright.hpp>

#include <Eigen/Dense>
#include <iostream>

namespace {

constexpr auto mlp =
    tw::kernel<"mlp">([](tw::in<"x", float, "N", "I"> x, tw::weight<"w1", float, "I", "H"> w1,
                         tw::weight<"b1", float, "H"> b1, tw::weight<"w2", float, "H", "G"> w2,
                         tw::weight<"b2", float, "G"> b2, tw::weight<"w3", float, "G", "O"> w3,
                         tw::weight<"b3", float, "O"> b3, tw::out<"y", float, "N", "O"> y) {
      using tw::axes::n, tw::axes::i, tw::axes::h, tw::axes::g, tw::axes::o;
      tw::temp<"s1", float, "N", "H"> s1;
      tw::temp<"h1", float, "N", "H"> h1;
      tw::temp<"s2", float, "N", "G"> s2;
      tw::temp<"h2", float, "N", "G"> h2;
      tw::temp<"s3", float, "N", "O"> s3;
      return tw::blocks(
          s1(n, h) = tw::sum<i>(x(n, i) * w1(i, h)), h1(n, h) = max(s1(n, h) + b1(h), 0.0f),
          s2(n, g) = tw::sum<h>(h1(n, h) * w2(h, g)), h2(n, g) = max(s2(n, g) + b2(g), 0.0f),
          s3(n, o) = tw::sum<g>(h2(n, g) * w3(g, o)), y(n, o) = s3(n, o) + b3(o));
    });

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

int main() {
  const matrix x = matrix::Random(64, 256), w1 = matrix::Random(256, 128),
               w2 = matrix::Random(128, 64), w3 = matrix::Random(64, 10);
  const Eigen::VectorXf b1 = Eigen::VectorXf::Random(128), b2 = Eigen::VectorXf::Random(64),
                        b3 = Eigen::VectorXf::Random(10);
  matrix y(64, 10);

  const tw::tuned op{mlp, {.seconds = 4}};
  const auto net =
      op.with<"w1">(w1).with<"b1">(b1).with<"w2">(w2).with<"b2">(b2).with<"w3">(w3).with<"b3">(b3);
  net(x, y);

  const matrix h1 = ((x * w1).rowwise() + b1.transpose()).cwiseMax(0.0f);
  const matrix h2 = ((h1 * w2).rowwise() + b2.transpose()).cwiseMax(0.0f);
  const matrix expected = (h2 * w3).rowwise() + b3.transpose();
  const float difference = (y - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
  std::cout << "64 samples through 256-128-64-10; largest relative difference from Eigen "
            << difference << "\n"
            << net.report(x, y) << "\n";
  return difference < 1e-4f ? 0 : 1;
}
