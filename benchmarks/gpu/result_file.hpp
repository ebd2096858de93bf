// Results of the GPU program: one line of JSON a case, on disk as soon as it is known.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace gpu_results {

namespace fs = std::filesystem;

/// JSON lines in a file, one per case, flushed at once.
class result_file {
 public:
  explicit result_file(const fs::path& path) : path_(path) {
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ifstream in(path);
    const std::string mark = "{\"case\": \"";
    for (std::string line; std::getline(in, line);)
      if (line.rfind(mark, 0) == 0 && line.back() == '}')
        done_.insert(line.substr(mark.size(), line.find('"', mark.size()) - mark.size()));
  }
  bool has(const std::string& name) const { return done_.count(name) != 0; }
  void add(const std::string& name, const std::string& fields) {
    std::ofstream(path_, std::ios::app) << "{\"case\": \"" << name << "\", " << fields << "}\n";
    std::printf("%-28s %s\n", name.c_str(), fields.c_str());
    std::fflush(stdout);
  }

 private:
  fs::path path_;
  std::set<std::string> done_;
};

inline std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

inline std::string number(const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "\"%s\": %.6g", name, value);
  return text;
}

}  // namespace gpu_results
