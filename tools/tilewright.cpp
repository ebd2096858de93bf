// The command-line tool. A subcommand is one file command_<name>.cpp and one line of the table
// below.
#include <new>
#include <string>

#include <CLI/CLI.hpp>

#include <tilewright/config.hpp>
#include <tilewright/support/error.hpp>

#include "command.hpp"

namespace {

constexpr tool::command commands[] = {
    {"check", "Parse a function, print it, parse the print, and compare", tool::declare_check},
    {"apply", "Run a trace on a function and print or compare the result", tool::declare_apply},
    {"run", "Execute a function and compare it with the interpreter", tool::declare_run},
    {"tune", "Search for a fast schedule of a function", tool::declare_tune},
    {"learn", "Train what ranks candidates on the records of a database", tool::declare_learn},
    {"space", "Show the spaces that have names", tool::declare_space},
    {"db", "Look into tuning databases and move records", tool::declare_db},
    {"explain", "Show what each step of a function's schedule does", tool::declare_explain},
    {"report", "Write a page about what a tuning database holds", tool::declare_report},
    {"model", "Look into networks, run and tune them", tool::declare_model},
    {"worker", "Run candidates for a program that tunes", tool::declare_worker},
};

int run_guarded(const std::function<int()>& run) {
  try {
    return run();
  } catch (const tool::input_error& e) {
    tool::complain(e.what());
    return tool::bad_input;
  } catch (const tilewright::schedule_error& e) {
    tool::complain(e.what());
    return tool::refused;
  } catch (const tilewright::argument_error& e) {
    tool::complain(e.what());
    return tool::bad_input;
  } catch (const std::bad_alloc&) {
    tool::complain("this takes more memory than there is");
    return tool::failed;
  } catch (const std::exception& e) {
    tool::complain(e.what());
    return tool::failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tilewright: tensor programs, schedules and measurements on the command line",
               "tilewright");
  app.require_subcommand(1);
  const auto number = [](int n) { return std::to_string(n); };
  app.set_version_flag("--version", number(TILEWRIGHT_VERSION_MAJOR) + "." +
                                        number(TILEWRIGHT_VERSION_MINOR) + "." +
                                        number(TILEWRIGHT_VERSION_PATCH));
  app.footer(
      "Exit codes: 0 fine, 1 different, 2 input does not parse or is incomplete, 3 a primitive "
      "refused,\n"
      "4 could not be built or run. A FILE of - is the standard input.");
  std::function<int()> chosen;
  for (const tool::command& c : commands) {
    CLI::App* sub = app.add_subcommand(c.name, c.summary);
    sub->callback([run = c.declare(*sub), &chosen] { chosen = run; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? tool::fine : tool::bad_input;
  }
  return run_guarded(chosen);
}
