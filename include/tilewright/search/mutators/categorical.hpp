// Mutator: another alternative.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Draws one categorical decision again, by its weights, never the present one. Those that feed
/// unrolling or thread bindings have mutators of their own.
std::optional<trace> mutate_categorical(const trace& t, const ir::function& f,
                                        support::random& random);

}  // namespace tilewright::search
