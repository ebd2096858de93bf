// What a session refuses before it begins.
#pragma once

#include <algorithm>
#include <string>

#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

/// Refuses what no schedule makes end within an hour, which is as long as a session waits for a call.
inline void check_amount(const workload& w) {
  constexpr double most_per_second = 2e11, patience = 3600;  // element operations of a core, s
  const double work = work_of(w.function);
  if (work <= most_per_second * patience * std::max(w.exec->threads, 1)) return;
  throw argument_error(w.function.name + " stores " + support::general_text(work, 3) +
                       " elements in a call, which takes more than an hour; tune it at smaller "
                       "extents");
}

/// Refuses code that nothing here can run.
inline void check_machine(const workload& w, const measuring_options& o) {
  if (!w.machine.cpu || o.call || target::runs_on(*w.machine.cpu, target::host())) return;
  throw argument_error("this machine (" + target::host().isa_key() + ") does not run code for " +
                       w.machine.cpu->name + " (" + w.machine.cpu->isa_key() +
                       "); tune with a worker on one that does: tilewright tune --worker-at \"ssh "
                       "HOST tilewright worker\", or search::fleet with code_for");
}

}  // namespace tilewright::search::detail
