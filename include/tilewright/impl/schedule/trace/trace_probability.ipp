#pragma once

#include <tilewright/schedule/sampling.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright {
namespace detail::probabilities {

/// Logarithm of the probability of the last step of `after`, drawn in the state `before`.
inline double of_step(const schedule_state& before, const trace::step& s) {
  const std::vector<argument>& args = s.what->args;
  const std::string_view name = s.what->kind->name;
  const auto loop = [&] { return before.loop(std::get<rv>(args[0])); };
  const auto number = [&](std::size_t i) {
    return static_cast<int>(std::get<std::int64_t>(args[i]));
  };
  if (name == "sample_categorical")
    return primitive::log_probability_categorical(std::get<std::vector<double>>(args[1]), s.choice);
  if (name == "sample_perfect_tile")
    return primitive::log_probability_perfect_tile(before.function, loop(), number(1), number(2),
                                                   s.choice);
  if (name == "sample_partitioned_tile")
    return primitive::log_probability_partitioned_tile(before.function, loop(), number(1),
                                                       number(2), number(3), s.choice);
  if (name == "sample_tile")
    return primitive::log_probability_tile(before.function, loop(), number(1),
                                           std::get<std::vector<std::int64_t>>(args[2]), s.choice);
  if (name == "sample_compute_location")
    return primitive::log_probability_compute_location(
        before.function, before.block(std::get<rv>(args[0])), s.choice);
  return 0;
}

}  // namespace detail::probabilities

TILEWRIGHT_INLINE double log_probability_of_last_step(const schedule& s) {
  // sampling leaves the program as it was, so what it drew from can still be seen
  return s.trace().empty() ? 0
                           : detail::probabilities::of_step(s.state(), s.trace().steps().back());
}

TILEWRIGHT_INLINE double trace::log_probability(const schedule& start) const {
  schedule s = start;
  schedule_state before = s.state();
  double out = 0;
  apply_to(
      s, [&](std::size_t, const instruction&, const decision& stored) { return stored; },
      [&](const step& done) {
        out += detail::probabilities::of_step(before, done);
        before = s.state();
      });
  return out;
}

}  // namespace tilewright
