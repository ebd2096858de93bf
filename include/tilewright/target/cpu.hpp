// Description of a CPU: what code may use, and the sizes that schedules are fitted to.
//
// Detection uses cpuid and the kernel's tables only; LLVM is not needed to describe a machine. What
// a description says about instructions is exact (code that uses them runs); what it says about
// caches and cores only guides schedules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::target {

/// A CPU that code is generated for. Example: `target::named("haswell").lanes(dtype::f32)` is 8.
struct cpu {
  std::string name;       // "host", or the name given to `named`
  std::string model;      // what the CPU calls itself; empty for named ones. Provenance only
  std::string tune;       // LLVM name of the scheduling model, known to LLVM 17 and later
  std::string features;   // LLVM feature list, "+avx,+avx2,..."; sorted, complete above x86-64
  int vector_bits = 128;  // widest vector that code shall use
  int vector_registers = 16;
  bool fma = false;
  int cores = 1;                      // that this process may run on
  std::int64_t l1_bytes = 32 << 10;   // data cache of one core
  std::int64_t l2_bytes = 256 << 10;  // of one core
  std::int64_t l3_bytes = 0;          // shared; 0 when there is none

  /// Text that is equal exactly when generated code may be exchanged: features and vector width.
  std::string isa_key() const;
  /// Elements of one vector register; at least 1.
  int lanes(dtype type) const;
  /// True when the feature list has "+feature".
  bool has(std::string_view feature) const;
};

/// The machine this process runs on; detected once.
const cpu& host();

/// A CPU by its LLVM name ("x86-64", "x86-64-v3", "haswell", "skylake-avx512", "znver4", ...), with
/// typical caches and one core; "host" is the detected one.
/// @throws argument_error for a name that is not in the table; the text lists the table
cpu named(std::string_view name);

/// The names that `named` knows, in the order of the table.
std::vector<std::string_view> known_names();

/// True when code for `code` runs on `here`: each of its features is there.
bool runs_on(const cpu& code, const cpu& here);

}  // namespace tilewright::target
