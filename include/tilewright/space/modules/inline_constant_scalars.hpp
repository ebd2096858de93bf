// Module: constants that stand in a buffer of one element become literals again.
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Inlines a block that writes one buffer of rank 0, reads nothing and feeds other blocks.
/// rewrite: `s[()] = 2; C[i] = A[i] * s[()]` -> `C[i] = A[i] * 2`
struct inline_constant_scalars {
  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
