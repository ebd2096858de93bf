#include "database.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <tilewright/ir/text/parse.hpp>

#include "../command.hpp"

namespace tool {

using tilewright::search::database;
using tilewright::search::record;

namespace {

std::string name_of(const database& db) { return db.path().empty() ? "database" : db.path(); }

}  // namespace

std::shared_ptr<database> database_to_read(const std::string& option) {
  const std::shared_ptr<database> db = database::reading(option);
  std::error_code ignored;
  if (option.empty() && !db->path().empty() && !db->persistent() &&
      !std::filesystem::exists(db->path(), ignored)) {
    complain(
        "nothing has been tuned yet: " +
        (db->status().empty() ? "the records of :memory: end with their process" : db->status()));
    return db;
  }
  if (!db->persistent() && db->path() != ":memory:" && db->all().empty())
    throw input_error(name_of(*db), db->status());
  if (!db->status().empty()) complain(db->status());
  return db;
}

std::shared_ptr<database> database_to_write(const std::string& option) {
  const std::shared_ptr<database> db = database::shared(option);
  if (!option.empty() && !db->persistent() && db->path() != ":memory:")
    throw input_error(name_of(*db), db->status());
  if (!db->status().empty()) complain(db->status());
  return db;
}

std::vector<record> records_of(const database& db, const std::string& prefix,
                               const std::string& besides) {
  std::vector<record> out = db.all(
      [&](const record& r) { return r.key.workload.compare(0, prefix.size(), prefix) == 0; });
  if (out.empty())
    throw input_error(db.path(),
                      "no record of a workload that starts with \"" + prefix + "\"" + besides);
  return out;
}

record chosen_record(const database& db, const std::string& prefix, const std::string& besides) {
  std::vector<record> all = records_of(db, prefix, besides);
  all.erase(std::remove_if(all.begin(), all.end(), [](const record& r) { return !r.chosen; }),
            all.end());
  if (all.empty())
    throw input_error(db.path(),
                      "no chosen schedule for a workload that starts with \"" + prefix + "\"");
  return *std::min_element(all.begin(), all.end(),
                           [](const record& a, const record& b) { return a.best() < b.best(); });
}

tilewright::ir::function function_of(const database& db, const record& r) {
  const auto script = db.workload(r.key.workload);
  if (!script)
    throw input_error(db.path(), "the text of workload " + r.key.workload + " is not stored");
  try {
    return tilewright::ir::parse(std::string_view(*script));
  } catch (const tilewright::ir::parse_error& e) {
    throw input_error("the text of workload " + r.key.workload, e);
  }
}

}  // namespace tool
