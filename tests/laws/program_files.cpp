#include "program_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/support/error.hpp>

namespace laws {
namespace {

/// `T.serial(4)` becomes `T.parallel(4)`, or what else opens and closes there.
std::string with_loops(std::string text, std::string_view open, std::string_view close) {
  constexpr std::string_view serial = "T.serial(";
  for (std::size_t at; (at = text.find(serial)) != text.npos;) {
    text.insert(text.find(')', at), close);
    text.replace(at, serial.size(), open);
  }
  return text;
}

/// What the comments of a file say.
struct notes {
  program content;  // without its function
  bool twin = false, each_kind = false, iterations = false;
};

notes read_notes(const std::string& text) {
  notes out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, what, name, equals;
    words >> hash >> what;
    if (hash != "#") continue;
    out.twin |= what == "twin";
    out.each_kind |= what == "each_kind";
    out.iterations |= what == "iterations";
    if (what != "dim" && what != "data") continue;
    words >> name >> equals;
    for (std::int64_t value; words >> value;) {
      if (what == "dim") out.content.dims[name] = value;
      if (what == "data") out.content.data[name].push_back(value);
    }
  }
  return out;
}

/// The program of a file, and those with other kinds of loops.
std::vector<program_file> read_file(const std::string& name, const std::string& text) {
  const notes of = read_notes(text);
  std::vector<program_file> out;
  const auto add = [&](const std::string& variant, const std::string& script) {
    out.push_back({variant, of.content});
    out.back().content.function =
        of.iterations ? sparse::with_iterations(ir::parse_sparse(script)) : ir::parse(script);
    if (of.twin) out.back().content = with_twin(std::move(out.back().content));
  };
  add(name, text);
  if (!of.each_kind) return out;
  add(name + "_parallel", with_loops(text, "T.parallel(", ""));
  add(name + "_threads", with_loops(text, "T.thread_binding(", ", thread=\"threadIdx.x\""));
  return out;
}

}  // namespace

std::vector<program_file> read_programs(const std::string& folder) {
  std::vector<program_file> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".py") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string name = entry.path().stem().string();
    try {
      for (program_file& p : read_file(name, text.str())) out.push_back(std::move(p));
    } catch (const std::exception& e) {
      throw argument_error(name + ".py: " + e.what());
    }
  }
  std::sort(out.begin(), out.end(),
            [](const program_file& a, const program_file& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      out.begin(), out.end(),
      [](const program_file& a, const program_file& b) { return a.name == b.name; });
  if (twice != out.end()) throw argument_error("two programs are called " + twice->name);
  return out;
}

}  // namespace laws
