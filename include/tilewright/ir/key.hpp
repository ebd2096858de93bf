// Identity of a workload in databases.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::ir {

/// Structural hash of a function, the same on every machine and in every process.
///
/// Block names count, since traces find blocks by name; the names of the function, of buffers and
/// of variables do not. Everything else that `equal` compares counts too, so functions with one key
/// are equal (up to collisions of 128 bits), and equal functions with equal block names have one
/// key.
support::hash128 workload_key(const function& f);

}  // namespace tilewright::ir
