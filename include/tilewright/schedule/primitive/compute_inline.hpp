// compute_inline and reverse_compute_inline: fold a block into its consumers or its producer.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

ir::function compute_inline(const ir::function& f, std::uint64_t block);
ir::function reverse_compute_inline(const ir::function& f, std::uint64_t block);

/// Whether the call would succeed; never throws a schedule_error.
bool can_compute_inline(const ir::function& f, std::uint64_t block);
bool can_reverse_compute_inline(const ir::function& f, std::uint64_t block);

}  // namespace tilewright::primitive
