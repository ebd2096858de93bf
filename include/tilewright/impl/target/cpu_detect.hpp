// What the machine says about itself: cpuid, the kernel's cache tables, affinity and CPU quota.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sched.h>

#include <tilewright/config.hpp>
#include <tilewright/impl/target/cpu_quota.hpp>
#include <tilewright/impl/target/system_file.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#if TILEWRIGHT_X86
#include <cpuid.h>
#endif

namespace tilewright::target::detail {

struct cpuid_data {
  std::string vendor, brand;
  unsigned family = 0, model = 0;
  std::vector<std::string_view> features;
};

struct cache_sizes {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;  // bytes
};

#if TILEWRIGHT_X86
/// Registers eax, ebx, ecx, edx of a cpuid leaf; zeros when the CPU has no such leaf.
inline std::array<std::uint32_t, 4> cpuid_leaf(std::uint32_t leaf, std::uint32_t sub = 0) {
  std::array<std::uint32_t, 4> r{};
  if (!__get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3])) r.fill(0);
  return r;
}

/// Register sets that the operating system saves (XCR0); a feature without its registers is
/// unusable.
inline std::uint32_t saved_registers() {
  if (!((cpuid_leaf(1)[2] >> 27) & 1)) return 0;
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

struct feature_bit {
  std::string_view name;
  std::uint32_t leaf, sub;
  unsigned reg, bit;    // reg: 0 eax .. 3 edx
  std::uint32_t needs;  // of saved_registers
};

inline constexpr std::uint32_t ymm_state = 0x6, zmm_state = 0xe6;
inline constexpr std::array<feature_bit, 27> feature_bits{{
    {"sse3", 1, 0, 2, 0, 0},
    {"ssse3", 1, 0, 2, 9, 0},
    {"sse4.1", 1, 0, 2, 19, 0},
    {"sse4.2", 1, 0, 2, 20, 0},
    {"popcnt", 1, 0, 2, 23, 0},
    {"movbe", 1, 0, 2, 22, 0},
    {"lzcnt", 0x80000001, 0, 2, 5, 0},
    {"bmi", 7, 0, 1, 3, 0},
    {"bmi2", 7, 0, 1, 8, 0},
    {"avx", 1, 0, 2, 28, ymm_state},
    {"fma", 1, 0, 2, 12, ymm_state},
    {"f16c", 1, 0, 2, 29, ymm_state},
    {"avx2", 7, 0, 1, 5, ymm_state},
    {"avxvnni", 7, 1, 0, 4, ymm_state},
    {"avx512f", 7, 0, 1, 16, zmm_state},
    {"avx512dq", 7, 0, 1, 17, zmm_state},
    {"avx512cd", 7, 0, 1, 28, zmm_state},
    {"avx512bw", 7, 0, 1, 30, zmm_state},
    {"avx512vl", 7, 0, 1, 31, zmm_state},
    {"avx512vbmi", 7, 0, 2, 1, zmm_state},
    {"avx512vbmi2", 7, 0, 2, 6, zmm_state},
    {"avx512vnni", 7, 0, 2, 11, zmm_state},
    {"avx512ifma", 7, 0, 1, 21, zmm_state},
    {"avx512bitalg", 7, 0, 2, 12, zmm_state},
    {"avx512vpopcntdq", 7, 0, 2, 14, zmm_state},
    {"avx512fp16", 7, 0, 3, 23, zmm_state},
    {"avx512bf16", 7, 1, 0, 5, zmm_state},
}};

/// What the code generator never chooses by itself; left out so that equal code has an equal key.
inline bool matters(std::string_view feature) { return feature != "avx512ifma"; }

inline std::string text_of(const std::uint32_t* words, std::size_t count) {
  std::string out(count * 4, '\0');
  std::memcpy(out.data(), words, out.size());
  return out.substr(0, out.find('\0'));
}

inline cpuid_data read_cpuid() {
  cpuid_data out;
  const auto top = cpuid_leaf(0), signature = cpuid_leaf(1);
  const std::uint32_t vendor[3] = {top[1], top[3], top[2]};
  out.vendor = text_of(vendor, 3);
  const std::uint32_t family = (signature[0] >> 8) & 0xf, model = (signature[0] >> 4) & 0xf;
  out.family = family == 0xf ? family + ((signature[0] >> 20) & 0xff) : family;
  out.model = family == 0xf || family == 6 ? model | ((signature[0] >> 12) & 0xf0) : model;
  std::array<std::uint32_t, 12> brand{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto part = cpuid_leaf(0x80000002u + i);
    std::copy(part.begin(), part.end(), brand.begin() + 4 * static_cast<std::ptrdiff_t>(i));
  }
  out.brand = text_of(brand.data(), brand.size());
  out.brand.erase(0, out.brand.find_first_not_of(' '));
  while (!out.brand.empty() && out.brand.back() == ' ') out.brand.pop_back();
  const std::uint32_t saved = saved_registers();
  for (const feature_bit& f : feature_bits)
    if (matters(f.name) && ((cpuid_leaf(f.leaf, f.sub)[f.reg] >> f.bit) & 1) &&
        (saved & f.needs) == f.needs)
      out.features.push_back(f.name);
  return out;
}

/// Deterministic cache parameters: leaf 4 on Intel, 0x8000001d on AMD.
inline cache_sizes cpuid_caches() {
  cache_sizes out;
  const std::uint32_t leaf = cpuid_leaf(4)[0] != 0 ? 4u : 0x8000001du;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const auto r = cpuid_leaf(leaf, i);
    const std::uint32_t type = r[0] & 0x1f, level = (r[0] >> 5) & 7;
    if (type == 0) break;
    if (type == 2) continue;  // instructions
    const std::int64_t size = (std::int64_t{r[1] >> 22} + 1) * (((r[1] >> 12) & 0x3ff) + 1) *
                              ((r[1] & 0xfff) + 1) * (std::int64_t{r[2]} + 1);
    (level == 1 ? out.l1 : level == 2 ? out.l2 : out.l3) = size;
  }
  return out;
}
#else
inline cpuid_data read_cpuid() { return {}; }
inline cache_sizes cpuid_caches() { return {}; }
#endif

/// Bytes of a size such as "48K" or "32M"; 0 when it is none.
inline std::int64_t parse_size(const std::string& text) {
  std::int64_t value = 0;
  std::size_t i = 0;
  for (; i < text.size() && i < 12 && text[i] >= '0' && text[i] <= '9'; ++i)
    value = value * 10 + (text[i] - '0');
  if (i < text.size() && text[i] == 'K') return value << 10;
  if (i < text.size() && text[i] == 'M') return value << 20;
  return value;
}

inline cache_sizes read_caches() {
  cache_sizes out;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = first_line(folder + "level");
    if (level.empty()) break;
    if (first_line(folder + "type") == "Instruction") continue;
    const std::int64_t size = parse_size(first_line(folder + "size"));
    if (level == "1") out.l1 = size;
    if (level == "2") out.l2 = size;
    if (level == "3") out.l3 = size;
  }
  return out.l1 > 0 && out.l2 > 0 ? out : cpuid_caches();
}

inline int usable_cores() {
  cpu_set_t set;
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
  return std::max(1, std::min(count, quota_cores("/sys/fs/cgroup", "/proc/self/cgroup")));
}

}  // namespace tilewright::target::detail
