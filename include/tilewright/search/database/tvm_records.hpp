// Tuning records of TVM's MetaSchedule: read and replayed, so that a session here can measure them.
//
// TVM's JSON database is two files of lines: [hash, module] in database_workload.json and
// [workload, [trace, seconds, target, arguments]] in database_tuning_record.json, where the
// workload is a line of the first file. What TVM measured says nothing about code that is generated
// here, so its times are kept under a key of their own that no call looks up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

/// One line of database_tuning_record.json.
struct tvm_record {
  struct argument {
    std::string dtype;
    std::vector<std::int64_t> shape;
    friend bool operator==(const argument&, const argument&) = default;
  };
  std::size_t workload = 0;  // line of the workload table, from 0
  tilewright::trace trace;
  std::vector<double> seconds;  // [repeats], per call, as TVM measured; empty: it failed there
  std::string target;           // "llvm x86-64-v3"
  int cores = 1;                // of the target
  std::vector<argument> arguments;
};

/// @throws argument_error saying what of the line is missing, of another kind or not understood
tvm_record read_tvm_record(const std::string& line);

/// Why `r` is not about `f`, which has other arguments; empty when it may be.
std::string mismatch(const tvm_record& r, const ir::function& f);

/// The records of a table that are schedules of one function.
struct tvm_schedules {
  std::vector<std::pair<tvm_record, candidate>> usable;  // TVM's fastest first, failed ones last
  std::vector<std::string> refused;                      // "line 3: ...": a reason per record
  std::size_t of_others = 0;                             // records of other workloads
};

/// Reads the records of line `workload` of the workload table and replays them on `f`.
tvm_schedules read_tvm_records(std::istream& from, const ir::function& f, std::size_t workload);

/// What TVM measured of `w`, as a record that is shown and never used: its instruction set is
/// "TVM: " and the target.
record foreign_record(const tvm_record& r, const workload& w);

}  // namespace tilewright::search
