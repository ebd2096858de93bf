// Small forms of a kernel, for the interpreter.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::search {

using extent_map = std::map<std::string, std::int64_t, std::less<>>;

/// The kernel at extents that are as small as it allows, odd where possible so that tails are met: each named
/// extent is reduced alone, or together with another one that it is tied to (image and window of a convolution).
/// `make` throws argument_error where the kernel has no meaning. Nothing when more than `work` stores remain.
std::optional<ir::function> shrink(const std::function<ir::function(const extent_map&)>& make,
                                   extent_map extents, double work);

/// The function with literal extents at small ones: loops and iteration domains run over at most as many
/// values as leave `work` stores, equal ones over equally many, and each dimension of a buffer is as large as
/// what is accessed there. It computes something else where the function has extents in its expressions, and is
/// as good a program to compare a schedule and the interpreter on. Nothing where that makes no program that the
/// interpreter can run.
std::optional<ir::function> shrink(const ir::function& f, double work);

}  // namespace tilewright::search
