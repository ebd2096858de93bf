// What a program computes by each engine, compared with the interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace campaign {

using namespace tilewright;

/// Whether loops are bound to threads of a GPU: there is no code for a CPU then.
bool binds_threads(const ir::function& f);

/// What the interpreter makes of a program, and the memory on which it did.
struct reference {
  std::unique_ptr<search::runner> memory;
  std::vector<std::vector<std::byte>> outputs;
};

/// Nothing where the interpreter does not run the program: its accesses are out of bounds, or it reads what
/// was not written.
std::optional<reference> interpreted(const ir::function& f, std::uint64_t seed);

/// How a schedule is drawn from a space.
enum class drawn : std::uint8_t {
  as_a_member,    // one structure, by lot
  from_sketches,  // all sketches are made, as sessions do, and one of them is drawn anew
};

/// A schedule out of the default space; nothing where none fits.
std::optional<schedule> scheduled(const ir::function& f, std::uint64_t seed, drawn how);
/// The same for a GPU; nothing for programs that have bound loops to its threads already.
std::optional<schedule> scheduled_for_gpu(const ir::function& f, std::uint64_t seed);
/// Up to 16 random steps that keep what parameters mean.
schedule random_schedule(const ir::function& f, std::uint64_t seed);

/// How machine code is made: as by sessions, or by a code generator that takes less time and makes slower
/// code of the same LLVM IR.
enum class codegen : std::uint8_t { usual, quick };

/// @name What is wrong; empty: nothing, or nothing that can be said
/// @{
/// The interpreter on the scheduled program, in exact arithmetic. `compared` says whether it could.
std::string wrong_when_interpreted(const ir::function& f, const ir::function& scheduled,
                                   std::uint64_t seed, bool& compared);
/// The same on floats, whatever threads see of each other's buffers, which random steps place anywhere.
std::string wrong_in_floats(const ir::function& f, reference& is, const ir::function& scheduled);
std::string wrong_by_machine_code(const ir::function& f, reference& is,
                                  const ir::function& scheduled, codegen how);
/// Each thread of a GPU is a fiber, so kernels of more than a few thousand are not `compared`.
std::string wrong_when_emulated(const ir::function& f, reference& is, const ir::function& scheduled,
                                std::uint64_t seed, bool& compared);
/// @}

}  // namespace campaign
