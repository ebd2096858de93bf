// Seeded computations of many kinds, each as a script for Tilewright and as a plain nest in C.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../peers/onednn_convolution.hpp"

namespace bench {

/// A parameter of a problem; `type` as scripts name it.
struct cliff_argument {
  std::string name, type;
  std::vector<int> extents;
  bool written = false;
};

/// One computation. Both texts define a function of `arguments` in this order: `main` in the script,
/// `void nest(void* const* arguments)` in C. Compiled with -DREFERENCE the latter computes the same
/// in double precision on arguments that are all double.
struct cliff_problem {
  std::string name;  // KIND_LAYOUT_TYPE
  std::string script, nest;
  std::vector<cliff_argument> arguments;
  double flops = 0;
  int terms = 1;  // of the longest reduction
  std::optional<convolution> conv;
};

/// Problem number `index` of a seed: a convolution of one to three dimensions (plain, grouped,
/// depthwise, transposed), a contraction, a pooling, a norm or a stencil.
cliff_problem make_cliff_problem(std::uint64_t seed, int index);

}  // namespace bench
