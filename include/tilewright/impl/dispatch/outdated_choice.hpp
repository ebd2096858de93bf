// Schedules that another revision of the library chose.
#pragma once

#include <optional>

#include <tilewright/backend/compile.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/record.hpp>

namespace tilewright::dispatch::detail {

/// Whether the schedule that is stored for a key was chosen by an earlier revision of the library, whose spaces and whose code were
/// others: the default schedule of this revision may be faster. A record of revision 0 was measured elsewhere, so that nobody knows,
/// and does not count.
inline bool is_outdated(const search::database& db, const search::record_key& key) {
  const std::optional<search::record> chosen = db.chosen(key);
  return chosen && chosen->from.revision > 0 && chosen->from.revision < backend::lowering_revision;
}

}  // namespace tilewright::dispatch::detail
