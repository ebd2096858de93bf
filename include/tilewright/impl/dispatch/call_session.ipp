#pragma once

#include <limits>

#include <tilewright/dispatch/call_session.hpp>
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/exhaustive.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::dispatch {

TILEWRIGHT_INLINE search::session_options call_session(const tuned_options& options,
                                                       const search::database& db,
                                                       const search::record_key& key) {
  search::session_options o;
  o.seconds = options.seconds.value_or(o.seconds);
  if (options.effort == effort::patient) o.seconds *= 8;
  if (options.effort == effort::exhaustive) {
    o.seconds = 1e9;
    o.method = [&options, &db, key](std::uint64_t seed) {
      return search::exhaustive(1 << 13, [&options, &db, key, seed] {
        search::evolution_options all_cores;
        all_cores.threads = target::host().cores;
        if (!options.changes.empty()) all_cores.changes = options.changes;
        return search::evolutionary(search::experienced_model(db, key, seed), all_cores);
      });
    };
  }
  o.trials = options.trials;
  o.target = options.target;
  o.patience = options.patience;
  const bool named = options.seconds || options.trials != std::numeric_limits<int>::max() ||
                     options.effort != effort::measure;
  o.gain = options.gain.value_or(named ? 0 : search::default_gain);
  o.seed = options.seed;
  o.model = options.model;
  if (options.method) o.method = options.method;
  o.callbacks = options.callbacks;
  o.changes = options.changes;
  o.measuring = options.measuring;
  return o;
}

}  // namespace tilewright::dispatch
