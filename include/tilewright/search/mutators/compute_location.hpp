// Mutator: another place.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Moves one sampled compute location to another legal place, uniformly.
std::optional<trace> mutate_compute_location(const trace& t, const ir::function& f,
                                             support::random& random);

}  // namespace tilewright::search
