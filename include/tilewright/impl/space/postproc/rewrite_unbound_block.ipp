#pragma once

#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void rewrite_unbound_block::operator()(schedule& s, const context&) const {
  for (const std::string& name : root_block_names(s))
    bind_to_threads(s, name, max_threadblocks, max_threads_per_block,
                    {[](std::int64_t most) { return factor(most); }});
}

}  // namespace tilewright::space
