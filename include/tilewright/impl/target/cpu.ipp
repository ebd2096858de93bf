#pragma once

#include <algorithm>
#include <array>

#include <tilewright/impl/target/aarch64_detect.hpp>
#include <tilewright/impl/target/cpu_detect.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::target {
namespace detail {

/// One line of the table of CPUs.
struct known_cpu {
  std::string_view name;
  std::string_view tune;    // what LLVM 17 knows
  int level;                // of the x86-64 psABI, 1 to 4
  std::string_view extras;  // features above the level, separated by commas
  int l1_kib, l2_kib, l3_kib;
};

inline constexpr std::array<known_cpu, 20> known_cpus{{
    {"x86-64", "x86-64", 1, "", 32, 256, 0},
    {"x86-64-v2", "x86-64-v2", 2, "", 32, 256, 0},
    {"x86-64-v3", "x86-64-v3", 3, "", 32, 256, 8192},
    {"x86-64-v4", "x86-64-v4", 4, "", 32, 1024, 16384},
    {"nehalem", "nehalem", 2, "", 32, 256, 8192},
    {"sandybridge", "sandybridge", 2, "avx", 32, 256, 8192},
    {"ivybridge", "ivybridge", 2, "avx,f16c", 32, 256, 8192},
    {"haswell", "haswell", 3, "", 32, 256, 8192},
    {"broadwell", "broadwell", 3, "", 32, 256, 8192},
    {"skylake", "skylake", 3, "", 32, 256, 8192},
    {"alderlake", "alderlake", 3, "avxvnni", 48, 1280, 30720},
    {"skylake-avx512", "skylake-avx512", 4, "", 32, 1024, 16384},
    {"cascadelake", "cascadelake", 4, "avx512vnni", 32, 1024, 16384},
    {"icelake-server", "icelake-server", 4,
     "avx512bitalg,avx512vbmi,avx512vbmi2,avx512vnni,avx512vpopcntdq", 48, 1280, 24576},
    {"sapphirerapids", "sapphirerapids", 4,
     "avx512bf16,avx512bitalg,avx512fp16,avx512vbmi,avx512vbmi2,avx512vnni,avx512vpopcntdq,avxvnni",
     48, 2048, 32768},
    {"znver1", "znver1", 3, "", 32, 512, 8192},
    {"znver2", "znver2", 3, "", 32, 512, 16384},
    {"znver3", "znver3", 3, "", 32, 512, 32768},
    {"znver4", "znver4", 4,
     "avx512bf16,avx512bitalg,avx512vbmi,avx512vbmi2,avx512vnni,avx512vpopcntdq", 32, 1024, 32768},
    {"znver5", "znver4", 4,
     "avx512bf16,avx512bitalg,avx512vbmi,avx512vbmi2,avx512vnni,avx512vpopcntdq,avxvnni", 48, 1024,
     32768},
}};

/// One line of the table of AArch64 CPUs.
struct known_aarch64 {
  std::string_view name;      // what LLVM 17 knows, but for "aarch64"
  std::string_view features;  // above NEON, which all have
  int sve_bits;               // of its vectors; 0: 128 bits of NEON are as wide
  int l1_kib, l2_kib, l3_kib;
};

inline constexpr std::array<known_aarch64, 7> known_aarch64s{{
    {"aarch64", "", 0, 32, 512, 0},
    {"cortex-a72", "", 0, 32, 1024, 0},
    {"cortex-a76", "dotprod,fullfp16", 0, 64, 256, 2048},
    {"neoverse-n1", "dotprod,fullfp16", 0, 64, 1024, 32768},
    {"neoverse-n2", "bf16,dotprod,fullfp16,i8mm", 0, 64, 1024, 32768},
    {"neoverse-v1", "bf16,dotprod,fullfp16,i8mm,sve", 256, 64, 1024, 32768},
    {"a64fx", "fullfp16,sve", 512, 64, 8192, 0},
}};

/// Appends the features in a comma-separated list.
inline void add_features(std::string_view list, std::vector<std::string_view>& out) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    out.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

inline std::vector<std::string_view> level_features(int level) {
  std::vector<std::string_view> out;
  if (level >= 2) add_features("popcnt,sse3,sse4.1,sse4.2,ssse3", out);
  if (level >= 3) add_features("avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe", out);
  if (level >= 4) add_features("avx512bw,avx512cd,avx512dq,avx512f,avx512vl", out);
  return out;
}

/// LLVM's list of a set of features.
inline std::string feature_list(std::vector<std::string_view> features) {
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  std::string out;
  for (std::string_view f : features) {
    if (!out.empty()) out += ',';
    out += '+';
    out += f;
  }
  return out;
}

/// Fills in what follows from a set of features of an x86-64 processor.
inline void set_features(cpu& c, std::vector<std::string_view> features) {
  c.features = feature_list(std::move(features));
  // 512-bit code uses byte, quadword and mask forms freely, so all four parts are needed.
  const bool wide = c.has("avx512f") && c.has("avx512bw") && c.has("avx512dq") && c.has("avx512vl");
  c.vector_bits = wide ? 512 : c.has("avx") ? 256 : 128;
  c.vector_registers = wide ? 32 : 16;
  c.fma = c.has("fma");
}

/// The same of an AArch64 one. Vectors of SVE are used at the one length that the processor has,
/// where that is more than NEON's.
inline void set_aarch64_features(cpu& c, std::vector<std::string_view> features, int sve_bits) {
  c.features = feature_list(std::move(features));
  c.vector_bits = c.has("sve") && sve_bits > 128 ? sve_bits : 128;
  c.vector_registers = 32;
  c.fma = true;
}

template <class Known>
void set_caches(cpu& c, const Known& k) {
  c.l1_bytes = std::int64_t{k.l1_kib} << 10;
  c.l2_bytes = std::int64_t{k.l2_kib} << 10;
  c.l3_bytes = std::int64_t{k.l3_kib} << 10;
}

inline cpu from_table(const known_aarch64& k) {
  cpu c;
  c.name = k.name;
  c.tune = k.name == "aarch64" ? "generic" : k.name;
  std::vector<std::string_view> features{"neon"};
  add_features(k.features, features);
  set_aarch64_features(c, std::move(features), k.sve_bits);
  set_caches(c, k);
  return c;
}

inline cpu from_table(const known_cpu& k) {
  cpu c;
  c.name = k.name;
  c.tune = k.tune;
  std::vector<std::string_view> features = level_features(k.level);
  add_features(k.extras, features);
  set_features(c, std::move(features));
  set_caches(c, k);
  return c;
}

/// LLVM's name for the pipeline of this machine, as far as its features tell.
inline std::string tune_name(const cpuid_data& id, const cpu& c) {
  if (id.vendor == "AuthenticAMD") {
    if (id.family == 0x17) return id.model >= 0x30 ? "znver2" : "znver1";
    if (id.family == 0x19) return c.has("avx512f") ? "znver4" : "znver3";
    if (id.family >= 0x1a) return "znver4";
  }
  if (c.has("avx512fp16")) return "sapphirerapids";
  if (c.has("avx512vbmi2")) return "icelake-server";
  if (c.has("avx512f")) return c.has("avx512vnni") ? "cascadelake" : "skylake-avx512";
  if (c.has("avxvnni")) return "alderlake";
  if (c.has("avx2")) return "haswell";
  return c.has("avx") ? "sandybridge" : "x86-64";
}

inline void detect_x86(cpu& c) {
  const cpuid_data id = read_cpuid();
  c.model = id.brand;
  set_features(c, id.features);
  c.tune = tune_name(id, c);
}

inline void detect_aarch64(cpu& c) {
  const known_design design = read_design();
  c.model = design.model;
  c.tune = design.tune;
  set_aarch64_features(c, read_hwcap(), read_sve_bits());
}

inline cpu detect() {
  cpu c;
  c.name = "host";
  if (host_architecture() == architecture::aarch64)
    detect_aarch64(c);
  else
    detect_x86(c);
  const cache_sizes caches = read_caches();
  if (caches.l1 > 0) c.l1_bytes = caches.l1;
  if (caches.l2 > 0) c.l2_bytes = caches.l2;
  c.l3_bytes = caches.l3;
  c.cores = usable_cores();
  return c;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string cpu::isa_key() const {
  return std::string(target::name(architecture_of(*this))) + ":" + features + ":" +
         std::to_string(vector_bits);
}

TILEWRIGHT_INLINE int cpu::lanes(dtype type) const {
  return std::max(1, vector_bits / (8 * bytes(type)));
}

TILEWRIGHT_INLINE bool cpu::has(std::string_view feature) const {
  std::vector<std::string_view> all;
  detail::add_features(features, all);
  return support::any(
      all, [&](std::string_view f) { return !f.empty() && f[0] == '+' && f.substr(1) == feature; });
}

TILEWRIGHT_INLINE const cpu& host() {
  const support::fork_pass inside;
  static const cpu& found = *new const cpu(detail::detect());  // outlives static destruction
  return found;
}

TILEWRIGHT_INLINE cpu named(std::string_view name) {
  if (name == "host") return host();
  for (const detail::known_cpu& k : detail::known_cpus)
    if (k.name == name) return detail::from_table(k);
  for (const detail::known_aarch64& k : detail::known_aarch64s)
    if (k.name == name) return detail::from_table(k);
  std::string message = "target \"" + std::string(name) + "\" is not known; write one of host";
  for (std::string_view known : known_names()) message += ", " + std::string(known);
  throw argument_error(message);
}

TILEWRIGHT_INLINE std::vector<std::string_view> known_names() {
  std::vector<std::string_view> out;
  for (const detail::known_cpu& k : detail::known_cpus) out.push_back(k.name);
  for (const detail::known_aarch64& k : detail::known_aarch64s) out.push_back(k.name);
  return out;
}

TILEWRIGHT_INLINE bool runs_on(const cpu& code, const cpu& here) {
  if (architecture_of(code) != architecture_of(here)) return false;
  if (has_fixed_sve(code) && code.vector_bits != here.vector_bits) return false;
  std::vector<std::string_view> needed;
  detail::add_features(code.features, needed);
  return support::all(needed, [&](std::string_view f) {
    return f.empty() || f[0] != '+' || here.has(f.substr(1));
  });
}

}  // namespace tilewright::target
