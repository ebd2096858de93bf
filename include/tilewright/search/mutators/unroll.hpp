// Mutator: another depth of unrolling.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Draws the categorical again that feeds an annotation about unrolling, never the present value.
/// `v = sample_categorical([0, 16, 64]); annotate(root, "meta_schedule.unroll_explicit", v)`
std::optional<trace> mutate_unroll(const trace& t, const ir::function& f, support::random& random);

}  // namespace tilewright::search
