// Running programs of the laws: fixed data, the interpreter, machine code, and what counts as the
// same result.
#pragma once

#include <string>
#include <vector>

#include <laws/random_programs.hpp>
#include <tilewright/backend/call.hpp>
#include <tilewright/target/cpu.hpp>

namespace laws {

/// Contents of all parameters, as bytes.
using memory = std::vector<std::vector<char>>;

/// The function of `p`, or of a schedule of it, with the extents that `p` is run at.
ir::function concrete(const program& p, const ir::function& f);

/// The fixed data that functions with the parameters of `f` run on; extents are literals.
memory inputs(const program& p, const ir::function& f);

/// What `f` leaves in its parameters when the interpreter runs it on fixed data.
/// @throws what ir::interpret throws
memory interpreted(const program& p, const ir::function& f, bool check_unwritten = true);
/// The same by machine code of a lowered function with literal extents.
/// @throws build_error
memory compiled(const program& p, const ir::function& lowered, const target::cpu& cpu,
                const backend::executor* threads = nullptr);

/// Where two results of functions with the parameters of `f` differ; empty when they do not.
std::string difference(const program& p, const ir::function& f, const memory& a, const memory& b);

}  // namespace laws
