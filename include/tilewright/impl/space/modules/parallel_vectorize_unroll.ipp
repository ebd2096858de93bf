#pragma once

#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void parallel_vectorize_unroll::operator()(schedule& s, const std::string& name,
                                                             const context& where,
                                                             chooser& choices) const {
  if (name != ir::root_block(s.function())->name) return;
  const block_rv root = s.get_block(name);
  if (max_jobs_per_thread > 0 && where.threads > 1)
    s.annotate(root, "meta_schedule.parallel", max_jobs_per_thread * where.threads);
  if (max_vectorize_extent > 0) s.annotate(root, "meta_schedule.vectorize", max_vectorize_extent);
  unroll(s, name, where, choices);
}

}  // namespace tilewright::space
