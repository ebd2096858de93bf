// The workspace that calls of a thread share.
#pragma once

namespace tilewright::dispatch {

/// Overwrites what calls of this thread have left in their workspace with bytes 0xa5: contents that no call may
/// need. Benchmarks and tests do so between calls.
void poison_workspace() noexcept;

}  // namespace tilewright::dispatch
