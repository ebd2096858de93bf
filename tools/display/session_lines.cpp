#include "session_lines.hpp"

#include <algorithm>
#include <vector>

#include <tilewright/search/progress.hpp>
#include <tilewright/search/session_end.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/stage_time.hpp>

#include "../command.hpp"

namespace tool {

using namespace tilewright;

std::string failures_json(const std::map<search::failure, int>& failures) {
  std::string out;
  for (const auto& [kind, count] : failures)
    out += (out.empty() ? "" : ", ") + json(search::name(kind)) + ": " + std::to_string(count);
  return "{" + out + "}";
}

static std::string profile_json(const std::vector<support::stage_time>& stages) {
  std::string out;
  for (const support::stage_time& t : stages)
    out += (out.empty() ? "" : ", ") + json(t.name) + ": " + support::general_text(t.seconds, 6);
  return "{" + out + "}";
}

void print_round(const search::progress& p, bool as_json) {
  if (!as_json) return say(search::progress_line(p) + "\n");
  say("{\"round\": " + std::to_string(p.round) + ", \"trials\": " + std::to_string(p.trials) +
      ", \"best_seconds\": " + support::general_text(p.best, 9) +
      ", \"default_seconds\": " + support::general_text(p.baseline, 9) +
      ", \"candidates_per_second\": " + support::general_text(p.rate, 4) +
      (p.end == search::session_end::none
           ? std::string()
           : ", \"end\": " + json(search::end_text(p.end, p.trials))) +
      ", \"failures\": " + failures_json(p.failures) + "}\n");
}

void print_summary(const search::tuning_result& r, output_form o, const std::string& file) {
  if (o.json) {
    const std::string whose = file.empty() ? "" : ", \"file\": " + json(file);
    std::string remarks;
    for (const std::string& remark : r.remarks)
      remarks += (remarks.empty() ? "" : ", ") + json(remark);
    const double rate = r.trials / std::max(r.seconds, 1e-9);
    return say("{\"best_seconds\": " + support::general_text(r.best, 9) +
               ", \"default_seconds\": " + support::general_text(r.baseline, 9) +
               ", \"improved\": " + (r.improved ? "true" : "false") + ", \"trials\": " +
               std::to_string(r.trials) + ", \"seconds\": " + support::general_text(r.seconds, 4) +
               ", \"end\": " + json(search::end_text(r.end, r.trials)) +
               ", \"candidates_per_second\": " + support::general_text(rate, 4) +
               ", \"checked\": " + json(r.checked) +
               ", \"failures\": " + failures_json(r.failures) +
               (o.profile ? ", \"profile\": " + profile_json(r.profile) : "") + whose +
               ", \"trace\": " + json(r.trace) + ", \"remarks\": [" + remarks + "]}\n");
  }
  say("best " + search::time_text(r.best) + ", default schedule " + search::time_text(r.baseline) +
      ", " + std::to_string(r.trials) + " trials in " + search::time_text(r.seconds) + ": " +
      search::end_text(r.end, r.trials) + (r.checked.empty() ? "" : "; " + r.checked) + "\n" +
      r.trace + "\n");
  if (o.profile) say(search::profile_text(r.profile) + "\n");
  for (const std::string& remark : r.remarks) complain(remark);
}

}  // namespace tool
