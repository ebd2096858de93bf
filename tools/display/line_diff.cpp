#include "line_diff.hpp"

#include <algorithm>
#include <vector>

namespace tool {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

bool alike(std::string_view a, std::string_view b) {
  return without_indent(a) == without_indent(b);
}

/// common[i][k]: the number of lines that a longest common subsequence of a[i...] and b[k...] has.
std::vector<std::vector<int>> common_lengths(const std::vector<std::string_view>& a,
                                             const std::vector<std::string_view>& b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t k = b.size(); k-- > 0;)
      common[i][k] = alike(a[i], b[k]) ? common[i + 1][k + 1] + 1
                                       : std::max(common[i + 1][k], common[i][k + 1]);
  return common;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  const std::vector<std::vector<int>> common = common_lengths(a, b);
  std::string out;
  bool skipped = false;
  const auto add = [&](const char* mark, std::string_view line) {
    if (skipped && !out.empty()) out += "  ...\n";
    skipped = false;
    out.append(mark).append(line).append("\n");
  };
  for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    if (i < a.size() && k < b.size() && alike(a[i], b[k])) {
      skipped = true;
      ++i;
      ++k;
    } else if (k == b.size() || (i < a.size() && common[i + 1][k] >= common[i][k + 1])) {
      add("- ", a[i++]);
    } else {
      add("+ ", b[k++]);
    }
  }
  return out;
}

}  // namespace tool
