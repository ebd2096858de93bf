// A Gaussian process over points of ordered and categorical coordinates: what Bayesian search
// believes about candidates that nobody measured.
//
// The kernel is the mixed one of MetaTune's search (arXiv 2102.04199; form as in BoTorch):
//
//   k(x, x') = s2 * (o + c + o * c),  o = Matern-5/2 of the ordered coordinates, a length each,
//                                     c = exp(-share of categories that differ / length)
//
// Lengths, scale and noise maximize the marginal likelihood of the data times weak priors, by a few
// steps of Adam with the analytic gradient. The definitions need Eigen: learning.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::cost {

/// A point. All points of one process have as many coordinates of each sort.
struct mixed_point {
  std::vector<double> ordered;  // about [0, 1]
  std::vector<std::int64_t> categories;
};

/// What a process believes about one point.
struct belief {
  double mean = 0;
  double deviation = 1;  // standard, of the value itself, without the noise of a measurement
};

/// Parameters of the kernel.
struct mixed_kernel {
  std::vector<double> lengths;  // [ordered coordinates]
  double category_length = 1;
  double scale = 1;     // s2
  double noise = 1e-2;  // variance of a measurement
};

struct gaussian_process_options {
  int first_steps = 40;  // of Adam, where there are no parameters of an earlier fit
  int steps = 12;        // where there are
  double rate = 0.1;     // of Adam, in logarithms of the parameters
  double least_noise = 1e-4;
};

/// Regression by a Gaussian process. Values should be standardized: the mean before any data is 0.
class gaussian_process {
 public:
  explicit gaussian_process(gaussian_process_options options = {});
  ~gaussian_process();
  gaussian_process(gaussian_process&&) noexcept;
  gaussian_process& operator=(gaussian_process&&) noexcept;

  /// Chooses the parameters by the data and conditions on them. Costs O(n^3) a step.
  /// Requires: 1. there are as many values as points; 2. every point has as many coordinates of each sort as
  /// the first one; 3. all numbers are finite.
  /// @throws argument_error
  void fit(std::span<const mixed_point> points, std::span<const double> values);
  /// Conditions on data with given parameters. Requires 1 to 3 of `fit`; 4. there is one length
  /// for each ordered coordinate; 5. parameters are positive.
  /// @throws argument_error
  void condition(std::span<const mixed_point> points, std::span<const double> values,
                 mixed_kernel kernel);

  /// Before any data, mean 0 and the deviation of the prior. Requires 2 and 3 of `fit`.
  std::vector<belief> predict(std::span<const mixed_point> points) const;
  /// Covariance of two points under the kernel, without data and noise.
  double covariance(const mixed_point& a, const mixed_point& b) const;
  /// Logarithm of the marginal likelihood of the data, with the priors of the parameters.
  double log_likelihood() const;
  /// Its derivative by the logarithms of the parameters: lengths, category length, scale, noise.
  std::vector<double> gradient() const;

  const mixed_kernel& kernel() const noexcept;
  std::size_t size() const noexcept;

  /// Beliefs about a fixed list of points that go on as if some of them had been measured, at
  /// O(n + picks) a point and pick: what choosing a batch needs.
  class pool {
   public:
    ~pool();
    pool(pool&&) noexcept;
    pool& operator=(pool&&) noexcept;
    const std::vector<belief>& beliefs() const noexcept;
    /// Goes on as if point `i` had the value `value`; the mean itself is what a kriging believer
    /// takes, and leaves all means as they are.
    void pretend(std::size_t i, double value);
    /// Goes on as if the value of point `i` itself were known, without the noise of a measurement:
    /// deviations shrink, and means stay.
    /// @returns by how much the mean of each point grows when the value of `i` lies one standard
    /// deviation above its mean; all 0 where that value was known before
    std::vector<double> settle(std::size_t i);

   private:
    friend class gaussian_process;
    struct state;
    explicit pool(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
  };
  /// The process must outlive the pool and must not be fitted meanwhile. Requires 2 and 3 of `fit`.
  pool over(std::span<const mixed_point> points) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::cost
