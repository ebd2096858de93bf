// The layers of the perceptron over stores: forward over many programs at once, and backward by
// hand.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/cost/features.hpp>
#include <tilewright/impl/cost/network/adam.hpp>
#include <tilewright/impl/cost/network/relu_layer.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost::detail {

/// Where the weights of each layer lie in one vector.
struct mlp_layout {
  static constexpr Eigen::Index width = 64;
  enum name { w1, b1, w2, b2, r1, c1, r2, c2, v, d, parts };
  struct part {
    Eigen::Index at, rows, columns;
  };
  std::array<part, parts> of{};
  Eigen::Index total = 0;

  mlp_layout() {
    const auto columns = [](name n) { return n == v || n == d ? Eigen::Index{1} : width; };
    for (const name n : {w1, b1, w2, b2, r1, c1, r2, c2, v, d}) {
      const bool bias = n == b1 || n == b2 || n == c1 || n == c2 || n == d;
      const Eigen::Index rows = bias      ? 1
                                : n == w1 ? static_cast<Eigen::Index>(feature_count)
                                          : width;
      of[n] = {total, rows, columns(n)};
      total += rows * columns(n);
    }
  }
  Eigen::Map<const layer_matrix> get(const layer_vector& w, name n) const {
    return {w.data() + of[n].at, of[n].rows, of[n].columns};
  }
  Eigen::Map<layer_matrix> get(layer_vector& w, name n) const {
    return {w.data() + of[n].at, of[n].rows, of[n].columns};
  }
  static const mlp_layout& shared() {
    static const mlp_layout out;
    return out;
  }
};

inline layer_vector random_mlp(std::uint64_t seed) {
  const mlp_layout& l = mlp_layout::shared();
  layer_vector out = layer_vector::Zero(l.total);
  support::random draws(seed);
  for (const auto n :
       {mlp_layout::w1, mlp_layout::w2, mlp_layout::r1, mlp_layout::r2, mlp_layout::v}) {
    const mlp_layout::part& p = l.of[n];
    // residual layers start small, so that the sum passes
    const bool residual = n == mlp_layout::r1 || n == mlp_layout::r2;
    const double size = (residual ? 0.5 : 1) * std::sqrt(3.0 / static_cast<double>(p.rows));
    for (Eigen::Index i = 0; i < p.rows * p.columns; ++i)
      out[p.at + i] = (2 * draws.unit() - 1) * size;
  }
  return out;
}

/// The layers behind the sum over the stores of a program: two residual ones and the score.
class mlp_head {
 public:
  /// @param w the weights from r1 on; `s` are the sums, a row for each program; both outlive it
  mlp_head(const double* w, const layer_matrix& s) : w_(w), s0_(&s) {
    p1_ = before_relu(s, get(mlp_layout::r1), get(mlp_layout::c1));
    s1_ = s + p1_.cwiseMax(0.0);
    p2_ = before_relu(s1_, get(mlp_layout::r2), get(mlp_layout::c2));
    s2_ = s1_ + p2_.cwiseMax(0.0);
    scores_ = s2_ * get(mlp_layout::v);
    scores_.array() += get(mlp_layout::d)(0, 0);
  }

  const layer_vector& scores() const { return scores_; }

  /// Adds the derivatives by the weights to `out`, which has a place for each of them.
  /// @returns those by the sums
  layer_matrix backward(const layer_vector& by_score, double* out) const {
    at(out, mlp_layout::v) += s2_.transpose() * by_score;
    at(out, mlp_layout::d)(0, 0) += by_score.sum();
    layer_matrix by = by_score * get(mlp_layout::v).transpose();
    by += back(p2_, s1_, by, mlp_layout::r2, mlp_layout::c2, out);
    by += back(p1_, *s0_, by, mlp_layout::r1, mlp_layout::c1, out);
    return by;
  }

 private:
  layer_matrix back(const layer_matrix& before, const layer_matrix& from, const layer_matrix& by,
                    mlp_layout::name w, mlp_layout::name b, double* out) const {
    return back_through_relu(before, from, by, get(w), at(out, w), at(out, b));
  }
  static Eigen::Index place(mlp_layout::name n) {
    const mlp_layout& l = mlp_layout::shared();
    return l.of[n].at - l.of[mlp_layout::r1].at;
  }
  Eigen::Map<const layer_matrix> get(mlp_layout::name n) const {
    const mlp_layout::part& p = mlp_layout::shared().of[n];
    return {w_ + place(n), p.rows, p.columns};
  }
  static Eigen::Map<layer_matrix> at(double* w, mlp_layout::name n) {
    const mlp_layout::part& p = mlp_layout::shared().of[n];
    return {w + place(n), p.rows, p.columns};
  }

  const double* w_;
  const layer_matrix* s0_;
  layer_matrix p1_, s1_, p2_, s2_;
  layer_vector scores_;
};

class mlp_pass {
 public:
  using input = layer_matrix;  // [stores, feature_count], standardized
  using last_layers = mlp_head;
  /// Where the weights of the last layers begin.
  static Eigen::Index last() { return mlp_layout::shared().of[mlp_layout::r1].at; }

  mlp_pass(const layer_vector& w, const std::vector<const input*>& programs)
      : w_(w), programs_(programs) {
    Eigen::Index rows = 0;
    for (const input* p : programs_) rows += p->rows();
    x_.resize(rows, static_cast<Eigen::Index>(feature_count));
    rows = 0;
    for (const input* p : programs_) {
      x_.middleRows(rows, p->rows()) = *p;
      rows += p->rows();
    }
    a1_ = dense(x_, mlp_layout::w1, mlp_layout::b1);
    a2_ = dense(a1_.cwiseMax(0.0), mlp_layout::w2, mlp_layout::b2);
    s0_.setZero(static_cast<Eigen::Index>(programs_.size()), mlp_layout::width);
    rows = 0;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const Eigen::Index n = programs_[i]->rows();
      if (n > 0)
        s0_.row(static_cast<Eigen::Index>(i)) =
            a2_.middleRows(rows, n).cwiseMax(0.0).colwise().sum();
      rows += n;
    }
    head_.emplace(w_.data() + last(), s0_);
  }
  mlp_pass(const mlp_pass&) = delete;
  mlp_pass& operator=(const mlp_pass&) = delete;

  const layer_vector& scores() const { return head_->scores(); }
  /// The sums over the stores of each program, which the last layers look at.
  const layer_matrix& embeddings() const { return s0_; }

  layer_vector backward(const layer_vector& by_score, bool whole) const {
    const mlp_layout& l = mlp_layout::shared();
    layer_vector out = layer_vector::Zero(l.total);
    const layer_matrix by = head_->backward(by_score, out.data() + last());
    if (!whole) return out;
    layer_matrix by_rows(x_.rows(), mlp_layout::width);
    Eigen::Index rows = 0;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const Eigen::Index n = programs_[i]->rows();
      by_rows.middleRows(rows, n).rowwise() = by.row(static_cast<Eigen::Index>(i));
      rows += n;
    }
    const layer_matrix by_h1 =
        back(a2_, a1_.cwiseMax(0.0), by_rows, mlp_layout::w2, mlp_layout::b2, out);
    back(a1_, x_, by_h1, mlp_layout::w1, mlp_layout::b1, out);
    return out;
  }

 private:
  Eigen::Map<const layer_matrix> get(mlp_layout::name n) const {
    return mlp_layout::shared().get(w_, n);
  }
  layer_matrix dense(const layer_matrix& x, mlp_layout::name w, mlp_layout::name b) const {
    return before_relu(x, get(w), get(b));
  }

  /// Through relu(from * w + b), whose units had `before`; the slopes of w and b are added to `out`.
  layer_matrix back(const layer_matrix& before, const layer_matrix& from, const layer_matrix& by,
                    mlp_layout::name w, mlp_layout::name b, layer_vector& out) const {
    const mlp_layout& l = mlp_layout::shared();
    return back_through_relu(before, from, by, get(w), l.get(out, w), l.get(out, b));
  }

  const layer_vector& w_;
  std::vector<const input*> programs_;
  layer_matrix x_, a1_, a2_, s0_;
  std::optional<mlp_head> head_;
};

}  // namespace tilewright::cost::detail
