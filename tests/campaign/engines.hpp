// What a program computes by each engine, compared with the interpreter.
#pragma once

#include <optional>
#include <string>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace campaign {

using namespace tilewright;

/// Whether loops are bound to threads of a GPU: there is no code for a CPU then.
bool binds_threads(const ir::function& f);

/// Whether the interpreter runs a program: its accesses are in bounds and what it reads was written.
bool runs(const ir::function& f);

/// A schedule out of the default space; nothing where none fits.
std::optional<schedule> scheduled(const ir::function& f, std::uint64_t seed);
/// The same for a GPU; nothing for programs that have bound loops to its threads already.
std::optional<schedule> scheduled_for_gpu(const ir::function& f, std::uint64_t seed);
/// Up to 16 random steps that keep what parameters mean.
schedule random_schedule(const ir::function& f, std::uint64_t seed);

/// @name What is wrong; empty: nothing, or nothing that can be said
/// @{
/// The interpreter on the scheduled program, in exact arithmetic. `compared` says whether it could.
std::string wrong_when_interpreted(const ir::function& f, const ir::function& scheduled,
                                   std::uint64_t seed, bool& compared);
/// The same on floats, whatever threads see of each other's buffers, which random steps place anywhere.
std::string wrong_in_floats(const ir::function& f, const ir::function& scheduled,
                            std::uint64_t seed);
std::string wrong_by_machine_code(const ir::function& f, const ir::function& scheduled,
                                  std::uint64_t seed);
std::string wrong_when_emulated(const ir::function& f, const ir::function& scheduled,
                                std::uint64_t seed);
/// @}

}  // namespace campaign
