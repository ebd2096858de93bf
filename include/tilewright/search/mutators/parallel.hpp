// Mutator: another number of parallel jobs.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Doubles or halves the number in an annotation `meta_schedule.parallel`, within [1, 4096].
std::optional<trace> mutate_parallel(const trace& t, const ir::function& f,
                                     support::random& random);

}  // namespace tilewright::search
