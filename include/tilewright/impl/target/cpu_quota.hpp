// What a container or a service manager lets this process have of the machine's time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <tilewright/impl/target/system_file.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::target::detail {

inline constexpr int no_quota = 1 << 20;  // cores

/// Whole cores that `quota` microseconds in each `period` are worth.
inline int quota_of(std::string_view quota, std::string_view period) {
  const auto q = support::read_number<std::int64_t>(quota),
             p = support::read_number<std::int64_t>(period);
  if (!q || !p || *p <= 0 || *q <= 0) return no_quota;
  return static_cast<int>(std::clamp<std::int64_t>((*q - 1) / *p + 1, 1, no_quota));
}

/// Of the group in one directory, as version 2 of control groups writes it, or version 1.
inline int quota_in(const std::string& directory) {
  const std::string line = first_line(directory + "/cpu.max");  // "100000 100000", "max 100000"
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view text = line;
  if (!line.empty())
    return quota_of(text.substr(0, space), text.substr(std::min(space + 1, line.size())));
  return quota_of(first_line(directory + "/cpu.cfs_quota_us"),  // -1: none
                  first_line(directory + "/cpu.cfs_period_us"));
}

/// The smallest quota of a group and of those that it is in.
inline int quota_up(const std::string& mounted, std::string group) {
  int out = quota_in(mounted);
  while (group.size() > 1) {
    out = std::min(out, quota_in(mounted + group));
    group.resize(group.rfind('/'));
  }
  return out;
}

/// Whole cores that the control groups of this process allow; no_quota where they do not say.
/// @param mounted where control groups are, "/sys/fs/cgroup"
/// @param own which groups the process is in, "/proc/self/cgroup": "0::/a/b", "4:cpu,cpuacct:/a/b"
inline int quota_cores(const std::string& mounted, const std::string& own) {
  int out = quota_up(mounted, {});
  for (const std::string& line : lines_of(own)) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line.size() == second + 1 || line[second + 1] != '/')
      continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      group = line.substr(second + 1);
    if (controllers == ",,") out = std::min(out, quota_up(mounted, group));
    if (controllers.find(",cpu,") == std::string::npos) continue;
    for (const char* name : {"/cpu", "/cpu,cpuacct", "/cpuacct,cpu"})
      out = std::min(out, quota_up(mounted + name, group));
  }
  return out;
}

}  // namespace tilewright::target::detail
