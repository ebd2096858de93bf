#pragma once

#include <algorithm>

#include <tilewright/cost/draft.hpp>
#include <tilewright/impl/cost/model_list.hpp>

namespace tilewright::cost {

TILEWRIGHT_INLINE draft_model::draft_model(std::shared_ptr<model> cheap,
                                           std::shared_ptr<model> exact, std::size_t keep,
                                           std::size_t least)
    : cheap_(std::move(cheap)), exact_(std::move(exact)), keep_(keep), least_(least) {
  detail::check_members({cheap_, exact_}, "draft");
  if (keep_ == 0) throw argument_error("draft: it keeps one program in 0 (requirement 2)");
}

TILEWRIGHT_INLINE std::vector<double> draft_model::predict(std::span<const sample> programs) {
  std::vector<double> out = cheap_->predict(programs);
  std::vector<std::size_t> order(programs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // what stays of equal scores does not depend on the order of the programs
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return out[a] != out[b] ? out[a] > out[b] : programs[a].key < programs[b].key;
  });
  const std::size_t kept =
      std::min(order.size(), std::max(least_, (order.size() + keep_ - 1) / keep_));
  std::vector<sample> few;
  for (std::size_t i = 0; i < kept; ++i) few.push_back(programs[order[i]]);
  const std::vector<double> scores = exact_->predict(few);
  const double least = scores.empty() ? 0 : *std::min_element(scores.begin(), scores.end());
  const double most = kept < order.size() ? out[order[kept]] : 0;
  for (std::size_t i = kept; i < order.size(); ++i) out[order[i]] += least - 1 - most;
  for (std::size_t i = 0; i < kept; ++i) out[order[i]] = scores[i];
  return out;
}

TILEWRIGHT_INLINE void draft_model::update(std::span<const sample> measured) {
  cheap_->update(measured);
  exact_->update(measured);
}

TILEWRIGHT_INLINE std::string draft_model::save() const {
  return "draft 1\n" + detail::saved_members({cheap_, exact_});
}

TILEWRIGHT_INLINE void draft_model::load(std::string_view text) {
  constexpr std::string_view start = "draft 1\n";
  if (text.substr(0, start.size()) != start)
    throw argument_error("draft: this is no saved draft model");
  detail::load_members({cheap_, exact_}, text.substr(start.size()), "draft");
}

TILEWRIGHT_INLINE bool draft_model::reads_traces() const {
  return detail::any_reads_traces({cheap_, exact_});
}

}  // namespace tilewright::cost
