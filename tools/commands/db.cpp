// tilewright db: look into tuning databases, and move records between them.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/inner_loop.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/exchange.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

#include "../command.hpp"
#include "../option_values.hpp"
#include "../records/database.hpp"
#include "../records/import_tvm.hpp"
#include "../records/workload.hpp"

namespace tool {
namespace {

using namespace tilewright;
using search::record;

struct db_options {
  std::string action, argument, database, output;
  bool json = false;
  std::vector<std::string> dims;         // of why and of TVM's records
  std::string target = "host", layouts;  // of why
  int threads = 0;
  foreign_options foreign;
};

std::string line_of(const record& r) {
  return r.key.workload + "  " + search::time_text(r.best()) + "  " +
         std::to_string(r.key.threads) + " threads  " + r.key.arguments + "  extents " +
         search::write_numbers(r.extents) + "  " + r.from.date + "  " + r.from.cpu +
         (r.chosen ? "  " + r.check() : "") + "\n";
}

std::string json_of(const record& r) {
  std::string extents;
  for (const std::int64_t e : r.extents)
    extents += (extents.empty() ? "" : ", ") + std::to_string(e);
  const std::string best = support::general_text(r.best(), 9);
  return "{\"workload\": " + json(r.key.workload) + ", \"isa\": " + json(r.key.isa) +
         ", \"arguments\": " + json(r.key.arguments) +
         ", \"threads\": " + std::to_string(r.key.threads) + ", \"extents\": [" + extents +
         "], \"best_seconds\": " + best + ", \"chosen\": " + (r.chosen ? "true" : "false") +
         (r.chosen ? ", \"checked\": " + json(r.check()) : "") + ", \"cpu\": " + json(r.from.cpu) +
         ", \"llvm\": " + json(r.from.llvm) + ", \"date\": " + json(r.from.date) +
         ", \"trace\": " + json(r.trace) + "}\n";
}

int list(const search::database& db, const db_options& o) {
  for (const record& r : db.all([](const record& x) { return x.chosen; }))
    say(o.json ? json_of(r) : line_of(r));
  return fine;
}

int show(const search::database& db, const db_options& o) {
  const std::vector<record> found = records_of(db, o.argument);
  if (!o.json)
    if (const auto script = db.workload(found.front().key.workload)) say(*script + "\n");
  for (const record& r : found) say(o.json ? json_of(r) : line_of(r));
  return fine;
}

int best(const search::database& db, const db_options& o) {
  std::vector<record> found = records_of(db, o.argument);
  found.erase(std::remove_if(found.begin(), found.end(), [](const record& r) { return !r.chosen; }),
              found.end());
  if (found.empty())
    throw input_error(db.path(),
                      "no chosen schedule for a workload that starts with \"" + o.argument + "\"");
  for (const record& r : found) say(o.json ? json_of(r) : line_of(r) + r.trace + "\n");
  return fine;
}

/// What a lookup asks for: the workload of a script, or one that the database knows by its key. The
/// options replace what a call on this machine would ask for.
record wanted(const search::database& db, const db_options& o) {
  target::cpu cpu = target::named(o.target);
  record out;
  if (std::ifstream(o.argument).good()) {
    backend::executor exec = backend::pool::shared().view();
    if (o.threads > 0) exec.threads = o.threads;
    const ir::function f = with_extents(o.argument, load_function(o.argument), extents_of(o.dims));
    out = search::wanted_record(contiguous_workload(f, cpu, exec));
  } else {
    out = records_of(db, o.argument, ", and there is no file of that name").front();
    out.key.isa = cpu.isa_key();
    out.from = {cpu.model, {}, {}, backend::lowering_revision};
    if (o.threads > 0) out.key.threads = o.threads;
  }
  if (!o.layouts.empty()) out.key.arguments = o.layouts;
  return out;
}

/// A CPU that code of an instruction set is made for: this one, or one of the table. @throws input_error
target::cpu cpu_of(const search::database& db, const std::string& isa) {
  if (isa == target::host().isa_key()) return target::host();
  for (const std::string_view name : target::known_names())
    if (const target::cpu known = target::named(name); known.isa_key() == isa) return known;
  throw input_error(db.path(), "the schedule is for " + isa + ", which is neither this machine's " +
                                   target::host().isa_key() + " nor that of a target with a name");
}

/// Writes the object and the assembly of a chosen schedule beside each other, and shows the loop in
/// which its time goes.
int code(const search::database& db, const db_options& o) {
  const record r = chosen_record(db, o.argument);
  const ir::function f = function_of(db, r);
  const target::cpu cpu = cpu_of(db, r.key.isa);
  std::string why;
  const auto c = search::replay(trace::parse(r.trace), f, 42, &why);
  if (!c) throw input_error(db.path(), "the schedule does not replay: " + why);
  const ir::function lowered = pass::lower(c->scheduled.function(), cpu);
  const auto stored = db.code(r.key, r.trace, backend::lowering_revision);
  const backend::artifact made = stored ? backend::deserialize(stored->data(), stored->size())
                                        : backend::compile(lowered, cpu);
  const std::string assembly = backend::inspect(lowered, cpu, backend::stage::assembly),
                    base = o.output.empty() ? f.name + "_" + r.key.workload.substr(0, 8) : o.output;
  const auto write = [](const std::string& path, const char* data, std::size_t size) {
    std::ofstream to(path, std::ios::binary);
    to.write(data, static_cast<std::streamsize>(size));
    to.close();
    if (!to) throw std::runtime_error(path + " cannot be written");
    say(path + ", " + std::to_string(size) + " bytes\n");
  };
  write(base + ".o", reinterpret_cast<const char*>(made.object.data()), made.object.size());
  write(base + ".s", assembly.data(), assembly.size());
  say("entry " + made.symbol + (stored ? ", stored code" : ", code made again") + "; " +
      search::time_text(r.best()) + " measured on " + r.from.cpu + "\n");
  if (target::architecture_of(cpu) == target::architecture::x86_64)
    say("inner loop: " + backend::inner_loop_text(backend::find_inner_loop(assembly)));
  return fine;
}

int why(const search::database& db, const db_options& o) {
  say(db.why(wanted(db, o)));
  return fine;
}

int tell(const search::import_result& r, const search::database& to) {
  for (const std::string& line : r.refused) complain(line);
  if (!to.status().empty()) complain(to.status());
  say(std::to_string(r.added) + " records added to " + to.path() + ", " + std::to_string(r.known) +
      " were there" +
      (r.failed ? "; " + std::to_string(r.failed) + " failed candidates added" : "") + "\n");
  return !to.persistent() ? failed : r.refused.empty() ? fine : bad_input;
}

bool is_database(const std::string& path) {
  char start[15] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, sizeof start) == "SQLite format 3";
}

/// Text, or a database where the name ends in .db.
int export_to(const search::database& from, const std::string& path) {
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".db") == 0) {
    search::database to(path);
    return tell(search::merge(from, to), to);
  }
  if (path == "-") {
    search::export_text(from, std::cout);
    return fine;
  }
  std::ofstream to(path);
  search::export_text(from, to);
  to.close();
  if (!to) throw std::runtime_error(path + " cannot be written");
  return fine;
}

int import_from(const std::string& path, const db_options& o, search::database& to) {
  if (is_database(path)) {
    const auto from = search::database::reading(path);
    const search::import_result done = search::merge(*from, to);
    if (!from->status().empty()) complain(from->status());
    if (const std::size_t n = from->skipped(); n > 0)
      complain(path + ": " + std::to_string(n) + " damaged records were skipped");
    return tell(done, to);
  }
  const std::string text = read_file(path);
  if (!is_tvm_table(text)) {
    std::istringstream lines(text);
    return tell(search::import_text(lines, to), to);
  }
  foreign_options f = o.foreign;
  f.dims = o.dims;
  f.threads = o.threads;
  return import_tvm(path, text, f, to);
}

int run(const db_options& o) {
  if (o.action != "ls" && o.argument.empty())
    throw argument_error("db " + o.action + " wants a key or a file");
  const bool adds = o.action == "import" || o.action == "merge";
  const auto db = adds ? database_to_write(o.database) : database_to_read(o.database);
  if (o.action == "ls") return list(*db, o);
  if (o.action == "show") return show(*db, o);
  if (o.action == "best") return best(*db, o);
  if (o.action == "why") return why(*db, o);
  if (o.action == "code") return code(*db, o);
  return o.action == "export" ? export_to(*db, o.argument) : import_from(o.argument, o, *db);
}

}  // namespace

std::function<int()> declare_db(CLI::App& app) {
  const auto o = std::make_shared<db_options>();
  app.add_option(
         "ACTION", o->action,
         "ls: chosen schedules; show, best KEY: records, winners of a workload (a prefix of its "
         "key will do); code KEY: write the winner's object and assembly, and show its inner loop; "
         "why SCRIPT|KEY: what a lookup finds, or which stored keys come nearest; "
         "export FILE: write all as lines of JSON, or into a database where FILE ends in .db; "
         "import, merge FILE: add what such a file holds, or measure the schedules of TVM's "
         "database_tuning_record.json")
      ->required()
      ->check(CLI::IsMember({"ls", "show", "best", "code", "why", "export", "import", "merge"}));
  app.add_option("KEY|FILE", o->argument, "Workload key, function in script form, or records");
  app.add_option("--db", o->database, "Database file; default: the user's");
  app.add_flag("--json", o->json, "One line of JSON a record");
  app.add_option("-o,--output", o->output, "code: path of the files without .o and .s");
  app.add_option("--dim", o->dims, "why, import: NAME=EXTENT of a symbolic extent of a script");
  app.add_option("--threads", o->threads, "why, import: threads of a call; 0: all")
      ->check(whole<int>());
  app.add_option("--target", o->target, "why: the CPU that asks: " + list_of(target::known_names()))
      ->capture_default_str();
  app.add_option("--layouts", o->layouts, "why: classes of the arguments in order, as \"r d10\"");
  app.add_option("--script", o->foreign.script,
                 "import: the function that TVM's records are about; default: what the "
                 "database_workload.json beside them holds");
  app.add_option("--workload", o->foreign.workload, "import: line of TVM's workload table, from 0")
      ->check(whole<std::size_t>())
      ->capture_default_str();
  app.add_option("--seconds", o->foreign.seconds, "import: budget for measuring TVM's schedules")
      ->check(at_least_0())
      ->capture_default_str();
  app.add_flag("--unmeasured", o->foreign.unmeasured,
               "import: only keep what TVM measured, for people to see");
  return [o] { return run(*o); };
}

}  // namespace tool
