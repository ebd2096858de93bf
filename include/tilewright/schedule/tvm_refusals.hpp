// What TVM refuses although it is right. Primitives accept it; who exchanges traces with TVM asks here
// beside them (`tilewright apply --tvm`), and no primitive refuses less for it.
#pragma once

#include <optional>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/state.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {

/// Why TVM would refuse an instruction that Tilewright takes, with the requirement that TVM names;
/// nothing where TVM takes it, too.
/// @param before  what the instruction is applied to; its arguments are variables of this state
std::optional<schedule_error> tvm_refusal(const schedule_state& before, const instruction& what);

}  // namespace tilewright::primitive
