// Structural choices of a space: enumerated, so that one plain function yields all sketches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Hands a sketch-building function its structural choices.
///
/// The first run gets the first option everywhere and the likeliest decision of every random
/// variable; each further run changes the last choice that has options left, like an odometer.
class chooser {
 public:
  /// One of `options`, from 0.
  std::size_t pick(std::size_t options);
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

  /// Prepares the next run; false when every combination has been had.
  bool advance();

 private:
  struct digit {
    std::size_t value, options;
  };
  std::vector<digit> digits_;
  std::size_t next_ = 0;
  bool first_ = true;
};

/// All sketches that `build` makes, at most `limit`; a run in which a primitive refuses yields
/// none.
/// @throws schedule_error when no run succeeds
std::vector<schedule> enumerate(schedule& start, std::size_t limit,
                                const std::function<void(schedule&, chooser&)>& build);

}  // namespace tilewright::space
