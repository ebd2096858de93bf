// Small cases of stage first beside the corpus and default schedules: additions that memory makes, kernels in one launch,
// schedules that are drawn as sessions draw them, comparisons of outputs, and sparse programs.
#pragma once

#include <vector>

#include <tilewright/target/gpu.hpp>

#include "../corpus.hpp"

namespace gpu_cases {

/// Results are the interpreter's of `written`.
/// @param device scheduled for it, where a pack is made; null: without schedules
std::vector<gpu_corpus::entry> small(const tilewright::target::gpu* device = nullptr);

/// A product in f32 of 256 x 192 elements, whose results are more than are looked at one by one.
gpu_corpus::entry summed_product();

}  // namespace gpu_cases
