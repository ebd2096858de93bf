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

}  // namespace tilewright::search
