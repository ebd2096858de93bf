// tilewright explain: which schedule a function gets, and what each of its steps does.
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

#include <CLI/CLI.hpp>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/inner_loop.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/report/limits.hpp>
#include <tilewright/search/report/schedule_family.hpp>
#include <tilewright/search/roofline.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>

#include "../command.hpp"
#include "../display/line_diff.hpp"
#include "../option_values.hpp"
#include "../records/database.hpp"
#include "../records/workload.hpp"

namespace tool {
namespace {

using namespace tilewright;
using search::record;

struct explain_options {
  std::string file, trace, database;
  std::vector<std::string> dims;
  std::string target = "host";
  int threads = 0;
  bool cpp = false;
};

/// The share of what this machine could do at best that a record reaches; empty for a record of
/// another machine.
std::string share_of_bound(const search::workload& w, const record& r) {
  const search::roofline* core =
      r.from.cpu == w.machine.model() ? search::measured_roofline() : nullptr;
  if (core == nullptr) return {};
  double bytes = 0;
  for (const search::operand& o : search::operands(w.function))
    bytes += static_cast<double>(o.elements() * tilewright::bytes(o.type));
  // Arguments of less than this stay in caches from call to call.
  constexpr double cached = 1 << 20;
  const double bound = search::bound_seconds(*core, search::operations_of(w.function),
                                             bytes > cached ? bytes : 0, r.key.threads);
  return ", " + support::fixed_text(100 * bound / r.best(), 0) + " % of the machine's bound";
}

std::string origin(const search::workload& w, const record& r) {
  return search::time_text(r.best()) + " measured on " + r.from.cpu + ", " + r.from.date +
         share_of_bound(w, r);
}

/// A schedule to explain.
struct explained {
  trace steps;
  std::string from;    // where it comes from
  double seconds = 0;  // of a call on this machine with these extents; 0: not measured
};

/// The schedule that a call would run.
explained schedule_of_call(const search::workload& w, const search::database& db) {
  std::optional<record> r = db.chosen(w.key);
  std::string from = "the recorded schedule: ";
  const double seconds = r && r->from.cpu == w.machine.model() ? r->best() : 0;
  if (!r) {
    r = search::nearest_record(db, w);
    from = "the schedule of the nearest recorded extents: ";
  }
  if (r && !r->trace.empty()) {
    return {search::by_name(trace::parse(r->trace), w.function), from + origin(w, *r), seconds};
  }
  from = r ? "the default schedule, which no candidate beat: " + origin(w, *r)
           : "the default schedule; nothing is recorded:\n" + db.why(search::wanted_record(w));
  return {w.space.sketches(w.function, {w.machine, w.key.threads}, 42).front().trace(), from,
          seconds};
}

/// The beginning of a workload key: hexadecimal digits.
bool is_key(const std::string& text) {
  return text.size() >= 4 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Prints the family of a schedule, the loop in which its time goes, and, where `seconds` are of this
/// machine, what limits it.
void print_code(const explained& e, const ir::function& f, const std::string& isa, int threads) {
  const target::cpu cpu = target::host();
  if (isa != cpu.isa_key() || !backend::compiler_available()) return;
  try {
    say("\nfamily: " + search::schedule_family(e.steps, f) + "\n");
    schedule s(f, 42);
    e.steps.apply_to(s);
    const backend::inner_loop loop = backend::find_inner_loop(
        backend::inspect(pass::lower(s.function(), cpu), cpu, backend::stage::assembly));
    if (const search::roofline* core = e.seconds > 0 ? search::measured_roofline() : nullptr)
      say("bound: " +
          search::limits_text(search::limits_of(*core, cpu, search::work_of_call(f, threads), loop),
                              e.seconds) +
          "\n");
    say("inner loop: " + backend::inner_loop_text(loop));
  } catch (const error& x) {  // a schedule for a GPU, say
    say(std::string("\ninner loop: no code is made here: ") + x.what() + "\n");
  }
}

/// Prints each instruction and the lines of the program that it changes.
/// @throws replay_error
void print_steps(const trace& t, const ir::function& f) {
  std::istringstream instructions(t.print());
  schedule s(f, 42);
  std::string before = ir::print(f), instruction;
  std::size_t index = 0;
  say(before);
  t.apply_to(s, {}, [&](const trace::step&) {
    std::getline(instructions, instruction);
    say("\n[" + std::to_string(index++) + "] " + instruction + "\n");
    std::string after = ir::print(s.function());
    say(line_diff(before, after));
    before = std::move(after);
  });
}

/// Explains the fastest chosen schedule of a workload that a database knows by its key.
int explain_key(const explain_options& o) {
  if (!o.dims.empty() || o.threads > 0 || o.target != explain_options().target)
    throw input_error(o.file,
                      "the record of a key has its own extents, machine and threads; leave "
                      "--dim, --target and --threads out, or name a FILE");
  const auto db = database_to_read(o.database);
  const record r = chosen_record(*db, o.file, ", and there is no file of that name");
  const ir::function f = function_of(*db, r);
  const target::cpu cpu = target::host();
  backend::executor exec = backend::pool::shared().view();
  exec.threads = r.key.threads;
  const explained e{search::by_name(trace::parse(r.trace), f),
                    "the recorded schedule: " + origin(contiguous_workload(f, cpu, exec), r),
                    r.from.cpu == cpu.model ? r.best() : 0};
  say(f.name + " " + r.key.workload + ", " + e.from + "\n\n");
  print_steps(e.steps, f);
  print_code(e, f, r.key.isa, r.key.threads);
  if (o.cpp) say("\n" + e.steps.print_cpp());
  return fine;
}

int explain(const explain_options& o) {
  if (std::error_code ignored;
      o.trace.empty() && !std::filesystem::exists(o.file, ignored) && is_key(o.file))
    return explain_key(o);
  const ir::function f = with_extents(o.file, load_function(o.file), extents_of(o.dims));
  target::cpu cpu = target::named(o.target);
  backend::executor exec = backend::pool::shared().view();
  if (o.threads > 0) exec.threads = o.threads;
  cpu.cores = exec.threads;
  explained e{{}, "the schedule of " + o.trace};
  if (!o.trace.empty()) {
    e.steps = parse_file(o.trace, &trace::parse);
  } else {
    const auto db = database_to_read(o.database);
    e = schedule_of_call(contiguous_workload(f, cpu, exec), *db);
  }
  say(f.name + ", " + e.from + "\n\n");
  print_steps(e.steps, f);
  print_code(e, f, cpu.isa_key(), exec.threads);
  if (o.cpp) say("\n" + e.steps.print_cpp());
  return fine;
}

}  // namespace

std::function<int()> declare_explain(CLI::App& app) {
  const auto o = std::make_shared<explain_options>();
  app.add_option("FILE", o->file,
                 "Function in script form, or the beginning of a workload key of the database")
      ->required();
  app.add_option("--trace", o->trace,
                 "Trace in printed form; default: what a call with contiguous row-major arguments "
                 "would run");
  app.add_option("--dim", o->dims, "NAME=EXTENT of a symbolic extent");
  app.add_option("--target", o->target,
                 "CPU that the schedule is for: " + list_of(target::known_names()))
      ->capture_default_str();
  app.add_option("--threads", o->threads, "Threads of a call; 0: all")->check(whole<int>());
  app.add_option("--db", o->database, "Database file; default: the user's");
  app.add_flag("--cpp", o->cpp, "Also print the schedule as C++");
  return [o] { return explain(*o); };
}

}  // namespace tool
