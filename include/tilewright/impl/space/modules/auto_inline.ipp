#pragma once

#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void auto_inline(schedule& s) {
  for (const std::string& name : root_block_names(s)) {
    const std::optional<block_profile> p = profile(s, name);
    if (!p || p->reduction || !p->cheap || is_output(s, name)) continue;
    try {
      schedule attempt = s;
      attempt.compute_inline(attempt.get_block(name));
      s = std::move(attempt);
    } catch (const schedule_error&) {
      // the block stays: inlining is an offer, not a need
    }
  }
}

}  // namespace tilewright::space
