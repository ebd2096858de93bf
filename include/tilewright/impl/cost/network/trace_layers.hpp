// The layers of the network over traces: forward and backward by hand.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/cost/trace_token.hpp>
#include <tilewright/impl/cost/network/adam.hpp>
#include <tilewright/impl/cost/network/relu_layer.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost::detail {

/// Tokens of one program without weights.
struct prepared_trace {
  std::vector<std::uint8_t> kinds, words;  // [tokens]
  layer_matrix numbers;                    // [tokens, token_columns], standardized
};

/// The numbers of a token, and its place: from the start, and as a share of the trace.
inline constexpr Eigen::Index token_columns = static_cast<Eigen::Index>(token_width) + 2;

/// Where the weights of each layer lie in one vector.
struct trace_layout {
  static constexpr Eigen::Index width = 32;
  enum name { kinds, words, numbers, start, query, key, value, w2, b2, r1, c1, v, d, parts };
  struct part {
    Eigen::Index at, rows, columns;
  };
  std::array<part, parts> of{};
  Eigen::Index total = 0;

  trace_layout() {
    for (int i = 0; i < parts; ++i) {
      const auto n = static_cast<name>(i);
      of[n] = {total, rows(n), n == v || n == d ? Eigen::Index{1} : width};
      total += of[n].rows * of[n].columns;
    }
  }
  static Eigen::Index rows(name n) {
    switch (n) {
      case kinds: return static_cast<Eigen::Index>(token_kinds);
      case words: return static_cast<Eigen::Index>(token_words);
      case numbers: return token_columns;
      case start:
      case b2:
      case c1:
      case d: return 1;
      default: return width;
    }
  }
  Eigen::Map<const layer_matrix> get(const layer_vector& w, name n) const {
    return {w.data() + of[n].at, of[n].rows, of[n].columns};
  }
  Eigen::Map<layer_matrix> get(layer_vector& w, name n) const {
    return {w.data() + of[n].at, of[n].rows, of[n].columns};
  }
  static const trace_layout& shared() {
    static const trace_layout out;
    return out;
  }
};

inline layer_vector random_trace_weights(std::uint64_t seed) {
  using layout = trace_layout;
  const layout& l = layout::shared();
  layer_vector out = layer_vector::Zero(l.total);
  support::random draws(seed);
  for (const auto n : {layout::kinds, layout::words, layout::numbers, layout::query, layout::key,
                       layout::value, layout::w2, layout::r1, layout::v}) {
    const layout::part& p = l.of[n];
    // one row of a table counts, of a matrix all; what is added to something else starts small
    const bool table = n == layout::kinds || n == layout::words,
               added = n == layout::value || n == layout::r1;
    const double size =
        table ? 0.5 : (added ? 0.5 : 1) * std::sqrt(3.0 / static_cast<double>(p.rows));
    for (Eigen::Index i = 0; i < p.rows * p.columns; ++i)
      out[p.at + i] = (2 * draws.unit() - 1) * size;
  }
  return out;
}

/// The layers behind the sum over the tokens of a trace: a residual one and the score.
class trace_head {
 public:
  /// @param w the weights from r1 on; `s` are the sums, a row for each program; both outlive it
  trace_head(const double* w, const layer_matrix& s) : w_(w), s_(&s) {
    p1_ = before_relu(s, get(trace_layout::r1), get(trace_layout::c1));
    s1_ = s + p1_.cwiseMax(0.0);
    scores_ = s1_ * get(trace_layout::v);
    scores_.array() += get(trace_layout::d)(0, 0);
  }

  const layer_vector& scores() const { return scores_; }

  /// Adds the derivatives by the weights to `out`, which has a place for each of them.
  /// @returns those by the sums
  layer_matrix backward(const layer_vector& by_score, double* out) const {
    at(out, trace_layout::v) += s1_.transpose() * by_score;
    at(out, trace_layout::d)(0, 0) += by_score.sum();
    layer_matrix by = by_score * get(trace_layout::v).transpose();
    by += back_through_relu(p1_, *s_, by, get(trace_layout::r1), at(out, trace_layout::r1),
                            at(out, trace_layout::c1));
    return by;
  }

 private:
  static Eigen::Index place(trace_layout::name n) {
    const trace_layout& l = trace_layout::shared();
    return l.of[n].at - l.of[trace_layout::r1].at;
  }
  Eigen::Map<const layer_matrix> get(trace_layout::name n) const {
    const trace_layout::part& p = trace_layout::shared().of[n];
    return {w_ + place(n), p.rows, p.columns};
  }
  static Eigen::Map<layer_matrix> at(double* w, trace_layout::name n) {
    const trace_layout::part& p = trace_layout::shared().of[n];
    return {w + place(n), p.rows, p.columns};
  }

  const double* w_;
  const layer_matrix* s_;
  layer_matrix p1_, s1_;
  layer_vector scores_;
};

/// Programs under the network, with what the way back needs:
///
///   x = relu(kind + word + numbers W + start)          a row for each token
///   h = x + softmax(x Q (x K)^T / sqrt(width)) x V     what a token is beside the others
///   s = sum of relu(h W2 + b2), over sqrt(tokens)      of the whole trace
///   score = (s + relu(s R1 + c1)) v + d
class trace_pass {
 public:
  using input = prepared_trace;
  using last_layers = trace_head;
  /// Where the weights of the last layers begin.
  static Eigen::Index last() { return trace_layout::shared().of[trace_layout::r1].at; }

  trace_pass(const layer_vector& w, const std::vector<const input*>& programs)
      : w_(w), programs_(programs), kept_(programs.size()) {
    const auto n = static_cast<Eigen::Index>(programs.size());
    s_.setZero(n, trace_layout::width);
    for (std::size_t i = 0; i < programs.size(); ++i) attend(i);
    head_.emplace(w_.data() + last(), s_);
  }
  trace_pass(const trace_pass&) = delete;
  trace_pass& operator=(const trace_pass&) = delete;

  const layer_vector& scores() const { return head_->scores(); }
  /// The sums over the tokens of each program, which the last layers look at.
  const layer_matrix& embeddings() const { return s_; }

  /// Derivatives by the weights, given those by the scores; without `whole`, by those behind the sum.
  layer_vector backward(const layer_vector& by_score, bool whole) const {
    const trace_layout& l = trace_layout::shared();
    layer_vector out = layer_vector::Zero(l.total);
    const layer_matrix by = head_->backward(by_score, out.data() + last());
    if (!whole) return out;
    for (std::size_t i = 0; i < programs_.size(); ++i)
      back(i, by.row(static_cast<Eigen::Index>(i)), out);
    return out;
  }

 private:
  /// What a program keeps for the way back.
  struct trail {
    layer_matrix e, x, q, k, v, a, h, p2;  // e and p2 before relu; a: [tokens, tokens]
  };

  Eigen::Map<const layer_matrix> get(trace_layout::name n) const {
    return trace_layout::shared().get(w_, n);
  }

  void attend(std::size_t i) {
    const prepared_trace& p = *programs_[i];
    const Eigen::Index n = p.numbers.rows();
    if (n == 0) return;
    trail& t = kept_[i];
    t.e = before_relu(p.numbers, get(trace_layout::numbers), get(trace_layout::start));
    for (Eigen::Index r = 0; r < n; ++r)
      t.e.row(r) += get(trace_layout::kinds).row(p.kinds[static_cast<std::size_t>(r)]) +
                    get(trace_layout::words).row(p.words[static_cast<std::size_t>(r)]);
    t.x = t.e.cwiseMax(0.0);
    t.q = t.x * get(trace_layout::query);
    t.k = t.x * get(trace_layout::key);
    t.v = t.x * get(trace_layout::value);
    t.a = t.q * t.k.transpose() * scale;
    for (Eigen::Index r = 0; r < n; ++r) {
      const double most = t.a.row(r).maxCoeff();
      t.a.row(r) = (t.a.row(r).array() - most).exp();
      t.a.row(r) /= t.a.row(r).sum();
    }
    t.h = t.x + t.a * t.v;
    t.p2 = before_relu(t.h, get(trace_layout::w2), get(trace_layout::b2));
    s_.row(static_cast<Eigen::Index>(i)) =
        t.p2.cwiseMax(0.0).colwise().sum() / std::sqrt(static_cast<double>(n));
  }

  void back(std::size_t i, const Eigen::RowVectorXd& by_sum, layer_vector& out) const {
    const trace_layout& l = trace_layout::shared();
    const prepared_trace& p = *programs_[i];
    const Eigen::Index n = p.numbers.rows();
    if (n == 0) return;
    const trail& t = kept_[i];
    const Eigen::RowVectorXd each = by_sum / std::sqrt(static_cast<double>(n));
    const layer_matrix by_h =
        back_through_relu(t.p2, t.h, each.replicate(n, 1), get(trace_layout::w2),
                          l.get(out, trace_layout::w2), l.get(out, trace_layout::b2));
    const layer_matrix by_v = t.a.transpose() * by_h, by_a = by_h * t.v.transpose();
    // softmax: each row of a, minus what all of its row lose together
    const layer_vector together = by_a.cwiseProduct(t.a).rowwise().sum();
    const layer_matrix by_logit = scale * t.a.cwiseProduct(by_a.colwise() - together);
    const layer_matrix by_q = by_logit * t.k, by_k = by_logit.transpose() * t.q;
    l.get(out, trace_layout::query) += t.x.transpose() * by_q;
    l.get(out, trace_layout::key) += t.x.transpose() * by_k;
    l.get(out, trace_layout::value) += t.x.transpose() * by_v;
    layer_matrix by_e = by_h + by_q * get(trace_layout::query).transpose() +
                        by_k * get(trace_layout::key).transpose() +
                        by_v * get(trace_layout::value).transpose();
    by_e = (t.e.array() > 0).select(by_e, 0.0).eval();
    l.get(out, trace_layout::numbers) += p.numbers.transpose() * by_e;
    l.get(out, trace_layout::start) += by_e.colwise().sum();
    for (Eigen::Index r = 0; r < n; ++r) {
      l.get(out, trace_layout::kinds).row(p.kinds[static_cast<std::size_t>(r)]) += by_e.row(r);
      l.get(out, trace_layout::words).row(p.words[static_cast<std::size_t>(r)]) += by_e.row(r);
    }
  }

  static constexpr double scale = 0.17677669529663687;  // 1 / sqrt(width)

  const layer_vector& w_;
  std::vector<const input*> programs_;
  std::vector<trail> kept_;
  layer_matrix s_;
  std::optional<trace_head> head_;
};

}  // namespace tilewright::cost::detail
