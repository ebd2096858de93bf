// From a scheduled program to loaded code; several at a time, beside the measuring thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/owned.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {

/// Code of one candidate, or why there is none.
struct built {
  backend::artifact artifact;
  std::shared_ptr<const backend::loaded>
      code;  // of a CPU like this one; what another machine or a GPU runs is loaded there
  std::string error;
  bool late = false;      // given up at a deadline
  bool rejected = false;  // compiled, but its code needs too much of a GPU, as the error says

  /// Whether there is code to run.
  explicit operator bool() const noexcept { return code || !artifact.object.empty(); }
};

/// Makes code of a program; called by several threads at once. What it throws is a failed build.
using builder = std::function<built(const ir::function& scheduled, const target::machine& where)>;

/// Lowers and compiles, with what depends on bound weights, or on the offsets of sparse arguments, apart from the rest as a
/// preparation (backend::loaded); loads code for a CPU of this machine's architecture. Kernels of a GPU that are not worth starting
/// (backend::cuda::why_rejected) are an error. Never throws for a program that cannot be compiled.
/// @param deadline s after which a compiler that can be interrupted, NVRTC, gives up; 0: never
built build(const ir::function& scheduled, const target::machine& where, double deadline = 0);

/// Threads that build.
struct build_threads {
  int beside = 1;   // go on while what was taken is measured
  int between = 0;  // build only while `take` waits: on the cores that measurements need
};

/// Builds programs in order on threads of its own; `take` waits for one. The destructor gives up
/// what has not begun and joins. Threads that build for a GPU stand back behind those of normal priority, so that
/// the one that starts kernels never waits for a core.
class build_queue {
 public:
  /// @param threads one at least
  /// @param make what builds; null: `build`
  /// @param deadline s for one program. A compilation in this process cannot be interrupted: one
  /// that takes longer is given up, another thread goes on with the next program, and the destructor
  /// waits for it (search/measurement/compile_worker.hpp ends its processes instead).
  build_queue(std::vector<ir::function> programs, const target::machine& where,
              build_threads threads, builder make = {}, double deadline = 1e6);
  ~build_queue();
  build_queue(const build_queue&) = delete;
  build_queue& operator=(const build_queue&) = delete;

  /// Program `i`; one caller at a time. When it returns, only threads of `beside` build.
  built take(std::size_t i);
  /// More programs, behind those that there are. By the caller of `take_any`.
  void add(std::vector<ir::function> more);
  /// The first program to be ready of those that were not taken, and its number; so a program that takes long to
  /// compile holds none of the others up. One caller at a time, who does not ask for one by its number, while one
  /// is left.
  std::pair<std::size_t, built> take_any();
  /// Whether every program has begun, so that threads have nothing more to do.
  bool all_begun() const;
  /// Gives up what has not begun: nothing is taken any more.
  void end();

 private:
  struct state;
  support::owned<state> state_;
};

}  // namespace tilewright::search
