#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <tilewright/space/chooser.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/divisor.hpp>

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
    const bool last = i + 1 == preferred.size();
    const std::int64_t most =
        last ? std::min<std::int64_t>(preferred[i], max_innermost) : preferred[i];
    const std::int64_t f = support::largest_divisor(left, most);
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

TILEWRIGHT_INLINE bool chooser::advance(bool fresh) {
  constexpr int patience = 8;
  repeated_ = fresh ? 0 : repeated_ + 1;
  const bool repeats = drew_ && repeated_ < patience;
  digits_.resize(next_);
  next_ = 0;
  first_ = false;
  drew_ = false;
  path_.clear();
  if (repeats) return true;
  repeated_ = 0;
  while (digits_.size() > kept_ && digits_.back().value + 1 == digits_.back().options)
    digits_.pop_back();
  if (digits_.size() <= kept_) return false;
  ++digits_.back().value;
  return true;
}

TILEWRIGHT_INLINE chooser chooser::again() const {
  chooser out;
  out.digits_ = digits_;  // with those that the run has not come to
  out.kept_ = next_;
  out.first_ = false;
  return out;
}

namespace detail {

/// Whether a step from `first` on draws what is not fixed.
inline bool draws_freely(const trace& t, std::size_t first) {
  for (std::size_t i = first; i < t.size(); ++i)
    if (t[i].what->kind->choice != decision_shape::none && !t.is_fixed(i)) return true;
  return false;
}

/// The state of `enumerate`.
class sketch_list {
 public:
  using builder = std::function<void(schedule&, chooser&)>;

  sketch_list(schedule& start, std::size_t limit, const builder& build)
      : start_(start), limit_(limit), build_(build) {}

  std::vector<schedule> run() {
    chooser choices;
    // choices that differ from draw to draw may come round again
    std::size_t runs = 0;
    while (choices.advance(attempt(choices)) && !full() && ++runs < 16 * limit_) {
    }
    try_again();
    if (out_.empty() && refusal_) std::rethrow_exception(refusal_);
    return std::move(out_);
  }

 private:
  using path = std::vector<std::size_t>;
  static constexpr int most_tries = 16;

  /// Choices whose draws a primitive has refused.
  struct unlucky {
    chooser choices;
    int tries;
  };

  bool full() const { return out_.size() >= limit_; }

  /// One run; whether it has met what no other one has met, a sketch or a refusal.
  bool attempt(chooser& choices) {
    schedule s = start_.copy();
    try {
      build_(s, choices);
    } catch (const schedule_error&) {
      if (!refusal_) refusal_ = std::current_exception();
      if (!draws_freely(s.trace(), start_.trace().size()))
        return had_.insert(choices.path()).second;
      if (tries_ == most_tries) return false;
      return unlucky_.try_emplace(choices.path(), unlucky{choices.again(), tries_}).second;
    }
    if (!had_.insert(choices.path()).second) return false;
    tries_ = 0;
    out_.push_back(std::move(s));
    return true;
  }

  /// Draws anew for the choices whose draws have all been refused so far, in turn.
  void try_again() {
    std::size_t runs = 0;
    while (!unlucky_.empty()) {
      const std::map<path, unlucky> open = std::exchange(unlucky_, {});
      for (const auto& [refused, again] : open) {
        if (had_.count(refused)) continue;
        chooser choices = again.choices;
        tries_ = again.tries + 1;
        do {
          if (full() || ++runs > 4 * limit_) return;
        } while (choices.advance(attempt(choices)));
      }
    }
  }

  schedule& start_;
  std::size_t limit_;
  const builder& build_;
  std::vector<schedule> out_;
  std::set<path> had_;
  std::map<path, unlucky> unlucky_;  // by what was chosen until a primitive refused
  int tries_ = 0;                    // of the choices in hand, since they gave something
  std::exception_ptr refusal_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<schedule> enumerate(
    schedule& start, const context& where, std::size_t limit,
    const std::function<void(schedule&, chooser&)>& build) {
  if (where.wanted != yield::member) return detail::sketch_list(start, limit, build).run();
  chooser lots(start.copy().state().random);
  std::vector<schedule> out{start.copy()};
  build(out.back(), lots);
  return out;
}

}  // namespace tilewright::space
