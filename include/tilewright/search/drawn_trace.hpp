// Traces whose decisions are drawn within the limits of a device, before they are replayed.
//
// Of products and convolutions with tiles on blocks, virtual threads and threads, most draws make more threads, or want more
// memory, than there is. Drawn alone, without the program that they make, decisions cost a hundredth of a replay.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::target {
struct gpu;
}

namespace tilewright::search {

/// `sketch`, a trace that a replay on `f` would draw the missing decisions of, with decisions of such draws as
/// `refused_by_decisions` does not refuse: each of these is as likely, beside the others, as in a replay. Decisions that depend on more than is
/// known without a program stay missing. After `tries` refused draws all do.
trace drawn_within_limits(const trace& sketch, const ir::function& f, const target::gpu& gpu,
                          support::random& random, int tries = 256);

}  // namespace tilewright::search
