#pragma once

#include <string>

#include <tilewright/cost/prior.hpp>
#include <tilewright/impl/cost/prior_data.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::cost {

TILEWRIGHT_INLINE const gbt& shipped_prior() {
  const support::fork_pass inside;
  static const gbt prior = [] {
    std::string text;
    for (const char* line : detail::prior_lines) text.append(line).append("\n");
    return gbt::load(text);
  }();
  return prior;
}

}  // namespace tilewright::cost
