// What a schedule asks after every instruction.
#pragma once

#include <string_view>

#include <tilewright/impl/schedule/legality/alias.hpp>
#include <tilewright/impl/schedule/legality/cooperative_copy.hpp>
#include <tilewright/impl/schedule/legality/privatization.hpp>
#include <tilewright/impl/schedule/legality/watched_parts.hpp>

namespace tilewright::primitive::detail {

/// Requirement 0 of every primitive, beside that its loops and blocks exist.
/// @throws schedule_error
inline void check_requirement_zero(std::string_view primitive, const ir::function& before,
                                   const ir::function& after) {
  const watched_parts were(before), are(after);
  check_names(primitive, were, after);
  if (!are.run_at_once) return;
  check_private(primitive, before, after);
  check_joint_copies(primitive, before, were, after, are);
}

/// Whether a primitive accepts a call: `attempt` makes it and gives the function that comes out.
template <class Attempt>
bool accepts(std::string_view primitive, const ir::function& f, const Attempt& attempt) {
  try {
    check_requirement_zero(primitive, f, attempt());
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

}  // namespace tilewright::primitive::detail
