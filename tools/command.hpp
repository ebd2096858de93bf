// What the subcommands of the tool share.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/text/tokenize.hpp>

namespace CLI {
class App;
}

namespace tool {

/// Exit codes, the same for every subcommand.
enum exit_code : int {
  fine = 0,
  different = 1,
  bad_input = 2,  // does not parse, is incomplete, cannot be read
  refused = 3,    // a primitive refused
  failed = 4      // could not be built or run
};

/// A subcommand: one line of the table in tilewright.cpp. `declare` adds its options to `app` and
/// returns what runs it; the exit code is the result.
struct command {
  const char* name;
  const char* summary;
  std::function<int()> (*declare)(CLI::App& app);
};

std::function<int()> declare_check(CLI::App& app);
std::function<int()> declare_apply(CLI::App& app);
std::function<int()> declare_run(CLI::App& app);
std::function<int()> declare_tune(CLI::App& app);
std::function<int()> declare_learn(CLI::App& app);
std::function<int()> declare_db(CLI::App& app);
std::function<int()> declare_report(CLI::App& app);
std::function<int()> declare_explain(CLI::App& app);
std::function<int()> declare_worker(CLI::App& app);
std::function<int()> declare_model(CLI::App& app);
std::function<int()> declare_space(CLI::App& app);

/// A file that cannot be read or parsed; line is 0 where that has no place in it.
class input_error : public std::runtime_error {
 public:
  input_error(const std::string& file, const std::string& what)
      : std::runtime_error(file + ": " + what), file_(file) {}
  input_error(const std::string& file, const tilewright::ir::parse_error& e)
      : std::runtime_error(file + ": " + e.what()),
        file_(file),
        expected_(e.expected()),
        line_(e.line()),
        column_(e.column()) {}
  const std::string& file() const { return file_; }
  const std::string& expected() const { return expected_; }
  int line() const { return line_; }
  int column() const { return column_; }

 private:
  std::string file_, expected_;
  int line_ = 0, column_ = 0;
};

/// The bytes of a file; "-" is the standard input.
/// @throws input_error
std::string read_file(const std::string& path);
/// Calls `parse` on the text of a file and turns parse errors into input errors.
template <class Parse>
auto parse_file(const std::string& path, Parse parse) {
  const std::string text = read_file(path);
  try {
    return parse(std::string_view(text));
  } catch (const tilewright::ir::parse_error& e) {
    throw input_error(path, e);
  }
}
/// A function from a script: the one of that name, without a name `main` or the first.
/// @throws input_error
tilewright::ir::function load_function(const std::string& path, const std::string& name = "");
/// Tells on stderr if the function breaks a rule of the IR; the texts of others may follow other
/// rules.
void warn_unless_verified(const std::string& path, const tilewright::ir::function& f);

/// The first line in which two texts differ, for people.
std::string first_difference(const std::string& a, const std::string& b);
/// `text` as a JSON string, quotes included.
std::string json(std::string_view text);

/// Prints `text` to stdout.
void say(const std::string& text);
/// Prints "tilewright: " and `text` to stderr.
void complain(const std::string& text);

}  // namespace tool
