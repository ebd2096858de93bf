// Small files in which the kernel tells of the machine.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::target::detail {

/// The lines of a file without what ends them; none where there is no such file.
inline std::vector<std::string> lines_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "re"), [](std::FILE* f) { return f ? std::fclose(f) : 0; });
  std::vector<std::string> out;
  char text[512];
  while (file && std::fgets(text, sizeof text, file.get())) {
    std::string& line = out.emplace_back(text);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  }
  return out;
}

inline std::string first_line(const std::string& path) {
  const std::vector<std::string> lines = lines_of(path);
  return lines.empty() ? std::string() : lines.front();
}

}  // namespace tilewright::target::detail
