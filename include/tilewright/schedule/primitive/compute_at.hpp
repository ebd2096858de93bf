// compute_at and reverse_compute_at: move a block under a loop of its consumers or producers.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

ir::function compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                        bool preserve_unit_loops = false, int index = -1);
ir::function reverse_compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                                bool preserve_unit_loops = false, int index = -1);

/// Whether the call would succeed; never throws a schedule_error.
bool can_compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                    bool preserve_unit_loops = false);
bool can_reverse_compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                            bool preserve_unit_loops = false);

}  // namespace tilewright::primitive
