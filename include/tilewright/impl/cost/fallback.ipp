#pragma once

#include <tilewright/cost/fallback.hpp>
#include <tilewright/impl/cost/model_list.hpp>

namespace tilewright::cost {

TILEWRIGHT_INLINE fallback_model::fallback_model(std::shared_ptr<model> first,
                                                 std::shared_ptr<model> reserve,
                                                 fallback_options options)
    : first_(std::move(first)), reserve_(std::move(reserve)), options_(options) {
  detail::check_members({first_, reserve_}, "fallback");
}

TILEWRIGHT_INLINE std::vector<double> fallback_model::predict(std::span<const sample> programs) {
  return (fell_back_ ? reserve_ : first_)->predict(programs);
}

TILEWRIGHT_INLINE void fallback_model::update(std::span<const sample> measured) {
  if (const auto ranked = detail::correlation(*first_, measured)) {
    const bool bad = *ranked < options_.least;
    against_ = bad != fell_back_ ? against_ + 1 : 0;
    if (against_ >= options_.allowed) {
      fell_back_ = !fell_back_;
      against_ = 0;
    }
  }
  first_->update(measured);
  reserve_->update(measured);
}

TILEWRIGHT_INLINE std::string fallback_model::save() const {
  return "fallback 1\n" + detail::saved_members({first_, reserve_});
}

TILEWRIGHT_INLINE void fallback_model::load(std::string_view text) {
  constexpr std::string_view start = "fallback 1\n";
  if (text.substr(0, start.size()) != start)
    throw argument_error("fallback: this is no saved fallback model");
  detail::load_members({first_, reserve_}, text.substr(start.size()), "fallback");
  fell_back_ = false;
  against_ = 0;
}

TILEWRIGHT_INLINE bool fallback_model::reads_traces() const {
  return detail::any_reads_traces({first_, reserve_});
}

}  // namespace tilewright::cost
