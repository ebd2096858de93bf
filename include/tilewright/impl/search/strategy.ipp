#pragma once

#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/search/strategies/replay_functions.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::unique_ptr<strategy> make_strategy(std::string_view name,
                                                          std::uint64_t seed) {
  if (name == "replay_functions") return replay_functions();
  if (name == "replay_traces") return replay_traces();
  if (name == "local") return local_search();
  if (name == "evolutionary_random")
    return evolutionary(std::make_shared<cost::random_model>(seed));
  if (name == "evolutionary") {
    cost::tree_model_options options;
    options.seed = seed;
    return evolutionary(std::make_shared<cost::tree_model>(options));
  }
  throw argument_error("no strategy \"" + std::string(name) +
                       "\"; there are replay_functions, replay_traces, local, evolutionary and "
                       "evolutionary_random");
}

}  // namespace tilewright::search
