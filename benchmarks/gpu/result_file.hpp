// Results of the GPU program: one line of JSON a case, on disk as soon as it is known, and a table of them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace gpu_results {

namespace fs = std::filesystem;

inline std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

inline std::string number(const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "\"%s\": %.6g", name, value);
  return text;
}

/// What stands behind a key in a line, up to the next key; empty when it is not there.
inline std::string field(const std::string& line, const std::string& key) {
  const std::string mark = "\"" + key + "\": ";
  const std::size_t at = line.find(mark);
  if (at == line.npos) return {};
  const std::size_t first = at + mark.size(), next = line.find(", \"", first);
  return line.substr(first, (next == line.npos ? line.size() - 1 : next) - first);
}

/// JSON lines in a file, one per case, flushed at once.
class result_file {
 public:
  explicit result_file(const fs::path& path) : path_(path) {
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
      if (line.rfind("{\"case\": \"", 0) == 0 && line.back() == '}') keep(line);
  }
  bool has(const std::string& name) const { return done_.count(json_text(name)) != 0; }
  void add(const std::string& name, const std::string& fields) {
    keep("{\"case\": " + json_text(name) + ", " + fields + "}");
    std::ofstream(path_, std::ios::app) << lines_.back() << "\n";
    std::printf("%-28s %s\n", name.c_str(), fields.c_str());
    std::fflush(stdout);
  }

  /// All lines of the file as a table. @returns lines that say that something is wrong
  int print_table() const {
    int wrong = 0;
    std::printf("\n%-28s %-8s %12s %12s %12s %10s\n", "case", "result", "us", "GFLOP/s", "GB/s",
                "of cuBLAS");
    for (const std::string& line : lines_) {
      const bool failed = !field(line, "error").empty();
      const bool off = field(line, "correct") == "false";
      wrong += failed || off ? 1 : 0;
      const std::string name = field(line, "case");
      std::printf("%-28s %-8s %12s %12s %12s %10s\n", name.substr(1, name.size() - 2).c_str(),
                  failed                            ? "error"
                  : off                             ? "WRONG"
                  : !field(line, "skipped").empty() ? "skipped"
                                                    : "ok",
                  scaled(line, "seconds", 1e6).c_str(), scaled(line, "gflops", 1).c_str(),
                  scaled(line, "gbytes_per_s", 1).c_str(), scaled(line, "of_cublas", 1).c_str());
    }
    std::printf("\n");
    return wrong;
  }

 private:
  void keep(const std::string& line) {
    done_.insert(field(line, "case"));
    lines_.push_back(line);
  }

  static std::string scaled(const std::string& line, const char* key, double by) {
    const std::string text = field(line, key);
    if (text.empty()) return "";
    char out[32];
    std::snprintf(out, sizeof out, by * std::atof(text.c_str()) < 10 ? "%.3f" : "%.1f",
                  by * std::atof(text.c_str()));
    return out;
  }

  fs::path path_;
  std::set<std::string> done_;
  std::vector<std::string> lines_;
};

}  // namespace gpu_results
