// Identity of a workload in databases.
#pragma once

#include <string_view>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::ir {

/// Structural hash of a function, the same on every machine and in every process.
///
/// Names do not count: not those of the function, of blocks, of buffers or of variables. Everything
/// else that `equal` compares counts, so functions with one key are equal (up to collisions of 128
/// bits), and equal functions have one key. Stored traces find blocks by their place for that reason.
support::hash128 workload_key(const function& f);

/// The key of before, in which the names of blocks count: that of records whose traces find blocks by
/// name.
support::hash128 named_workload_key(const function& f);

/// True when `hex` is one of the keys of `f`.
bool has_workload_key(const function& f, std::string_view hex);

}  // namespace tilewright::ir
