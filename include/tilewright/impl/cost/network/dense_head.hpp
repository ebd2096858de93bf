// The dense layers of the graph network: forward, backward, and products with their Hessian.
#pragma once

#include <utility>

#include <tilewright/impl/cost/network/graph_weights.hpp>

namespace tilewright::cost::detail {

/// Scores of programs whose embeddings are the rows of a matrix.
class head_pass {
 public:
  /// @param w the weights of the head alone; both outlive the pass
  head_pass(const double* w, const layer_matrix& x) : w_(w), x_(&x) {
    a1_ = (x * get(weight_layout::d1)).rowwise() + get(weight_layout::e1).row(0);
    h1_ = a1_.cwiseMax(0.0);
    a2_ = (h1_ * get(weight_layout::d2)).rowwise() + get(weight_layout::e2).row(0);
    h2_ = a2_.cwiseMax(0.0);
    scores_ = h2_ * get(weight_layout::d3);
    scores_.array() += get(weight_layout::e3)(0, 0);
  }

  static Eigen::Index size() { return layout().total - layout().head(); }
  const layer_vector& scores() const { return scores_; }

  /// Adds the derivatives by the weights to `out`, which has a place for each of them.
  /// @returns those by the embeddings
  layer_matrix backward(const layer_vector& by_score, double* out) const {
    const slopes g = slopes_of(by_score);
    at(out, weight_layout::d3) += h2_.transpose() * by_score;
    at(out, weight_layout::e3)(0, 0) += by_score.sum();
    at(out, weight_layout::d2) += h1_.transpose() * g.two;
    at(out, weight_layout::e2) += g.two.colwise().sum();
    at(out, weight_layout::d1) += x_->transpose() * g.one;
    at(out, weight_layout::e1) += g.one.colwise().sum();
    return g.one * get(weight_layout::d1).transpose();
  }

  /// The product of the Hessian of a loss by the weights with `v`: the backward pass, derived in the
  /// direction v (Pearlmutter, 1994). Where a unit switches there is none; it counts as switched as
  /// it is.
  /// @param by_score derivatives of the loss by the scores, `curvature` their derivatives
  layer_vector curved(const layer_vector& v, const layer_vector& by_score,
                      const layer_matrix& curvature) const {
    const double* d = v.data();
    const layer_matrix rh1 =
        on(a1_, (*x_ * of(d, weight_layout::d1)).rowwise() + of(d, weight_layout::e1).row(0));
    const layer_matrix rh2 =
        on(a2_, (rh1 * get(weight_layout::d2) + h1_ * of(d, weight_layout::d2)).rowwise() +
                    of(d, weight_layout::e2).row(0));
    layer_vector rs = rh2 * get(weight_layout::d3) + h2_ * of(d, weight_layout::d3);
    rs.array() += of(d, weight_layout::e3)(0, 0);
    const layer_vector rg = curvature * rs;
    const slopes g = slopes_of(by_score);
    const layer_matrix r2 = on(a2_, rg * get(weight_layout::d3).transpose() +
                                        by_score * of(d, weight_layout::d3).transpose());
    const layer_matrix r1 = on(a1_, r2 * get(weight_layout::d2).transpose() +
                                        g.two * of(d, weight_layout::d2).transpose());
    layer_vector out = layer_vector::Zero(size());
    at(out.data(), weight_layout::d3) = rh2.transpose() * by_score + h2_.transpose() * rg;
    at(out.data(), weight_layout::e3)(0, 0) = rg.sum();
    at(out.data(), weight_layout::d2) = rh1.transpose() * g.two + h1_.transpose() * r2;
    at(out.data(), weight_layout::e2) = r2.colwise().sum();
    at(out.data(), weight_layout::d1) = x_->transpose() * r1;
    at(out.data(), weight_layout::e1) = r1.colwise().sum();
    return out;
  }

 private:
  /// Derivatives by what enters the units of the two layers.
  struct slopes {
    layer_matrix one, two;
  };
  slopes slopes_of(const layer_vector& by_score) const {
    slopes out;
    out.two = on(a2_, by_score * get(weight_layout::d3).transpose());
    out.one = on(a1_, out.two * get(weight_layout::d2).transpose());
    return out;
  }

  /// What passes units that are on.
  static layer_matrix on(const layer_matrix& before, const layer_matrix& what) {
    return (before.array() > 0).select(what, 0.0);
  }

  Eigen::Map<const layer_matrix> get(weight_layout::name n) const { return of(w_, n); }
  static Eigen::Map<const layer_matrix> of(const double* w, weight_layout::name n) {
    const weight_layout& l = layout();
    return {w + l.of[n].at - l.head(), l.of[n].rows, l.of[n].columns};
  }
  static Eigen::Map<layer_matrix> at(double* w, weight_layout::name n) {
    const weight_layout& l = layout();
    return {w + l.of[n].at - l.head(), l.of[n].rows, l.of[n].columns};
  }

  const double* w_;
  const layer_matrix* x_;
  layer_matrix a1_, h1_, a2_, h2_;
  layer_vector scores_;
};

}  // namespace tilewright::cost::detail
