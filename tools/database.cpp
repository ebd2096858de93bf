#include "database.hpp"

#include <filesystem>

#include "command.hpp"

namespace tool {

using tilewright::search::database;

namespace {

std::string name_of(const database& db) { return db.path().empty() ? "database" : db.path(); }

}  // namespace

std::shared_ptr<database> database_to_read(const std::string& option) {
  const std::shared_ptr<database> db = database::reading(option);
  std::error_code ignored;
  if (option.empty() && !db->path().empty() && !db->persistent() &&
      !std::filesystem::exists(db->path(), ignored)) {
    complain("nothing has been tuned yet: " + db->status());
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

}  // namespace tool
