// What ranks candidates before anything was measured.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/cost/prior_file.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/transfer.hpp>

namespace tilewright::search::detail {

/// The model of the file that TILEWRIGHT_PRIOR names, else of `start`; it has learned the records of the
/// database. A file that is no prior is a remark.
/// @param late says when there is no more time to learn
inline std::shared_ptr<cost::model> starting_model(
    const database& db, const record_key& key, std::uint64_t seed,
    const std::function<bool()>& late, std::vector<std::string>& remarks,
    const cost::prior& start = cost::shipped_prior()) {
  constexpr std::size_t most_records = 600;
  if (const char* named = std::getenv("TILEWRIGHT_PRIOR"); named && *named) {
    cost::loaded_prior prior = cost::load_prior(named, seed);
    if (prior.model) {
      learn_records(*prior.model, db, key, most_records, late);
      return std::move(prior.model);
    }
    remarks.push_back("the search starts without TILEWRIGHT_PRIOR: " + prior.problem);
  }
  return experienced_model(db, key, seed, late, start);
}

}  // namespace tilewright::search::detail
