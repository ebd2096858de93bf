// Mutators: small changes of a trace that keep its sketch. One per file in search/mutators, one
// line each in the table of impl/search/mutator.ipp.
//
// What a mutator gives is a decision that drawing may give; whether later primitives accept it
// shows in the replay.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// A kind of change.
struct mutator {
  std::string_view name;
  double weight = 1;  // how often it is tried, relative to the others
  /// `t` is a trace of `f` that replays. Nothing when it has nothing that this mutator could change.
  std::optional<trace> (*apply)(const trace& t, const ir::function& f,
                                support::random& random) = nullptr;
};

/// All mutators.
std::span<const mutator> mutators();

/// One change by one of `table`, drawn by weight among those that apply; nothing when none does.
std::optional<trace> mutate_by(std::span<const mutator> table, const trace& t,
                               const ir::function& f, support::random& random);

}  // namespace tilewright::search
