#include "sessions.hpp"

#include <algorithm>
#include <cstddef>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/progress.hpp>
#include <tilewright/search/session.hpp>

#include "../result_file.hpp"

namespace gpu_sessions {
namespace {

using namespace tilewright;
using gpu_results::json_text, gpu_results::number;

/// Of all that a session has to say, what a line has room for.
std::string shortened(const std::vector<std::string>& remarks) {
  constexpr std::size_t most = 600;
  std::string out;
  for (const std::string& remark : remarks) out += (out.empty() ? "" : "; ") + remark;
  return out.size() > most ? out.substr(0, most) + "..." : out;
}

std::string fields_of(const search::tuning_result& r) {
  std::string out = number("seconds", r.best) + ", " + number("default_seconds", r.baseline) +
                    ", " + number("candidates", r.trials) + ", " +
                    number("session_seconds", r.seconds) + ", " +
                    number("candidates_per_s", r.trials / std::max(r.seconds, 1e-9)) +
                    ", \"end\": " + json_text(search::end_text(r.end, r.trials));
  for (const auto& [kind, count] : r.failures) {
    std::string name = "failed_" + std::string(search::name(kind));
    std::replace(name.begin(), name.end(), ' ', '_');
    out += ", " + number(name.c_str(), count);
  }
  return out + ", \"checked\": " + json_text(r.checked) +
         ", \"profile\": " + json_text(search::profile_text(r.profile)) +
         ", \"remarks\": " + json_text(shortened(r.remarks));
}

}  // namespace

void curve::note(double elapsed, double best) {
  last_ = elapsed;
  if (best > 0 && (steps_.empty() || best < steps_.back().second))
    steps_.emplace_back(elapsed, best);
}

std::string curve::fields() const {
  std::string out;
  for (const int at : {1, 2, 5, 10, 20, 30, 60}) {
    double best = 0;
    for (const auto& [elapsed, seconds] : steps_)
      if (elapsed <= at) best = seconds;
    if (best > 0 && last_ >= at)
      out += ", " + number(("best_after_" + std::to_string(at) + "_s").c_str(), best);
  }
  for (const auto& [elapsed, seconds] : steps_)
    if (seconds <= 1.05 * steps_.back().second)
      return out + ", " + number("within_5_percent_after_s", elapsed);
  return out;
}

session run(const gpu_workloads::workload& w, const space::design_space& space,
            const target::gpu& where, double seconds, std::uint64_t seed,
            const std::string& database) {
  search::workload task =
      search::contiguous_workload(w.function, target::machine(where), backend::serial_executor());
  task.space = space;
  search::session_options o;
  o.seconds = seconds;
  o.seed = seed;
  curve best;
  o.events = [&](const search::progress& p) {
    if (p.trials == 1) best.note(0, p.baseline);
    best.note(p.elapsed, p.best);
  };
  search::database records(database);
  const search::tuning_result r = search::tune(task, o, records);
  return {fields_of(r) + best.fields(), r.trace, r.code, r.best};
}

}  // namespace gpu_sessions
