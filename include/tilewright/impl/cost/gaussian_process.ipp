#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <string>

#include <tilewright/cost/gaussian_process.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::cost {

struct gaussian_process::state {
  using matrix = Eigen::MatrixXd;
  using vector = Eigen::VectorXd;

  gaussian_process_options options;
  mixed_kernel kernel;
  std::vector<mixed_point> points;
  vector values;
  matrix ordered, categorical;  // [points, points], each factor of the kernel
  matrix lower;                 // of the Cholesky decomposition of the covariance with noise
  vector weights;               // covariance^-1 * values

  /// (1 + sqrt5 r + 5/3 r^2) exp(-sqrt5 r).
  static double matern(double r) {
    const double s = std::sqrt(5.0) * r;
    return (1 + s + s * s / 3) * std::exp(-s);
  }

  double ordered_part(const mixed_point& a, const mixed_point& b) const {
    double square = 0;
    for (std::size_t i = 0; i < a.ordered.size(); ++i) {
      const double d = (a.ordered[i] - b.ordered[i]) / kernel.lengths[i];
      square += d * d;
    }
    return matern(std::sqrt(square));
  }

  static double differing_share(const mixed_point& a, const mixed_point& b) {
    if (a.categories.empty()) return 0;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < a.categories.size(); ++i)
      differ += a.categories[i] != b.categories[i] ? 1 : 0;
    return static_cast<double>(differ) / static_cast<double>(a.categories.size());
  }

  double categorical_part(const mixed_point& a, const mixed_point& b) const {
    return std::exp(-differing_share(a, b) / kernel.category_length);
  }

  double covariance(const mixed_point& a, const mixed_point& b) const {
    const double o = ordered_part(a, b), c = categorical_part(a, b);
    return kernel.scale * (o + c + o * c);
  }

  /// Variance of any point before data: both factors are 1.
  double prior_variance() const { return 3 * kernel.scale; }

  /// Covariances of the data with `to`: [points, to].
  matrix cross(std::span<const mixed_point> to) const {
    matrix out(static_cast<Eigen::Index>(points.size()), static_cast<Eigen::Index>(to.size()));
    for (std::size_t j = 0; j < to.size(); ++j)
      for (std::size_t i = 0; i < points.size(); ++i)
        out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
            covariance(points[i], to[j]);
    return out;
  }

  void check(std::span<const mixed_point> list) const {
    const mixed_point* first = points.empty() ? nullptr : &points.front();
    for (const mixed_point& p : list) {
      if (!first) first = &p;
      if (p.ordered.size() != first->ordered.size() ||
          p.categories.size() != first->categories.size())
        throw argument_error("gaussian_process: a point has " + std::to_string(p.ordered.size()) +
                             " ordered coordinates and " + std::to_string(p.categories.size()) +
                             " categories, the first one " + std::to_string(first->ordered.size()) +
                             " and " + std::to_string(first->categories.size()) +
                             " (requirement 2)");
      for (const double x : p.ordered)
        if (!std::isfinite(x))
          throw argument_error("gaussian_process: a coordinate is not finite (requirement 3)");
    }
  }

  void take(std::span<const mixed_point> list, std::span<const double> y) {
    if (list.size() != y.size())
      throw argument_error("gaussian_process: " + std::to_string(list.size()) + " points and " +
                           std::to_string(y.size()) + " values (requirement 1)");
    for (const double v : y)
      if (!std::isfinite(v))
        throw argument_error("gaussian_process: a value is not finite (requirement 3)");
    const std::vector<mixed_point> before = std::exchange(points, {});
    try {
      check(list);
    } catch (...) {
      points = before;
      throw;
    }
    points.assign(list.begin(), list.end());
    values = Eigen::Map<const vector>(y.data(), static_cast<Eigen::Index>(y.size()));
  }

  /// Decomposes the covariance of the data; a jitter that grows until it is positive definite takes
  /// the place of what rounding took.
  void decompose() {
    const auto n = static_cast<Eigen::Index>(points.size());
    ordered.resize(n, n);
    categorical.resize(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j <= i; ++j) {
        const mixed_point &a = points[static_cast<std::size_t>(i)],
                          &b = points[static_cast<std::size_t>(j)];
        ordered(i, j) = ordered(j, i) = ordered_part(a, b);
        categorical(i, j) = categorical(j, i) = categorical_part(a, b);
      }
    const matrix noiseless =
        kernel.scale * (ordered + categorical + ordered.cwiseProduct(categorical));
    for (double jitter = 0;; jitter = jitter == 0 ? 1e-6 : jitter * 10) {
      matrix whole = noiseless;
      whole.diagonal().array() += kernel.noise + jitter * kernel.scale;
      const Eigen::LLT<matrix> factors(whole);
      if (factors.info() != Eigen::Success && jitter < 1) continue;
      lower = factors.matrixL();
      weights = factors.solve(values);
      return;
    }
  }

  // Priors of the logarithms of the parameters: normal, wide, centred where data of standardized
  // values on a unit cube usually lie.
  struct prior {
    double centre, width;
  };
  static constexpr prior length_prior{-0.5, 1.0}, category_prior{0.0, 1.0}, scale_prior{-1.0, 1.0},
      noise_prior{-4.0, 1.5};

  /// Logarithms of the parameters: lengths, category length, scale, noise.
  std::vector<double> logarithms() const {
    std::vector<double> out;
    for (const double l : kernel.lengths) out.push_back(std::log(l));
    out.insert(out.end(),
               {std::log(kernel.category_length), std::log(kernel.scale), std::log(kernel.noise)});
    return out;
  }

  void set_logarithms(const std::vector<double>& p) {
    const std::size_t d = kernel.lengths.size();
    for (std::size_t i = 0; i < d; ++i) kernel.lengths[i] = std::exp(p[i]);
    kernel.category_length = std::exp(p[d]);
    kernel.scale = std::exp(p[d + 1]);
    kernel.noise = std::max(std::exp(p[d + 2]), options.least_noise);
  }

  prior prior_of(std::size_t i) const {
    const std::size_t d = kernel.lengths.size();
    return i < d ? length_prior : i == d ? category_prior : i == d + 1 ? scale_prior : noise_prior;
  }

  double log_likelihood() const {
    double out = -0.5 * values.dot(weights) - lower.diagonal().array().log().sum() -
                 0.5 * static_cast<double>(points.size()) * std::log(2 * 3.14159265358979323846);
    const std::vector<double> p = logarithms();
    for (std::size_t i = 0; i < p.size(); ++i) {
      const prior at = prior_of(i);
      const double z = (p[i] - at.centre) / at.width;
      out -= 0.5 * z * z;
    }
    return out;
  }

  std::vector<double> gradient() const {
    const auto n = static_cast<Eigen::Index>(points.size());
    const std::size_t d = kernel.lengths.size();
    std::vector<double> out(d + 3, 0.0);
    // (w w^T - K^-1) / 2, whose product with a derivative of K has the derivative as its trace
    matrix half = matrix::Identity(n, n);
    lower.triangularView<Eigen::Lower>().solveInPlace(half);
    half = 0.5 * (weights * weights.transpose() - half.transpose() * half);
    const double scale = kernel.scale;
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < i; ++j) {
        const double h = 2 * half(i, j);  // both triangles
        const mixed_point &a = points[static_cast<std::size_t>(i)],
                          &b = points[static_cast<std::size_t>(j)];
        const double o = ordered(i, j), c = categorical(i, j);
        // d matern / d log l = 5/3 (1 + sqrt5 r) exp(-sqrt5 r) * (distance / l)^2
        double square = 0;
        for (std::size_t k = 0; k < d; ++k) {
          const double x = (a.ordered[k] - b.ordered[k]) / kernel.lengths[k];
          square += x * x;
        }
        const double s = std::sqrt(5 * square);
        const double common = h * scale * (1 + c) * 5.0 / 3.0 * (1 + s) * std::exp(-s);
        for (std::size_t k = 0; k < d; ++k) {
          const double x = (a.ordered[k] - b.ordered[k]) / kernel.lengths[k];
          out[k] += common * x * x;
        }
        out[d] += h * scale * (1 + o) * c * differing_share(a, b) / kernel.category_length;
        out[d + 1] += h * scale * (o + c + o * c);
      }
    out[d + 1] += half.trace() * 3 * scale;
    out[d + 2] += half.trace() * kernel.noise;
    const std::vector<double> p = logarithms();
    for (std::size_t i = 0; i < p.size(); ++i) {
      const prior at = prior_of(i);
      out[i] -= (p[i] - at.centre) / (at.width * at.width);
    }
    return out;
  }

  /// Steps of Adam upwards; the best parameters met stay.
  void climb(int steps) {
    std::vector<double> p = logarithms(), first(p.size(), 0.0), second(p.size(), 0.0), best = p;
    decompose();
    double highest = log_likelihood();
    for (int t = 1; t <= steps; ++t) {
      const std::vector<double> g = gradient();
      for (std::size_t i = 0; i < p.size(); ++i) {
        first[i] = 0.9 * first[i] + 0.1 * g[i];
        second[i] = 0.99 * second[i] + 0.01 * g[i] * g[i];
        const double m = first[i] / (1 - std::pow(0.9, t)), v = second[i] / (1 - std::pow(0.99, t));
        p[i] = std::clamp(p[i] + options.rate * m / (std::sqrt(v) + 1e-8), -12.0, 6.0);
      }
      set_logarithms(p);
      decompose();
      const double now = log_likelihood();
      if (now > highest) {
        highest = now;
        best = p;
      }
    }
    set_logarithms(best);
    decompose();
  }
};

struct gaussian_process::pool::state {
  const gaussian_process::state* process;
  std::vector<mixed_point> points;
  Eigen::MatrixXd solved;  // [data and picks, points]: rows of L^-1 K
  Eigen::Index rows = 0;
  std::vector<belief> beliefs;
  std::vector<double> variances;

  void grow() {
    if (rows < solved.rows()) return;
    solved.conservativeResize(solved.rows() + 16, Eigen::NoChange);
  }
  void add_row(std::size_t i, double noise);
};

TILEWRIGHT_INLINE gaussian_process::gaussian_process(gaussian_process_options options)
    : state_(std::make_unique<state>()) {
  state_->options = options;
}
TILEWRIGHT_INLINE gaussian_process::~gaussian_process() = default;
TILEWRIGHT_INLINE gaussian_process::gaussian_process(gaussian_process&&) noexcept = default;
TILEWRIGHT_INLINE gaussian_process& gaussian_process::operator=(gaussian_process&&) noexcept =
    default;

TILEWRIGHT_INLINE void gaussian_process::fit(std::span<const mixed_point> points,
                                             std::span<const double> values) {
  state& s = *state_;
  s.take(points, values);
  if (points.empty()) return;
  const bool known = s.kernel.lengths.size() == points.front().ordered.size() && s.lower.size() > 0;
  if (!known) {
    s.kernel = {};
    s.kernel.lengths.assign(points.front().ordered.size(), 0.6);
    s.kernel.scale = 0.35;
    s.kernel.noise = 0.02;
  }
  s.climb(known ? s.options.steps : s.options.first_steps);
}

TILEWRIGHT_INLINE void gaussian_process::condition(std::span<const mixed_point> points,
                                                   std::span<const double> values,
                                                   mixed_kernel kernel) {
  const std::size_t wanted = points.empty() ? kernel.lengths.size() : points.front().ordered.size();
  if (kernel.lengths.size() != wanted)
    throw argument_error("gaussian_process: " + std::to_string(kernel.lengths.size()) +
                         " lengths for " + std::to_string(wanted) +
                         " ordered coordinates (requirement 4)");
  bool positive = kernel.category_length > 0 && kernel.scale > 0 && kernel.noise > 0;
  for (const double l : kernel.lengths) positive = positive && l > 0;
  if (!positive)
    throw argument_error("gaussian_process: a parameter is not positive (requirement 5)");
  state_->take(points, values);
  state_->kernel = std::move(kernel);
  if (!points.empty()) state_->decompose();
}

TILEWRIGHT_INLINE std::vector<belief> gaussian_process::predict(
    std::span<const mixed_point> points) const {
  return over(points).beliefs();
}

TILEWRIGHT_INLINE double gaussian_process::covariance(const mixed_point& a,
                                                      const mixed_point& b) const {
  return state_->covariance(a, b);
}

TILEWRIGHT_INLINE double gaussian_process::log_likelihood() const {
  return state_->points.empty() ? 0 : state_->log_likelihood();
}

TILEWRIGHT_INLINE std::vector<double> gaussian_process::gradient() const {
  return state_->points.empty() ? std::vector<double>{} : state_->gradient();
}

TILEWRIGHT_INLINE const mixed_kernel& gaussian_process::kernel() const noexcept {
  return state_->kernel;
}
TILEWRIGHT_INLINE std::size_t gaussian_process::size() const noexcept {
  return state_->points.size();
}

TILEWRIGHT_INLINE gaussian_process::pool::pool(std::unique_ptr<state> s) : state_(std::move(s)) {}
TILEWRIGHT_INLINE gaussian_process::pool::~pool() = default;
TILEWRIGHT_INLINE gaussian_process::pool::pool(pool&&) noexcept = default;
TILEWRIGHT_INLINE gaussian_process::pool& gaussian_process::pool::operator=(pool&&) noexcept =
    default;

TILEWRIGHT_INLINE gaussian_process::pool gaussian_process::over(
    std::span<const mixed_point> points) const {
  state_->check(points);
  auto s = std::make_unique<pool::state>();
  s->process = state_.get();
  s->points.assign(points.begin(), points.end());
  const std::size_t count = points.size();
  s->beliefs.resize(count);
  s->variances.assign(count, state_->prior_variance());
  s->rows = static_cast<Eigen::Index>(state_->points.size());
  s->solved.resize(s->rows + 16, static_cast<Eigen::Index>(count));
  if (s->rows > 0) {
    Eigen::MatrixXd k = state_->cross(points);
    const Eigen::VectorXd means = k.transpose() * state_->weights;
    state_->lower.triangularView<Eigen::Lower>().solveInPlace(k);
    s->solved.topRows(s->rows) = k;
    for (std::size_t i = 0; i < count; ++i) {
      s->beliefs[i].mean = means(static_cast<Eigen::Index>(i));
      s->variances[i] -= k.col(static_cast<Eigen::Index>(i)).squaredNorm();
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    s->beliefs[i].deviation = std::sqrt(std::max(s->variances[i], 0.0));
  return pool(std::move(s));
}

TILEWRIGHT_INLINE const std::vector<belief>& gaussian_process::pool::beliefs() const noexcept {
  return state_->beliefs;
}

/// Knowing the value at point i, with noise, adds a row to L^-1 K: what of the covariance with i the
/// rows so far do not explain, over the deviation of what is known.
TILEWRIGHT_INLINE void gaussian_process::pool::state::add_row(std::size_t i, double noise) {
  grow();
  const auto at = static_cast<Eigen::Index>(i);
  const Eigen::VectorXd own = solved.col(at).head(rows);
  const double deviation = std::sqrt(std::max(variances[i], 0.0) + noise);
  const Eigen::VectorXd explained = solved.topRows(rows).transpose() * own;
  for (std::size_t j = 0; j < points.size(); ++j) {
    const auto column = static_cast<Eigen::Index>(j);
    const double covariance = process->covariance(points[i], points[j]);
    const double row = (covariance - explained(column)) / deviation;
    solved(rows, column) = row;
    variances[j] -= row * row;
    beliefs[j].deviation = std::sqrt(std::max(variances[j], 0.0));
  }
  ++rows;
}

TILEWRIGHT_INLINE void gaussian_process::pool::pretend(std::size_t i, double value) {
  state& s = *state_;
  const double noise = s.process->kernel.noise;
  const double surprise =
      (value - s.beliefs[i].mean) / std::sqrt(std::max(s.variances[i], 0.0) + noise);
  s.add_row(i, noise);
  for (std::size_t j = 0; j < s.points.size(); ++j)
    s.beliefs[j].mean += s.solved(s.rows - 1, static_cast<Eigen::Index>(j)) * surprise;
}

TILEWRIGHT_INLINE std::vector<double> gaussian_process::pool::settle(std::size_t i) {
  state& s = *state_;
  // what rounding leaves of a variance that was taken away would make rows of any size
  const double least = 1e-9 * s.process->prior_variance();
  std::vector<double> out(s.points.size(), 0.0);
  if (!(s.variances[i] > least)) return out;
  s.add_row(i, 0);
  for (std::size_t j = 0; j < out.size(); ++j)
    out[j] = s.solved(s.rows - 1, static_cast<Eigen::Index>(j));
  return out;
}

}  // namespace tilewright::cost
