// The members of `schedule` that make and take apart blocks.
#pragma once

#include <tilewright/schedule/schedule.hpp>

namespace tilewright {
namespace detail::blocks {

inline const instruction_kind& kind_named(std::string_view name) {
  return *find_instruction_kind(name);
}

}  // namespace detail::blocks

TILEWRIGHT_INLINE block_rv schedule::rfactor(loop_rv loop, int factor_axis) {
  static const instruction_kind& kind = detail::blocks::kind_named("rfactor");
  return {apply(kind, {rv(loop), std::int64_t{factor_axis}})[0].number};
}

}  // namespace tilewright
