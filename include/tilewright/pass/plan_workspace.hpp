// Decides where every allocated buffer lives.
//
// After this pass the scope of the buffer of each allocate node is one of
//  - "local":     stack slot of the function (or of the outlined parallel body) it stands in;
//  - "workspace": shared by the call. Address = call.workspace + elem_offset * bytes(type);
//  - "worker":    one copy per worker of the parallel loop it stands in. Address = call.workspace +
//                 worker_offset + worker * worker_bytes + elem_offset * bytes(type), where `worker`
//                 is the executor's worker number inside the parallel body.
// `elem_offset` is a literal and every such address is a multiple of 64 bytes if the workspace is.
// Loads and stores refer to the same buffer node as the allocate. Function attributes, all
// integers:
//  "tilewright.workspace_bytes" total to lease per call: worker_offset + workers * worker_bytes
//  "tilewright.worker_offset"   bytes of the shared part, a multiple of 64
//  "tilewright.worker_bytes"    bytes per worker, 0 or a multiple of 64 but not of 4096
//  "tilewright.workers"         workers that fit: the executor must not have more threads when
//                               worker_bytes is not 0
// Buffers whose lifetimes do not meet share memory.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

struct workspace_options {
  std::int64_t stack_bytes = 4096;       // larger buffers go to the workspace
  std::int64_t stack_total = 64 * 1024;  // of all stack slots of a function or parallel body
  int workers = 1;
};

/// Gives each allocated buffer its place and sets the attributes above.
/// @throws build_error when an allocation has no constant size
ir::function plan_workspace(const ir::function& f, const workspace_options& options);

}  // namespace tilewright::pass
