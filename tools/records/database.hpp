// The tuning database that a subcommand works on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/database/database.hpp>

namespace tool {

/// For subcommands that only look: nothing is made or changed on disk. What is wrong with a file
/// is told on stderr.
/// @param option value of --db; empty: the user's database, which need not exist yet
/// @throws input_error when the first file is not there or is no tuning database
std::shared_ptr<tilewright::search::database> database_to_read(const std::string& option);

/// For subcommands that add to it; it is made where there is none.
/// @throws input_error when --db names a file that cannot be used
std::shared_ptr<tilewright::search::database> database_to_write(const std::string& option);

/// Records whose workload key starts with `prefix`.
/// @param besides end of the error's text: what else `prefix` might have been
/// @throws input_error when there is none
std::vector<tilewright::search::record> records_of(const tilewright::search::database& db,
                                                   const std::string& prefix,
                                                   const std::string& besides = {});

/// The fastest chosen one of these.
/// @throws input_error when there is none
tilewright::search::record chosen_record(const tilewright::search::database& db,
                                         const std::string& prefix,
                                         const std::string& besides = {});

/// The function that a record is about.
/// @throws input_error when the database does not know its text
tilewright::ir::function function_of(const tilewright::search::database& db,
                                     const tilewright::search::record& r);

}  // namespace tool
