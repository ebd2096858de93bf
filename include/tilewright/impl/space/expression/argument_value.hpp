// An argument of a step when it runs.
#pragma once

#include <memory>
#include <variant>

#include <tilewright/space/operand.hpp>

namespace tilewright::space::detail {

using argument_value =
    std::variant<operand, std::shared_ptr<const arithmetic>, argument, given_decision>;
struct step_argument::held {
  argument_value value;
};

}  // namespace tilewright::space::detail
