#pragma once

#include <tilewright/dispatch/workspace.hpp>
#include <tilewright/impl/dispatch/workspace.hpp>

namespace tilewright::dispatch {

TILEWRIGHT_INLINE void poison_workspace() noexcept { detail::workspace_lease::poison(); }

}  // namespace tilewright::dispatch
