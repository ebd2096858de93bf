// Tuning records of TVM, brought into a database by measuring their schedules here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tilewright::search {
class database;
}

namespace tool {

struct foreign_options {
  std::string script;             // file of the function; empty: from the workload table
  std::size_t workload = 0;       // line of the workload table, from 0
  std::vector<std::string> dims;  // of the script
  int threads = 0;                // of a call; 0: all
  double seconds = 60;            // for measuring
  bool unmeasured = false;        // nothing is measured
};

/// True for the lines of TVM's database_tuning_record.json.
bool is_tvm_table(const std::string& text);

/// Replays the records of the table `text`, which lies in `path`, on one function; keeps what TVM
/// measured as records that are shown and never used, and lets a session check and measure the
/// schedules.
/// @returns an exit code
/// @throws input_error when the function is not known or its records do not apply
int import_tvm(const std::string& path, const std::string& text, const foreign_options& o,
               tilewright::search::database& to);

}  // namespace tool
