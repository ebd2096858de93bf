// Whether a new block may read a region where it stands.
#pragma once

#include <string_view>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Whether all elements of a region over the block's iteration variables hold something when the
/// block at the end of the path runs: blocks of its scope or of those around it have written them,
/// or they come from outside.
bool region_filled(const path& block, const ir::buffer_region& region);
/// Whether the block around the one at the end of the path declares, reading or writing, all that this
/// one touches of a region over its iteration variables; what is around the root needs none, and one
/// that says nothing of the buffer, as TVM's partitions do, did not declare it before either.
bool region_declared(const path& block, const ir::buffer_region& region);
/// Why a new block at the end of the path must not read a region over its iteration variables, as the
/// end of a sentence about its elements: nobody has written them, or the block around does not declare
/// them. Empty where it may. TVM does not ask.
std::string_view why_unreadable(const path& block, const ir::buffer_region& region);

}  // namespace tilewright::primitive
