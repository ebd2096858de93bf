// Kernels over nothing: what a call means when an extent is zero.
#pragma once

#include <cstdint>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/check/shrink.hpp>

namespace tilewright::dispatch {

/// An extent that no other one equals, to stand for zero.
std::int64_t unused_extent(const search::extent_map& dims);

/// The function that `f` would be if every loop of extent `placeholder` had none: reductions over such a loop
/// give their identity, definitions under another one disappear. `f` is unscheduled and made with `placeholder`
/// in the place of the zero extents, which no other extent equals.
ir::function without_iterations(const ir::function& f, std::int64_t placeholder);

}  // namespace tilewright::dispatch
