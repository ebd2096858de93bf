// Compiles in other processes, `tilewright worker`.
//
// A program that the compiler dies of, or never ends with, is a failed build here and nothing more;
// in this process it would be the end of it, or a thread that cannot be had back.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {

/// Worker processes that compile, as many as threads ask at a time. Thread-safe. A forked child
/// cannot use its parent's.
class compile_workers {
 public:
  /// @param deadline s for one program; then the process is ended
  explicit compile_workers(double deadline);
  ~compile_workers();
  compile_workers(const compile_workers&) = delete;
  compile_workers& operator=(const compile_workers&) = delete;

  /// The code that `search::build` makes of the same program, loaded here.
  /// @param cancelled ends it, and its process, when it becomes true; null: never
  /// @throws build_error when no worker can be started
  built make(const ir::function& scheduled, const target::machine& where,
             const std::atomic<bool>* cancelled = nullptr);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::search
