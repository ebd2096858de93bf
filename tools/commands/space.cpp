// tilewright space: the spaces that have names, and what they are.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tilewright/space/draw_table.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/target/cpu.hpp>

#include "../command.hpp"
#include "../option_values.hpp"
#include "../records/workload.hpp"

namespace tool {
namespace {

using namespace tilewright;

struct show_options {
  std::string name, file, function, target = "host";
  std::vector<std::string> dims;
  std::uint64_t seed = 42;
  bool traces = false;
};

int list_spaces(bool as_json) {
  std::size_t width = 0;
  for (const space::named_space& s : space::named_spaces()) width = std::max(width, s.name.size());
  for (const space::named_space& s : space::named_spaces()) {
    const std::string name(s.name), summary(s.summary);
    say(as_json ? "{\"space\": " + json(name) + ", \"summary\": " + json(summary) + "}\n"
                : name + std::string(width - name.size() + 2, ' ') + summary + "\n");
  }
  return fine;
}

std::string row_json(const space::drawn_variable& r) {
  return "{\"names\": " + json(r.names) + ", \"primitive\": " + json(r.primitive) +
         ", \"of\": " + json(r.of) + ", \"values\": " + json(r.values) +
         ", \"count\": " + std::to_string(r.count) +
         ", \"exact\": " + (r.exact ? "true" : "false") +
         ", \"fixed\": " + (r.fixed ? "true" : "false") + "}";
}

/// A sketch as TVM's text where asked for, and the table of its draws.
void show_sketch(const show_options& o, std::size_t number, const trace& sketch,
                 const ir::function& f, bool as_json) {
  const std::vector<space::drawn_variable> rows = space::draws_of(sketch, f);
  const std::string text = sketch.without_decisions().print();
  if (!as_json) {
    say("sketch " + std::to_string(number) + "\n" + (o.traces ? text : std::string()) +
        space::draw_table(rows));
    return;
  }
  std::string list;
  for (const space::drawn_variable& r : rows) list += (list.empty() ? "" : ", ") + row_json(r);
  say("{\"sketch\": " + std::to_string(number) + ", \"trace\": " + json(text) + ", \"draws\": [" +
      list + "]}\n");
}

int show_space(const show_options& o, bool as_json) {
  const space::design_space s = space::find_space(o.name);
  const std::string cpp = s.text().empty() ? "a function of C++" : s.text();
  say(as_json ? "{\"space\": " + json(o.name) + ", \"cpp\": " + json(s.text()) + "}\n"
              : cpp + "\n");
  if (o.file.empty()) return fine;
  const target::cpu cpu = target::named(o.target);
  const ir::function f =
      with_extents(o.file, load_function(o.file, o.function), extents_of(o.dims));
  std::size_t number = 0;
  for (const schedule& sketch : s.sketches(f, {&cpu, cpu.cores}, o.seed))
    show_sketch(o, number++, sketch.trace().simplified(), f, as_json);
  return fine;
}

}  // namespace

std::function<int()> declare_space(CLI::App& app) {
  const auto as_json = std::make_shared<bool>(false);
  const auto o = std::make_shared<show_options>();
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("ls", "Names for tune --space, with a line each");
  CLI::App* show = app.add_subcommand(
      "show",
      "A space as the C++ that writes it; with a FILE, its sketches and what they may draw");
  for (CLI::App* each : {list, show}) each->add_flag("--json", *as_json, "JSON lines");
  show->add_option("NAME", o->name, "One of those that ls lists")->required();
  show->add_option("FILE", o->file, "A function in script form");
  show->add_option("--function", o->function,
                   "the function of that name; main or the first otherwise");
  show->add_option("--dim", o->dims, "NAME=EXTENT of a symbolic extent");
  show->add_option("--target", o->target, "CPU that the space is for")->capture_default_str();
  show->add_option("--seed", o->seed, "Seed of what is drawn")
      ->check(whole<std::uint64_t>())
      ->capture_default_str();
  show->add_flag("--traces", o->traces, "Each sketch as TVM prints it, too");
  return [=] { return list->parsed() ? list_spaces(*as_json) : show_space(*o, *as_json); };
}

}  // namespace tool
