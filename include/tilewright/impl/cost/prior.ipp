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

TILEWRIGHT_INLINE gbt prior_of(std::span<const sample> measured, std::uint64_t seed) {
  tree_model_options o;
  o.trees.rounds = 80;
  o.trees.depth = 5;
  o.trees.rate = 0.15;
  o.trees.seed = seed;
  o.most_data = measured.size();
  o.warmup = measured.size() + 1;  // nothing is trained before all of it is there
  tree_model all(o);
  all.update(measured);
  all.train();
  return all.trees();
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
