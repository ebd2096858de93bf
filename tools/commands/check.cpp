// tilewright check: does a script survive the way through the IR?
#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

#include "../command.hpp"

namespace tool {
namespace {

struct check_options {
  std::string file, function;
  bool show = false;
};

int check_function(const check_options& o, const std::string& name) {
  const tilewright::ir::function f = load_function(o.file, name);
  warn_unless_verified(o.file, f);
  const std::string text = tilewright::ir::print(f);
  if (o.show) say(text);
  try {
    const tilewright::ir::function again = tilewright::ir::parse(text);
    const std::string second = tilewright::ir::print(again);
    if (second != text) {
      complain(o.file + ": the print of the print differs at " + first_difference(text, second));
      return different;
    }
    if (!tilewright::ir::equal(f, again)) {
      complain(o.file + ": the printed function is not equal to the one that was read");
      return different;
    }
  } catch (const tilewright::ir::parse_error& e) {
    complain(o.file + ": the print does not parse: " + e.what());
    return different;
  }
  if (!o.show) {
    const auto lines = std::count(text.begin(), text.end(), '\n');
    say(o.file + ": " + f.name + ", " + std::to_string(lines) + " lines, workload " +
        tilewright::ir::workload_key(f).hex() + "\n");
  }
  return fine;
}

int check(const check_options& o) {
  if (!o.function.empty()) return check_function(o, o.function);
  int worst = fine;
  for (const std::string& name : parse_file(o.file, &tilewright::ir::function_names))
    worst = std::max(worst, check_function(o, name));
  return worst;
}

}  // namespace

std::function<int()> declare_check(CLI::App& app) {
  const auto o = std::make_shared<check_options>();
  app.add_option("FILE", o->file, "functions in script form")->required();
  app.add_option("--function", o->function, "one of them; all otherwise");
  app.add_flag("--print", o->show, "print the function instead of a summary");
  return [o] { return check(*o); };
}

}  // namespace tool
