// Compares every #include of the library with the rooms that its room may include.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using room_set = std::set<std::string>;

namespace {

const room_set everything{"support", "meta",    "ir",         "arith",    "target",
                          "pass",    "intrin",  "dependence", "schedule", "space",
                          "cost",    "backend", "search",     "dispatch", "expr",
                          "ops",     "sparse",  "model",      "top"};

/// What each room may include directly; the closure follows.
const std::map<std::string, room_set> direct{
    {"support", {}},
    {"meta", {"support"}},
    {"ir", {"support"}},
    {"arith", {"ir"}},
    {"target", {"support"}},
    {"dependence", {"arith"}},
    {"pass", {"dependence", "target"}},
    {"intrin", {"ir", "target"}},
    {"schedule", {"dependence", "intrin", "sparse"}},
    {"space", {"schedule", "meta", "target"}},
    {"cost", {"pass"}},
    {"backend", {"pass", "intrin"}},
    {"search", {"space", "cost", "backend"}},
    {"expr", {"meta", "ir"}},
    {"ops", {"expr"}},
    {"sparse", {"arith"}},
    {"dispatch", {"search"}},
    {"model", {"dispatch", "expr", "ops", "sparse"}},
    {"top", {"expr", "dispatch", "model"}},
};

void add_closure(const std::string& room, room_set& out) {
  if (!out.insert(room).second) return;
  for (const std::string& below : direct.at(room)) add_closure(below, out);
}

/// Room of a path relative to include/tilewright; impl/ mirrors the tree.
std::string room_of(std::string path) {
  if (path.rfind("impl/", 0) == 0) path = path.substr(5);
  if (path == "config.hpp" || path == "fwd.hpp") return "support";
  const auto slash = path.find('/');
  if (slash == std::string::npos) return "top";
  const std::string first = path.substr(0, slash);
  return first == "interop" ? "top" : first;
}

struct include_line {
  std::string target;
  int line;
  bool angled;
};

std::vector<include_line> includes_of(const fs::path& file) {
  std::vector<include_line> out;
  std::ifstream in(file);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.rfind("#include", 0) != 0) continue;
    const auto open = text.find_first_of("<\"");
    const auto close = text.find_last_of(">\"");
    if (open == std::string::npos || close <= open) continue;
    out.push_back({text.substr(open + 1, close - open - 1), line, text[open] == '<'});
  }
  return out;
}

/// Headers of the library that `name` includes, by way of others too, and itself; without impl/.
void add_reached(const fs::path& root, const std::string& name, std::set<std::string>& out) {
  if (name.rfind("impl/", 0) == 0 || !out.insert(name).second) return;
  const std::string prefix = "tilewright/";
  for (const include_line& include : includes_of(root / name))
    if (include.target.rfind(prefix, 0) == 0)
      add_reached(root, include.target.substr(prefix.size()), out);
}

/// Third-party headers and the rooms in which they may occur.
bool third_party_allowed(const std::string& target, const std::string& room,
                         const std::string& path) {
  if (target.rfind("boost/hana", 0) == 0)
    return room == "meta" || room == "expr" || room == "space" || room == "top";
  if (target.rfind("Eigen/", 0) == 0)
    return path.rfind("impl/", 0) == 0 || path.rfind("interop/", 0) == 0;
  if (target.rfind("benchmark/", 0) == 0 || target.rfind("protozero/", 0) == 0)
    return path.rfind("interop/", 0) == 0;
  for (const char* never : {"llvm", "cuda", "nvrtc", "sqlite3", "clang", "boost/", "doctest"})
    if (target.rfind(never, 0) == 0) return false;
  return true;
}

}  // namespace

TEST_CASE("rooms include only downwards") {
  const fs::path root = TILEWRIGHT_INCLUDE_DIR;
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = fs::relative(entry.path(), root).generic_string();
    const std::string room = room_of(path);
    INFO(path);
    REQUIRE(everything.count(room) == 1);
    ++files;
    room_set allowed;
    add_closure(room, allowed);
    for (const include_line& include : includes_of(entry.path())) {
      INFO("line ", include.line, " includes ", include.target);
      const std::string prefix = "tilewright/";
      if (include.target.rfind(prefix, 0) != 0) {
        CHECK(third_party_allowed(include.target, room, path));
        continue;
      }
      const std::string target = include.target.substr(prefix.size());
      CHECK(include.angled);
      CHECK(fs::exists(root / target));
      // an umbrella's last line is the one way from a header into impl/
      const bool header = path.rfind("impl/", 0) != 0;
      const bool ends_in_impl =
          path == "tilewright.hpp" || path == "learning.hpp" || path == "models.hpp";
      if (header && target.rfind("impl/", 0) == 0) CHECK(ends_in_impl);
      const bool umbrella = path == "impl/src.hpp" || path == "impl/learning.hpp" ||
                            path == "impl/models.hpp" || ends_in_impl;
      if (!umbrella) CHECK(allowed.count(room_of(target)) == 1);
    }
  }
  CHECK(files > 10);
}

TEST_CASE("a header can be included twice") {
  int headers = 0;
  for (const auto& entry : fs::recursive_directory_iterator(TILEWRIGHT_INCLUDE_DIR)) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string name = entry.path().filename();
    if (name == "cold_begin.hpp" || name == "cold_end.hpp") continue;  // each place once more
    ++headers;
    std::ifstream file(entry.path());
    bool once = false;
    for (std::string line; !once && std::getline(file, line);) {
      once = line == "#pragma once" || line.rfind("#ifndef TILEWRIGHT_", 0) == 0;
      if (!once && !line.empty() && line.rfind("//", 0) != 0) break;
    }
    CHECK_MESSAGE(once, entry.path().string() << " may be read twice");
  }
  CHECK(headers > 800);
}

TEST_CASE("src.hpp, learning.hpp or models.hpp includes every definition file") {
  const fs::path root = TILEWRIGHT_INCLUDE_DIR;
  std::set<std::string> listed;
  std::vector<std::string> order;
  for (const char* list : {"src.hpp", "learning.hpp", "models.hpp"})
    for (const include_line& include : includes_of(root / "impl" / list)) {
      CHECK(listed.insert(include.target).second);
      order.push_back(include.target);
    }
  // seldom called functions stand between two lines that say so, behind what has other headers
  const auto place = [&](const char* name) {
    return std::find(order.begin(), order.end(), std::string("tilewright/impl/") + name) -
           order.begin();
  };
  CHECK(place("target/machine.ipp") < place("cold_begin.hpp"));
  CHECK(place("cold_begin.hpp") < place("search/database/store.ipp"));
  CHECK(place("search/database/store.ipp") < place("cold_end.hpp"));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "impl")) {
    if (entry.path().extension() != ".ipp") continue;
    const std::string name = "tilewright/" + fs::relative(entry.path(), root).generic_string();
    INFO(name);
    CHECK(listed.count(name) == 1);
  }
}

TEST_CASE("what is defined once is included by the lists alone") {
  const fs::path root = TILEWRIGHT_INCLUDE_DIR;
  const auto defines = [](const fs::path& file) {
    std::ifstream in(file);
    std::string text;
    while (std::getline(in, text))
      if (text.rfind("TILEWRIGHT_INLINE", 0) == 0) return true;
    return false;
  };
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = fs::relative(entry.path(), root).generic_string();
    if (path == "impl/src.hpp" || path == "impl/learning.hpp" || path == "impl/models.hpp")
      continue;
    for (const include_line& include : includes_of(entry.path())) {
      const fs::path included = root.parent_path() / include.target;
      if (included.extension() != ".ipp") continue;
      INFO(path, ":", include.line, " includes ", include.target,
           ", which the library compiles as a source of its own: move what both need to a header");
      CHECK_FALSE(defines(included));
    }
  }
}

TEST_CASE("all.hpp holds every tier, and what documents and examples include") {
  const fs::path root = TILEWRIGHT_INCLUDE_DIR, project = root / ".." / "..";
  std::set<std::string> reached, networks,
      special;  // special: what needs more than the library does
  add_reached(root, "all.hpp", reached);
  add_reached(root, "models.hpp", networks);
  for (const char* name : {"learning.hpp", "interop/onnx.hpp", "interop/benchmark.hpp"}) {
    CHECK(reached.count(name) == 0);
    add_reached(root, name, special);
  }
  for (const std::string& header : networks) special.erase(header);
  const auto needed = [&](const std::string& header, const std::string& by) {
    INFO(header, " of ", by);
    CHECK(reached.count(header) + special.count(header) > 0);
  };
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = fs::relative(entry.path(), root).generic_string();
    if (!entry.is_regular_file() || path.rfind("impl/", 0) == 0) continue;
    for (const char* room : {"schedule", "space", "search", "model", "ops", "intrin", "top"})
      if (room_of(path) == room) needed(path, room);
  }
  std::vector<fs::path> pages{project / "README.md"};
  for (const char* folder : {"docs", "examples"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(project / folder))
      if (entry.is_regular_file()) pages.push_back(entry.path());
  int named = 0;
  for (const fs::path& page : pages)
    for (const include_line& include : includes_of(page))
      if (include.target.rfind("tilewright/", 0) == 0) {
        ++named;
        needed(include.target.substr(std::string("tilewright/").size()), page.string());
      }
  CHECK(named > 10);
}

TEST_CASE(
    "only config.hpp reads compiler macros, and what tells compilers about seldom called "
    "functions") {
  const fs::path root = TILEWRIGHT_INCLUDE_DIR;
  const room_set reads{"config.hpp", "cold_begin.hpp", "cold_end.hpp"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || reads.count(entry.path().filename().string()) == 1) continue;
    std::ifstream in(entry.path());
    std::string text;
    for (int line = 1; std::getline(in, text); ++line) {
      if (text.rfind("#if", 0) != 0) continue;
      INFO(entry.path().string(), ":", line, ": ", text);
      for (const char* macro :
           {"__GNUC__", "__clang__", "_MSC_VER", "__x86_64__", "__cplusplus", "__AVX"})
        CHECK(text.find(macro) == std::string::npos);
    }
  }
}

TEST_CASE("wings of the schedule include only downwards") {
  // from below; what lies in no wing is the schedule itself, which may include all of them
  const std::vector<std::string> wings{"analysis", "legality", "rewrite", "primitive", "trace"};
  const auto level = [&](const std::string& path) {  // relative to impl/schedule or to schedule
    const auto at = std::find(wings.begin(), wings.end(), path.substr(0, path.find('/')));
    return at - wings.begin();
  };
  const fs::path root = fs::path(TILEWRIGHT_INCLUDE_DIR) / "impl" / "schedule";
  std::set<std::string> seen;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = fs::relative(entry.path(), root).generic_string();
    INFO(path);
    if (path.find('/') == std::string::npos)
      CHECK(entry.path().extension() == ".ipp");  // a header has a wing
    else
      seen.insert(path.substr(0, path.find('/')));
    for (const include_line& include : includes_of(entry.path()))
      for (const std::string own :
           {"tilewright/impl/schedule/", "tilewright/schedule/primitive/"}) {
        if (include.target.rfind(own, 0) != 0) continue;
        INFO("line ", include.line, " includes ", include.target);
        const bool impl = own.find("impl") != std::string::npos;
        CHECK(level(impl ? include.target.substr(own.size()) : "primitive/") <= level(path));
      }
  }
  CHECK(seen == std::set<std::string>(wings.begin(), wings.end()));
}

TEST_CASE("the map says what each room includes") {
  std::ifstream map(fs::path(TILEWRIGHT_INCLUDE_DIR) / "../../docs/map.md");
  REQUIRE(map);
  std::map<std::string, room_set> said;
  const auto names_in = [](const std::string& cell) {  // those between backticks
    room_set out;
    for (auto at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
      const auto end = cell.find('`', at + 1);
      out.insert(cell.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    return out;
  };
  for (std::string row; std::getline(map, row);) {
    const auto first = row.find('|', 1), second = row.find('|', first + 1);
    if (row.rfind("| `", 0) != 0 || second == std::string::npos) continue;
    const room_set room = names_in(row.substr(0, first));
    if (room.size() == 1 && direct.count(*room.begin()) == 1)
      said[*room.begin()] = names_in(row.substr(first, second - first));
  }
  for (const auto& [room, below] : direct) {
    INFO(room);
    if (room != "top") CHECK(said[room] == below);
  }
}

TEST_CASE("no folder holds more than 25 files") {
  std::map<std::string, int> files;
  for (const char* room : {"include", "tools", "docs", "examples", "cmake", "tests", "benchmarks"})
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(TILEWRIGHT_INCLUDE_DIR) / "../.." / room))
      if (entry.is_regular_file() && entry.path().extension() != ".pyc")
        ++files[entry.path().parent_path().string()];
  CHECK(files.size() > 50);  // the folders were found
  for (const auto& [folder, count] : files)
    CHECK_MESSAGE(count <= 25, folder, " holds ", count,
                  " files; what belongs together gets a folder");
}
