// Module: the root says how much may run in parallel, in vectors, and written out (MetaSchedule:
// Parallelize-Vectorize-Unroll).
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/modules/random_unroll.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Annotates the root block, for rewrite_parallel_vectorize_unroll to spread over all nests when
/// their loops are final: `meta_schedule.parallel` = threads * jobs, where there are several
/// threads; `meta_schedule.vectorize` = elements; and a depth of unrolling as random_unroll draws
/// it. Other blocks are left alone.
struct parallel_vectorize_unroll {
  std::int64_t max_jobs_per_thread = 16;   // -1: nothing runs in parallel
  std::int64_t max_vectorize_extent = 64;  // elements; -1: no vectors
  random_unroll unroll;                    // without steps: nothing is unrolled

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
