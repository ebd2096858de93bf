// Which candidates that failed in earlier sessions would fail again.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/search/database/record.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search::detail {

/// True for what depends on the program and the code generator alone. A candidate that was late, or
/// whose worker died, may have met a busy machine.
inline bool fails_alike(std::string_view kind) {
  for (const failure f : {failure::build, failure::fault, failure::wrong_result})
    if (kind == name(f)) return true;
  return false;
}

/// The traces of `all` that need not be tried, the last ones first: those that failed in this
/// version of the code generator, of whatever kind where it was twice.
inline std::vector<std::string> failing_traces(const std::vector<failed_candidate>& all,
                                               const provenance& here) {
  std::map<std::string, int> times;
  std::vector<std::string> out;
  std::for_each(all.rbegin(), all.rend(), [&](const failed_candidate& f) {
    if (f.from.llvm != here.llvm || f.from.revision != here.revision) return;
    int& n = times[f.trace];
    const int before = n;
    n += fails_alike(f.kind) ? 2 : 1;
    if (before < 2 && n >= 2) out.push_back(f.trace);
  });
  return out;
}

/// Those of `all`, which failed at other extents of the kernel, that need not be tried at these: no code
/// could be made for them, or it went wrong. What was late there may be in time here.
inline std::vector<std::string> failing_elsewhere(std::vector<failed_candidate> all,
                                                  const provenance& here) {
  std::erase_if(all, [](const failed_candidate& f) { return !fails_alike(f.kind); });
  return failing_traces(all, here);
}

}  // namespace tilewright::search::detail
