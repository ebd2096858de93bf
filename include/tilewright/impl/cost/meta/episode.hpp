// Episodes: what meta-learning adapts to, and what judges it.
#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/cost/meta_learning.hpp>
#include <tilewright/impl/cost/network/dense_head.hpp>
#include <tilewright/impl/cost/network/score_loss.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost::detail {

/// Programs of one workload: their embeddings, and the best time over the own one.
struct embedded_programs {
  layer_matrix x;  // [programs, embedding_width]
  std::vector<double> labels;
};

struct episode {
  std::vector<embedded_programs> support, query;  // [ways]
};

/// Mean loss of dense layers over several workloads, and its derivatives by their weights.
struct head_slope {
  double loss = 0;
  layer_vector by_weight;

  head_slope(const layer_vector& head, const std::vector<embedded_programs>& all, objective goal)
      : by_weight(layer_vector::Zero(head.size())) {
    const double share = 1 / static_cast<double>(all.size());
    for (const embedded_programs& p : all) {
      const head_pass pass(head.data(), p.x);
      const score_loss l(pass.scores(), p.labels, goal);
      loss += share * l.value;
      pass.backward(share * l.by_score, by_weight.data());
    }
  }
};

/// The product of the Hessian of that loss with `v`.
inline layer_vector head_curvature(const layer_vector& head,
                                   const std::vector<embedded_programs>& all, objective goal,
                                   const layer_vector& v) {
  layer_vector out = layer_vector::Zero(head.size());
  const double share = 1 / static_cast<double>(all.size());
  for (const embedded_programs& p : all) {
    const head_pass pass(head.data(), p.x);
    const score_loss l(pass.scores(), p.labels, goal);
    out += share * pass.curved(v, l.by_score, score_loss::curvature(pass.scores(), p.labels, goal));
  }
  return out;
}

/// The weights after each step of adapting to `support`, those before the first one at the front.
inline std::vector<layer_vector> adapted(const layer_vector& head,
                                         const std::vector<embedded_programs>& support,
                                         const meta_options& o) {
  std::vector<layer_vector> out{head};
  for (int step = 0; step < o.inner_steps; ++step)
    out.push_back(out.back() - o.inner_rate * head_slope(out.back(), support, o.goal).by_weight);
  return out;
}

/// What an outer step learns from an episode.
struct meta_slope {
  double loss = 0;  // of the adapted weights on what judges them
  layer_vector by_weight;
};

inline episode drawn_episode(const std::vector<embedded_programs>& all, const meta_options& o,
                             support::random& draws) {
  episode out;
  std::vector<std::size_t> workloads(all.size());
  for (std::size_t i = 0; i < workloads.size(); ++i) workloads[i] = i;
  const std::size_t ways = std::min(std::max<std::size_t>(o.ways, 1), all.size());
  for (std::size_t w = 0; w < ways; ++w) {
    std::swap(workloads[w], workloads[w + draws.below(workloads.size() - w)]);
    const embedded_programs& from = all[workloads[w]];
    std::vector<std::size_t> order(from.labels.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[draws.below(i + 1)]);
    const auto taken = [&](std::size_t first, std::size_t count) {
      embedded_programs part;
      count = std::min(count, order.size() - first);
      part.x.resize(static_cast<Eigen::Index>(count), from.x.cols());
      for (std::size_t i = 0; i < count; ++i) {
        part.x.row(static_cast<Eigen::Index>(i)) =
            from.x.row(static_cast<Eigen::Index>(order[first + i]));
        part.labels.push_back(from.labels[order[first + i]]);
      }
      return part;
    };
    out.support.push_back(taken(0, o.shots));
    out.query.push_back(taken(o.shots, o.queries));
  }
  return out;
}

}  // namespace tilewright::cost::detail
