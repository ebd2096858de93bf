#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <numeric>

#include <tilewright/space/chooser.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE std::size_t chooser::pick(std::size_t options) {
  if (lots_) return lots_->below(options);
  // after other draws there may be other options
  if (next_ < digits_.size() && digits_[next_].options != options) digits_.resize(next_);
  if (next_ == digits_.size()) digits_.push_back({0, options});
  path_.push_back(digits_[next_].value);
  return digits_[next_++].value;
}

TILEWRIGHT_INLINE std::size_t chooser::draw(schedule& s, const std::vector<double>& weights) {
  std::vector<std::int64_t> positions(weights.size());
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  const expr_rv drawn = categorical(s, positions, weights);
  const std::int64_t position = s.get(drawn);
  s.require(eq(drawn, position));
  path_.push_back(static_cast<std::size_t>(position));
  drew_ = true;
  return path_.back();
}

TILEWRIGHT_INLINE expr_rv chooser::categorical(schedule& s,
                                               const std::vector<std::int64_t>& candidates,
                                               const std::vector<double>& weights) {
  if (!first_) return s.sample_categorical(candidates, weights);
  const auto likeliest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  return s.sample_categorical(candidates, weights, likeliest);
}

TILEWRIGHT_INLINE std::vector<expr_rv> chooser::perfect_tile(
    schedule& s, loop_rv loop, int max_innermost, const std::vector<std::int64_t>& preferred) {
  const int n = static_cast<int>(preferred.size()) + 1;
  const ir::expr extent = s.get(loop).extent;
  if (!first_ || !ir::is_int(extent)) return s.sample_perfect_tile(loop, n, max_innermost);
  std::vector<std::int64_t> factors(preferred.size() + 1, 1);
  std::int64_t left = extent->integer;
  for (std::size_t i = preferred.size(); i-- > 0;) {
    std::int64_t f = std::min(preferred[i], left);
    if (i + 1 == preferred.size()) f = std::min<std::int64_t>(f, max_innermost);
    while (left % f != 0) --f;
    factors[i + 1] = f;
    left /= f;
  }
  factors[0] = left;
  return s.sample_perfect_tile(loop, n, max_innermost, factors);
}

TILEWRIGHT_INLINE std::vector<expr_rv> chooser::tile(schedule& s, loop_rv loop,
                                                     const std::vector<std::int64_t>& inner,
                                                     std::int64_t preferred) {
  if (!first_) return s.sample_tile(loop, 2, inner);
  return s.sample_tile(loop, 2, inner, std::vector<std::int64_t>{1, preferred});
}

TILEWRIGHT_INLINE bool chooser::is_new() {
  const bool out = had_.insert(path_).second;
  repeated_ = out ? 0 : repeated_ + 1;
  return out;
}

TILEWRIGHT_INLINE bool chooser::advance() {
  constexpr int patience = 8;
  const bool again = drew_ && repeated_ < patience;
  digits_.resize(next_);
  next_ = 0;
  first_ = false;
  drew_ = false;
  path_.clear();
  if (again) return true;
  repeated_ = 0;
  while (!digits_.empty() && digits_.back().value + 1 == digits_.back().options) digits_.pop_back();
  if (digits_.empty()) return false;
  ++digits_.back().value;
  return true;
}

TILEWRIGHT_INLINE std::vector<schedule> enumerate(
    schedule& start, const context& where, std::size_t limit,
    const std::function<void(schedule&, chooser&)>& build) {
  std::vector<schedule> out;
  if (where.wanted == yield::member) {
    chooser lots(start.copy().state().random);
    out.push_back(start.copy());
    build(out.back(), lots);
    return out;
  }
  std::exception_ptr refusal;
  chooser choices;
  // choices that differ from draw to draw may come round again
  std::size_t runs = 0;
  do {
    schedule s = start.copy();
    try {
      build(s, choices);
      if (choices.is_new()) out.push_back(std::move(s));
    } catch (const schedule_error&) {
      choices.is_new();
      if (!refusal) refusal = std::current_exception();
    }
  } while (out.size() < limit && ++runs < 16 * limit && choices.advance());
  if (out.empty() && refusal) std::rethrow_exception(refusal);
  return out;
}

}  // namespace tilewright::space
