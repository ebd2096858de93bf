// Mutators: small changes of a trace that keep its sketch. One per file in search/mutators, one
// line each in the table of impl/search/mutator.ipp.
//
// What a mutator gives is a valid decision by itself; whether later primitives accept it shows in
// the replay.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// A kind of change.
struct mutator {
  std::string_view name;
  double weight = 1;  // how often it is tried, relative to the others
  /// Nothing when the trace has nothing that this mutator could change.
  std::optional<trace> (*apply)(const trace& t, support::random& random) = nullptr;
};

/// All mutators.
std::span<const mutator> mutators();

/// One change by one of `table`, drawn by weight among those that apply; nothing when none does.
std::optional<trace> mutate_by(std::span<const mutator> table, const trace& t,
                               support::random& random);

/// Logarithm of the probability with which the categorical decisions of `t` are drawn. The other
/// decisions of a sketch are (nearly) uniform, so that ratios between members of one sketch hold.
double log_prior(const trace& t);

}  // namespace tilewright::search
