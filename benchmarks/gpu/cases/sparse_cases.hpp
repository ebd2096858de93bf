// Products with a sparse matrix on small extents: rows of threads, elements that add atomically, parts in one launch, and
// results on a pattern, as the default space makes them.
#pragma once

#include <vector>

#include <tilewright/target/gpu.hpp>

#include "../corpus.hpp"

namespace gpu_cases {

/// Each with the arrays of its matrix.
/// @param device scheduled for it; null: without schedules
std::vector<gpu_corpus::entry> sparse(const tilewright::target::gpu* device);

}  // namespace gpu_cases
