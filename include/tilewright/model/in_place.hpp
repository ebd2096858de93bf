// Kernels tuned where they run: in the network, behind the kernels before them.
//
// A kernel that is timed alone finds caches, pages and clocks as it left them itself. What that hides
// is seen when the network runs as a whole.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tilewright/model/executable.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::network {

struct in_place_summary {
  std::size_t slower = 0;        // tasks that take more than 10 % longer in the network than alone
  std::size_t tuned = 0;         // of these, that were tuned again there
  std::size_t kept = 0;          // of these, whose winner made the network faster, and stays
  double before = 0, after = 0;  // s, of a run of the network
};

/// Runs the network as a whole. Kernels that take more than 10 % longer there than the database says
/// are tuned again in the network, those first that lose most: the schedules that were fastest alone
/// are timed there, under keys of their own ("... in place"). A winner becomes the chosen one of its
/// kernel when it is faster there, and the network with it, in runs that take turns.
/// @param program runs what `db` has chosen
/// @param seconds for all together; a run of the network that has begun ends
/// @param cancelled ends it when it becomes true; may be null
in_place_summary tune_in_place(const executable& program, double seconds, std::uint64_t seed,
                               search::database& db, const std::atomic<bool>* cancelled = nullptr);

}  // namespace tilewright::network
