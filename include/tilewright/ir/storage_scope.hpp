// Who shares the memory of a buffer.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Rank of a storage scope: global 0, shared 1, warp 2, local and fragments of tensor cores 3; -1
/// when there is no such scope. More may follow the name, as in "global.vtcm" or "shared.dyn": which
/// part of that memory is meant, which is shared alike.
int storage_rank(std::string_view scope);

/// Why a schedule cannot ask for a scope of that name; empty when it can.
std::string no_scope(std::string_view scope);

/// Whether threads that differ in their place on that axis ("blockIdx.x", "threadIdx.y", "vthread")
/// share the memory of a buffer of the scope.
bool shared_across(std::string_view storage_scope, std::string_view thread_tag);
/// Whether the iterations of a loop do as threads; false where it is bound to none.
bool shared_across(std::string_view storage_scope, const loop_node& loop);

}  // namespace tilewright::ir
