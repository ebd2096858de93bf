#pragma once

#include <string>

#include <tilewright/cost/features.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/impl/cost/prior_data.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::cost {

TILEWRIGHT_INLINE prior read_prior(std::string_view text) {
  prior out;
  try {
    out.trees = gbt::load(text);
    if (!out.trees.empty() && out.trees.columns() != feature_count)
      throw argument_error("gbt: the model was trained on other features");
  } catch (const argument_error& e) {
    out.trees = {};
    out.problem = e.what();
  }
  return out;
}

TILEWRIGHT_INLINE const prior& shipped_prior() {
  const support::fork_pass inside;
  static const prior& shipped = *[] {  // outlives static destruction
    std::string text;
    for (const char* line : detail::prior_lines) text.append(line).append("\n");
    return new prior(read_prior(text));
  }();
  return shipped;
}

}  // namespace tilewright::cost
