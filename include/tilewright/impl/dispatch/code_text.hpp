// What a report says of the code that runs: its limits, the family of its schedule, its inner loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/inner_loop.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/report/limits.hpp>
#include <tilewright/search/report/schedule_family.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/architecture.hpp>

namespace tilewright::dispatch::detail {

/// Lines of a report from its lines of text.
inline std::string indented(const std::string& text, const std::string& by) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += by + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

/// Lines "bound", "family" and "loop" of a report. The code is made again to be read; what cannot be
/// made here is left out.
/// @param seconds of a call on this machine; 0: not measured here, and no limits are said
inline std::string code_text(const search::workload& w, const std::string& printed,
                             double seconds) {
  if (printed.empty() || !w.machine.cpu) return {};
  const target::cpu& cpu = *w.machine.cpu;
  try {
    const trace t = search::by_name(trace::parse(printed), w.function);
    std::string out = "  family    " + search::schedule_family(t, w.function) + "\n";
    if (target::architecture_of(cpu) != target::architecture::x86_64 ||
        !backend::compiler_available())
      return out;
    const auto made = search::replay(t, w.function, 1);
    if (!made) return out;
    const backend::inner_loop loop = backend::find_inner_loop(backend::inspect(
        pass::lower(made->scheduled.function(), cpu), cpu, backend::stage::assembly));
    const search::roofline* core = seconds > 0 ? search::measured_roofline() : nullptr;
    const std::string limits =
        core ? search::limits_text(
                   search::limits_of(*core, cpu, search::work_of_call(w.function, w.key.threads),
                                     loop),
                   seconds)
             : std::string();
    if (!limits.empty()) out = "  bound     " + limits + "\n" + out;
    return out + "  loop      " + indented(backend::inner_loop_text(loop), "    ").substr(4);
  } catch (const error&) {  // a report does not fail for what it cannot explain
    return {};
  }
}

}  // namespace tilewright::dispatch::detail
