// Records as text: moved between databases, machines and people.
//
// One JSON object per line: records and failed candidates with every field and their digest, and
// the scripts of their workloads. Compiled code stays behind, since it is made again from the
// traces, and so do bare counts of failures, which would count twice when they came twice.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::search {

/// A record on one line.
std::string write_record(const record& r);
/// The key's arguments are by position, whatever the line has.
/// @throws argument_error when a field is missing or of the wrong kind, or the digest does not
/// match
record read_record(const std::string& line);

/// A failed candidate on one line.
std::string write_failed(const failed_candidate& f);
/// @throws argument_error as read_record
failed_candidate read_failed(const std::string& line);

/// What an import did.
struct import_result {
  std::size_t added = 0;
  std::size_t known = 0;             // were there already
  std::size_t failed = 0;            // failed candidates that were added
  std::vector<std::string> refused;  // "line 3: ...": a reason per line that was left out
};

/// Writes everything that `from` holds, oldest first.
void export_text(const database& from, std::ostream& to);
/// Adds the records that `to` does not have. A chosen one stays chosen where it is faster than the
/// one that is there.
import_result import_text(std::istream& from, database& to);
/// The same from a database.
import_result merge(const database& from, database& to);

}  // namespace tilewright::search
