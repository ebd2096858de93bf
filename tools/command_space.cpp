// tilewright space: the spaces that have names.
#include <algorithm>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tilewright/space/metaschedule.hpp>

#include "command.hpp"

namespace tool {
namespace {

int list_spaces(bool as_json) {
  std::size_t width = 0;
  for (const tilewright::space::named_space& s : tilewright::space::named_spaces())
    width = std::max(width, s.name.size());
  for (const tilewright::space::named_space& s : tilewright::space::named_spaces()) {
    const std::string name(s.name), summary(s.summary);
    say(as_json ? "{\"space\": " + json(name) + ", \"summary\": " + json(summary) + "}\n"
                : name + std::string(width - name.size() + 2, ' ') + summary + "\n");
  }
  return fine;
}

}  // namespace

std::function<int()> declare_space(CLI::App& app) {
  const auto as_json = std::make_shared<bool>(false);
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("ls", "Names for tune --space, with a line each");
  list->add_flag("--json", *as_json, "JSON lines");
  return [as_json] { return list_spaces(*as_json); };
}

}  // namespace tool
