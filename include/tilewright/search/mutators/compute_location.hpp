// Mutator: another place.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Draws one compute location again; the replay finds the legal places.
std::optional<trace> mutate_compute_location(const trace& t, support::random& random);

}  // namespace tilewright::search
