#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <tilewright/cost/meta_learning.hpp>
#include <tilewright/impl/cost/meta/fomaml.hpp>
#include <tilewright/impl/cost/meta/maml.hpp>
#include <tilewright/impl/cost/meta/reptile.hpp>

namespace tilewright::cost {
namespace detail {

struct meta_kind {
  std::string_view name;
  meta_slope (*slope)(const layer_vector& head, const episode& e, const meta_options& o);
};

/// In the order of `meta_method`.
inline constexpr std::array<meta_kind, 3> meta_kinds{
    {{"fomaml", fomaml_slope}, {"maml", maml_slope}, {"reptile", reptile_slope}}};

/// The workloads that have programs enough for an episode.
inline std::vector<embedded_programs> embedded_workloads(graph_model& model,
                                                         std::span<const sample> measured,
                                                         std::size_t least) {
  std::map<support::hash128, std::vector<sample>> by_workload;
  for (const sample& s : measured)
    if (std::isfinite(s.seconds) && s.seconds > 0) by_workload[s.workload].push_back(s);
  std::vector<embedded_programs> out;
  for (const auto& [key, list] : by_workload) {
    if (list.size() < least) continue;
    const std::vector<double> x = model.embeddings(list);
    embedded_programs p;
    p.x = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        x.data(), static_cast<Eigen::Index>(list.size()),
        static_cast<Eigen::Index>(embedding_width));
    double best = std::numeric_limits<double>::infinity();
    for (const sample& s : list) best = std::min(best, s.seconds);
    for (const sample& s : list) p.labels.push_back(best / s.seconds);
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string_view name(meta_method m) {
  return detail::meta_kinds[static_cast<std::size_t>(m)].name;
}

TILEWRIGHT_INLINE std::vector<double> meta_train(graph_model& model,
                                                 std::span<const sample> measured,
                                                 const meta_options& o) {
  const std::vector<detail::embedded_programs> all =
      detail::embedded_workloads(model, measured, o.shots + 2);
  std::vector<double> losses;
  if (all.empty()) return losses;
  const std::vector<double> first = model.head();
  detail::layer_vector head =
      Eigen::Map<const detail::layer_vector>(first.data(), static_cast<Eigen::Index>(first.size()));
  detail::layer_vector best = head;
  detail::adam steps(head.size(), o.outer_rate, 0, 10);
  support::random draws(o.seed);
  double mean = 0, least = std::numeric_limits<double>::infinity();
  int since = 0;
  for (int i = 0; i < o.iterations && since < o.patience; ++i) {
    double loss = 0;
    detail::layer_vector slope = detail::layer_vector::Zero(head.size());
    const double share = 1 / static_cast<double>(std::max<std::size_t>(o.tasks, 1));
    for (std::size_t t = 0; t < std::max<std::size_t>(o.tasks, 1); ++t) {
      const detail::episode e = detail::drawn_episode(all, o, draws);
      const detail::meta_slope one =
          detail::meta_kinds[static_cast<std::size_t>(o.method)].slope(head, e, o);
      loss += share * one.loss;
      slope += share * one.by_weight;
    }
    constexpr double memory = 0.98;  // of the mean loss, in steps
    mean = i == 0 ? loss : memory * mean + (1 - memory) * loss;
    losses.push_back(mean);
    ++since;
    if (mean < least) {
      least = mean;
      best = head;
      since = 0;
    }
    steps.step(head, std::move(slope));
  }
  model.set_head({best.data(), static_cast<std::size_t>(best.size())});
  return losses;
}

}  // namespace tilewright::cost
