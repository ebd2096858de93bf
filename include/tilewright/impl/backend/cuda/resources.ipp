#pragma once

#include <algorithm>
#include <charconv>

#include <tilewright/backend/cuda/resources.hpp>

namespace tilewright::backend::cuda {
namespace detail::resource_log {

/// The number in front of `unit`, as in "Used 16 registers"; 0 when there is none.
inline std::int64_t number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == line.npos) return 0;
  std::size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t out = 0;
  std::from_chars(line.data() + begin, line.data() + end, out);
  return out;
}

/// What stands between quotes behind `words`; empty when the line does not have them.
inline std::string_view quoted_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == line.npos) return {};
  const std::size_t begin = line.find('\'', at), end = line.find('\'', begin + 1);
  return begin == line.npos || end == line.npos ? std::string_view{}
                                                : line.substr(begin + 1, end - begin - 1);
}

inline bool has_advisory(std::string_view line) {
  for (std::size_t at = line.find("(C75"); at != line.npos; at = line.find("(C75", at + 1))
    if (at + 6 < line.size() && line[at + 6] == ')') return true;
  return false;
}

}  // namespace detail::resource_log

TILEWRIGHT_INLINE const kernel_resources* resource_report::find(std::string_view symbol) const {
  for (const kernel_resources& k : kernels)
    if (k.symbol == symbol) return &k;
  return nullptr;
}

TILEWRIGHT_INLINE resource_report parse_resources(std::string_view log) {
  namespace p = detail::resource_log;
  resource_report out;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (p::has_advisory(line)) out.advisories.emplace_back(line);
    if (const std::string_view name = p::quoted_after(line, "Compiling entry function");
        !name.empty())
      out.kernels.push_back({std::string(name)});
    if (out.kernels.empty()) continue;
    kernel_resources& k = out.kernels.back();
    if (line.find("bytes stack frame") != line.npos) {
      k.frame_bytes = p::number_before(line, "bytes stack frame");
      k.spilled_bytes = p::number_before(line, "bytes spill stores") +
                        p::number_before(line, "bytes spill loads");
    } else if (line.find(" registers") != line.npos) {
      k.registers = static_cast<int>(p::number_before(line, "registers"));
      k.barriers = static_cast<int>(p::number_before(line, "barriers"));
      k.static_shared_bytes = p::number_before(line, "bytes smem");
    }
  }
  return out;
}

TILEWRIGHT_INLINE std::string why_rejected(const launch& l, const resource_report& report,
                                           const target::gpu& device,
                                           const resource_limits& limits) {
  const kernel_resources* k = report.find(l.symbol);
  if (!k) return "kernel " + l.symbol + " is not in the assembler's report";
  const std::int64_t threads = std::int64_t{l.block[0]} * l.block[1] * l.block[2];
  // registers are handed out to warps, 256 at once
  const std::int64_t warps = (threads + device.warp_size - 1) / device.warp_size;
  const std::int64_t registers =
      warps * ((std::int64_t{k->registers} * device.warp_size + 255) / 256 * 256);
  const auto above = [&](std::int64_t used, std::int64_t limit, const char* what) {
    return used <= limit ? std::string()
                         : "kernel " + l.symbol + " needs " + std::to_string(used) + " " + what +
                               ", the limit is " + std::to_string(limit);
  };
  for (std::string why :
       {above(k->spilled_bytes, limits.spilled_bytes, "bytes of spilled registers"),
        above(k->frame_bytes, limits.frame_bytes, "bytes on a thread's stack"),
        above(threads, device.threads_per_block, "threads in a block"),
        above(registers, device.registers_per_multiprocessor, "registers in a block"),
        above(l.shared_bytes + k->static_shared_bytes, device.shared_per_block,
              "bytes of shared memory")})
    if (!why.empty()) return why;
  if (!limits.advisories && !report.advisories.empty()) return report.advisories.front();
  return {};
}

}  // namespace tilewright::backend::cuda
