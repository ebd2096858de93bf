// The workloads that are recorded: what models train on, and whole operators that they never see.
#pragma once

#include <span>
#include <string_view>

#include <tilewright/ir/stmt.hpp>

namespace bench {

enum class task_use {
  train,    // models may learn it
  held_out  // an operator that no training task has: models are judged on it
};

struct search_workload {
  std::string_view name;  // also in the files of times
  task_use use;
  bool curves;  // one of the twelve whose curves stand in results/search.md
  tilewright::ir::function (*make)();
};

/// 48 training tasks of nine operators and 12 held-out ones of three, single precision, each below a
/// few milliseconds in plain loops.
std::span<const search_workload> search_workloads();

}  // namespace bench
