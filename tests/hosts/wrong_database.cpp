// A host that names a file which is no database: the file stays, calls go on, and it is said.
#include "host.hpp"

using namespace host;

int main() {
  const folder f;
  const std::string script = f.path + "/my_kernel.py";
  const std::string text = "# three weeks of work\n";
  std::ofstream(script) << text;
  const errors said;
  for (const bool environment : {false, true}) {
    tuned_options o = quick();
    o.database = environment ? "" : script;
    if (environment) setenv("TILEWRIGHT_DB", script.c_str(), 1);
    const tuned op{scale, o};
    call(op, 40, "without a database");
    expect(has(report(op, 40), "my_kernel.py is a file without the first bytes of an SQLite"),
           "the report says so");
  }
  expect(bytes_of(script) == text, "the script stays as it was");
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(f.path))
    expect(entry.path() == script, "no file comes beside it: " + entry.path().string());
  expect(!said.lines().empty() && has(said.lines()[0], "my_kernel.py"), "a line on stderr says so");
}
