// Structural choices of a space: enumerated, so that one plain function yields all sketches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::space {

/// Hands a sketch-building function its structural choices.
///
/// The first run gets the first option everywhere and the likeliest decision of every random
/// variable; each further run changes the last choice that has options left, like an odometer. Runs
/// that draw structure are repeated with equal choices until several in a row have given nothing new.
class chooser {
 public:
  chooser() = default;
  /// Of one run: choices by lot, and every random variable drawn.
  explicit chooser(support::random lots) : first_(false), lots_(lots) {}

  /// One of `options`, from 0.
  std::size_t pick(std::size_t options);
  /// One of the weights' positions, drawn and recorded as sample_categorical. What follows from it
  /// is structure, so an `assert_` fixes the decision.
  std::size_t draw(schedule& s, const std::vector<double>& weights);
  /// Records sample_categorical; in the first run with the likeliest candidate as decision.
  expr_rv categorical(schedule& s, const std::vector<std::int64_t>& candidates,
                      const std::vector<double>& weights);
  /// Records sample_perfect_tile with `n` factors; in the first run the factors behind the
  /// outermost are the largest divisors that do not exceed `preferred` [n - 1].
  std::vector<expr_rv> perfect_tile(schedule& s, loop_rv loop, int max_innermost,
                                    const std::vector<std::int64_t>& preferred);
  /// Records sample_tile with two factors; in the first run the inner one is `preferred`.
  std::vector<expr_rv> tile(schedule& s, loop_rv loop, const std::vector<std::int64_t>& inner,
                            std::int64_t preferred);

  /// What was picked and drawn as structure in this run, in order.
  const std::vector<std::size_t>& path() const noexcept { return path_; }
  /// Prepares the next run; false when every combination has been had.
  /// @param fresh whether this run has given a structure that no other one had
  bool advance(bool fresh);
  /// Begins with the choices of this run, keeps them in every run, and prefers no decision.
  chooser again() const;

 private:
  struct digit {
    std::size_t value, options;
  };
  std::vector<digit> digits_;
  std::size_t next_ = 0, kept_ = 0;  // kept_: first digits that no run changes
  bool first_ = true;
  std::optional<support::random> lots_;
  std::vector<std::size_t> path_;  // picks and draws of this run
  bool drew_ = false;
  int repeated_ = 0;
};

/// All sketches that `build` makes, at most `limit`. Where structure is drawn, different ones are
/// drawn until they repeat. A run in which a primitive refuses yields none; where something was drawn
/// before, other draws are tried when all choices have been had. Where a member is wanted, one run
/// by lot.
/// @throws schedule_error when no run succeeds
std::vector<schedule> enumerate(schedule& start, const context& where, std::size_t limit,
                                const std::function<void(schedule&, chooser&)>& build);

}  // namespace tilewright::space
