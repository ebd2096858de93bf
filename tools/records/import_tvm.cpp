#include "import_tvm.hpp"

#include <filesystem>
#include <memory>
#include <sstream>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/exchange.hpp>
#include <tilewright/search/database/tvm_records.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/strategies/given_traces.hpp>
#include <tilewright/search/tvm_workload.hpp>
#include <tilewright/target/cpu.hpp>

#include "../command.hpp"
#include "workload.hpp"

namespace tool {
namespace {

using namespace tilewright;

/// Line `number`, from 0, of a file.
std::string line_of(const std::string& path, std::size_t number) {
  std::istringstream lines(read_file(path));
  std::string out;
  for (std::size_t i = 0; std::getline(lines, out); ++i)
    if (i == number) return out;
  throw input_error(path, "there is no line " + std::to_string(number) + " (from 0)");
}

/// The function of the records in `path`: a script, or the workload table that TVM keeps beside.
ir::function function_of(const std::string& path, const foreign_options& o) {
  if (!o.script.empty()) return with_extents(o.script, load_function(o.script), extents_of(o.dims));
  const std::string table =
      (std::filesystem::path(path).parent_path() / "database_workload.json").string();
  if (!std::filesystem::exists(table))
    throw input_error(path,
                      "there is no " + table + " beside it; name the function with --script FILE");
  try {
    return ir::parse(search::read_tvm_workload(line_of(table, o.workload)));
  } catch (const argument_error& e) {  // parse errors too
    throw input_error(table, std::string(e.what()) + " (--script FILE)");
  }
}

/// "; TVM's own best time is 3.1 us (llvm x86-64-v3)"; empty where it has measured none.
std::string best_of_tvm(const search::tvm_schedules& found) {
  double best = 0;
  std::string where;
  for (const auto& [r, c] : found.usable)
    for (const double seconds : r.seconds)
      if (where.empty() || seconds < best) {
        best = seconds;
        where = r.target;
      }
  return where.empty() ? ""
                       : "; TVM's own best time is " + search::time_text(best) + " (" + where + ")";
}

/// Lets a session check and measure the schedules; the winner is chosen as after any tuning.
int measure(const search::tvm_schedules& found, const search::workload& w, double seconds,
            search::database& to) {
  std::vector<trace> traces;
  for (const auto& [r, c] : found.usable) traces.push_back(c.scheduled.trace());
  search::session_options s;
  s.seconds = seconds;
  s.method = [&](std::uint64_t) { return search::given_traces(traces); };
  const search::tuning_result r = search::tune(w, s, to);
  for (const std::string& remark : r.remarks) complain(remark);
  std::string failed;
  for (const auto& [kind, count] : r.failures)
    failed += ", " + std::to_string(count) + " failed (" + search::name(kind) + ")";
  say(std::to_string(r.trials) + " measured here" + failed + ": best " + search::time_text(r.best) +
      ", default schedule " + search::time_text(r.baseline) + best_of_tvm(found) + "\n");
  return fine;
}

}  // namespace

bool is_tvm_table(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \r\n");
  return start != text.npos && text[start] == '[';
}

int import_tvm(const std::string& path, const std::string& text, const foreign_options& o,
               search::database& to) {
  const ir::function f = function_of(path, o);
  std::istringstream lines(text);
  const search::tvm_schedules found = search::read_tvm_records(lines, f, o.workload);
  for (const std::string& why : found.refused) complain(path + ": " + why);
  std::unique_ptr<backend::pool> own;
  const backend::executor* exec = &backend::pool::shared().view();
  if (o.threads > 0 && o.threads != exec->threads) {
    own = std::make_unique<backend::pool>(o.threads);
    exec = &own->view();
  }
  target::cpu cpu = target::host();
  cpu.cores = exec->threads;
  const search::workload w = contiguous_workload(f, cpu, *exec);
  to.add_workload(w.key.workload, ir::print(f));
  search::database foreign(":memory:");
  for (const auto& [r, c] : found.usable)
    if (!r.seconds.empty()) foreign.add(search::foreign_record(r, w));
  const search::import_result kept = search::merge(foreign, to);
  say(std::to_string(found.usable.size()) + " schedules of TVM apply to " + f.name + ", " +
      std::to_string(kept.added) + " kept with TVM's times, " + std::to_string(kept.known) +
      " were there; " + std::to_string(found.refused.size()) + " do not apply, " +
      std::to_string(found.of_others) + " are of other workloads\n");
  if (found.usable.empty()) throw input_error(path, "no record applies");
  if (!to.persistent() && to.path() != ":memory:") return failed;
  return o.unmeasured ? fine : measure(found, w, o.seconds, to);
}

}  // namespace tool
